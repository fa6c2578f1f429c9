# The two commands of the README, and a few for people who work on penmark.
PYTHON ?= python3
DEMO   ?= penmark-demo
INSTALL = PIP_USE_PEP517=1 .venv/bin/pip install -q --disable-pip-version-check

.PHONY: demo test system soak lock bench clean
.NOTPARALLEL:

demo: .venv/demo
	.venv/bin/penmark demo --out $(DEMO)
	@echo "(penmark is .venv/bin/penmark here)"

test: system .venv/dev
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports
	.venv/bin/pytest -n 2 --dist worksteal $(TESTS)

# What the tests run: a browser, git, and the library that playwright's driver is linked to.
system:
	scripts/need chromium
	scripts/need openssl $(PYTHON)-venv git libatomic1

soak: system .venv/dev
	PENMARK_SOAK=1 .venv/bin/pytest -n 2 --dist worksteal $(TESTS)

bench: .venv/dev
	for each in benchmarks/bench_*.py; do .venv/bin/python $$each || exit 1; done

RUN_EXTRAS = --extra report --extra detectors
ALL_EXTRAS = $(RUN_EXTRAS) --extra corpus
COMPILE = .venv/bin/pip-compile -q --strip-extras --allow-unsafe --generate-hashes --no-emit-index-url \
    --no-emit-find-links --no-emit-options --no-header --no-annotate

lock: .venv/dev
	.venv/bin/pip install -q pip-tools
	$(COMPILE) $(RUN_EXTRAS) -o requirements/demo.txt pyproject.toml
	$(COMPILE) $(ALL_EXTRAS) --extra dev -o requirements/dev.txt pyproject.toml

.venv/bin/pip:
	scripts/venv $(PYTHON) .venv

.venv/demo: pyproject.toml requirements/demo.txt .venv/bin/pip
	$(INSTALL) --require-hashes -r requirements/demo.txt
	$(INSTALL) --no-deps -e .
	touch $@

.venv/dev: pyproject.toml requirements/dev.txt .venv/bin/pip
	$(INSTALL) --require-hashes -r requirements/dev.txt
	$(INSTALL) --no-deps -e .
	touch $@ .venv/demo

clean:
	rm -rf .venv build dist src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
