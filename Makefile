# The two commands of the README, and a few for people who work on penmark.
PYTHON ?= python3
DEMO   ?= penmark-demo

.PHONY: demo test check soak lock bench clean

demo: .venv/demo
	.venv/bin/penmark demo --out $(DEMO)

test: .venv/dev
	scripts/need chromium chromium
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports
	.venv/bin/pytest -n 2 --dist worksteal $(TESTS)

soak: .venv/dev
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
	scripts/need openssl openssl
	scripts/venv $(PYTHON) .venv

.venv/demo: pyproject.toml requirements/demo.txt .venv/bin/pip
	.venv/bin/pip install -q --disable-pip-version-check --require-hashes -r requirements/demo.txt
	.venv/bin/pip install -q --disable-pip-version-check --no-deps -e .
	touch $@

.venv/dev: pyproject.toml requirements/dev.txt .venv/bin/pip
	.venv/bin/pip install -q --disable-pip-version-check --require-hashes -r requirements/dev.txt
	.venv/bin/pip install -q --disable-pip-version-check --no-deps -e .
	touch $@ .venv/demo

clean:
	rm -rf .venv build dist src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
