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
        for each in (schema, *schema.get("$defs", {}).values()):
            each["required"] = sorted(each.get("properties", {}))
        schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
        made[f"{name}.json"] = (json.dumps(schema, indent=1, sort_keys=True) + "\n").encode()
    return made


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, data in schemas().items():
        (FOLDER / name).write_bytes(data)
