"""settings.csv: what was set with each detector beside the text; a default is a setting that is not sent.

Absent where nothing was set anywhere.
"""

from __future__ import annotations

from penmark import study
from penmark.records import Protocol

HEADER = ("detector", "setting", "value")


def make_settings_table(protocol: Protocol) -> bytes | None:
    """The CSV, by detector, then setting; None where no detector has any."""
    named = sorted(protocol.detectors, key=lambda each: each.name)
    rows = [(each.name, setting, value) for each in named for setting, value in sorted(each.settings.items())]
    return study.encode_csv(HEADER, rows) if rows else None
