"""Plugins are found by name, and what they are is known before they are loaded."""

import hashlib
import importlib.metadata
import importlib.util
from pathlib import Path

import pytest

from penmark import plugins
from penmark.errors import ServiceError, UsageError


def test_the_shipped_plugins_are_registered():
    assert {"folder", "liang2023", "table", "zippy"} <= set(plugins.list_plugins(plugins.SOURCES))
    controls = {"always-human", "always-ai", "coin", "length"}
    assert controls | {"zippy", "uncanny", "aifingerprint", "is-it-slop"} <= set(
        plugins.list_plugins(plugins.DETECTORS)
    )


def test_every_registered_source_can_be_loaded():
    for name in plugins.list_plugins(plugins.SOURCES):
        assert callable(plugins.load_source(name))


def test_facts_are_those_of_the_source_file():
    facts = plugins.describe_plugin(plugins.SOURCES, "table")
    spec = importlib.util.find_spec("penmark.shipped.sources.table")
    assert spec is not None
    assert spec.origin is not None
    assert facts.sha256 == hashlib.sha256(Path(spec.origin).read_bytes()).hexdigest()
    assert (facts.name, facts.distribution) == ("table", "penmark")
    assert facts.version == importlib.metadata.version("penmark")


@pytest.mark.parametrize("name", ["foldr", "FOLDER"])
def test_an_unknown_name_is_met_with_the_nearest(name):
    with pytest.raises(UsageError, match=r"did you mean folder\?[^\0]*Installed: dataset, folder"):
        plugins.load_source(name)
    with pytest.raises(UsageError, match="there is no source plugin"):
        plugins.describe_plugin(plugins.SOURCES, name)


def test_a_plugin_that_cannot_be_loaded_or_is_there_twice(monkeypatch):
    def entries(group):
        return [importlib.metadata.EntryPoint(*e, group) for e in registered]

    monkeypatch.setattr(importlib.metadata, "entry_points", entries)
    registered = [("broken", "penmark.no_such_module:X")]
    with pytest.raises(ServiceError, match=r"the plugin broken \(penmark\.no_such_module:X\) cannot be loaded"):
        plugins.load_source("broken")
    with pytest.raises(ServiceError, match="cannot be found"):
        plugins.describe_plugin(plugins.SOURCES, "broken")
    registered = [("twice", "a:X"), ("twice", "b:X")]
    with pytest.raises(UsageError, match="registered twice: a:X, b:X"):
        plugins.load_source("twice")
