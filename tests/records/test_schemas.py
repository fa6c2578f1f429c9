"""The published JSON Schemas are those of the records."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from penmark import protocol

SCRIPT = Path(__file__).parents[2] / "docs" / "schemas.py"


def test_the_schemas_in_docs_are_current() -> None:
    spec = importlib.util.spec_from_file_location("schemas", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    made, there = script.schemas(), {path.name: path.read_bytes() for path in script.FOLDER.glob("*.json")}
    assert sorted(made) == sorted(there)
    for name, data in made.items():
        assert json.loads(there[name]) == json.loads(data), f"{name} is out of date: run python docs/schemas.py"


@pytest.mark.parametrize("name", protocol.TEMPLATES)
def test_the_schema_of_the_protocol_names_every_field_of_a_sealed_one(name: str) -> None:
    schema = json.loads((SCRIPT.parent / "schemas" / "protocol.json").read_text())
    sealed = json.loads(protocol.encode_protocol(protocol.load_template(name).protocol))
    assert set(schema["required"]) <= set(sealed) <= set(schema["properties"])
    assert {"seed_sha256", "arms", "beacon"} <= set(schema["required"])
