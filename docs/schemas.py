"""Write the JSON Schema of every record that travels, into docs/schemas/: `python docs/schemas.py`.

*Reads* penmark.records. *Writes* docs/schemas/*.json, as canonical files have them: every field present.
"""

from __future__ import annotations

import json
from pathlib import Path

from penmark import records

FOLDER = Path(__file__).parent / "schemas"
RECORDS = {
    "amendment": records.Amendment,
    "card": records.Card,
    "check": records.Check,
    "deviation": records.Deviation,
    "document": records.Document,
    "protocol": records.Protocol,
    "reading": records.Reading,
    "seal": records.Seal,
    "sealed-card": records.SealedCard,
}


def schemas() -> dict[str, bytes]:
    """The bytes of each schema, by the name of its file."""
    made = {}
    for name, record in RECORDS.items():
        schema = record.model_json_schema(by_alias=True)
        for title, each in {record.__name__: schema, **schema.get("$defs", {})}.items():
            each["required"] = _present(getattr(records, title))
        schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
        made[f"{name}.json"] = (json.dumps(schema, indent=1, sort_keys=True) + "\n").encode()
    return made


def _present(record: type[records.Record]) -> list[str]:
    """The fields that a canonical file always has; some are left out where they are empty."""
    fields = record.model_fields.items()
    return sorted(field.alias or name for name, field in fields if field.exclude_if is None)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, data in schemas().items():
        (FOLDER / name).write_bytes(data)
