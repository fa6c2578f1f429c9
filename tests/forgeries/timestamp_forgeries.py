"""A bundle whose seals have timestamps of an authority that the reader trusts, and what a forger can do about them."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from tests.forgeries.forger import Forger
from tests.local_authority import Holder, holder, stamper, token

from penmark import timestamps

VALID = (2020, 2040)
JUST_PAPER = ("departures", "promise", "corpus", "journals", "tables", "heads", "evidence")
"""What adding a token leaves as it is."""


class Stamper:
    """An authority: it stamps what it is shown, with the time that its clock says."""

    def __init__(self) -> None:
        self._root = holder("a root that the reader trusts", valid=VALID)
        self._signer: Holder = stamper(self._root, valid=VALID)
        self.trust = timestamps.Trust(roots=(self._root.certificate,))

    def stamp(self, forger: Forger, path: str, at: str) -> None:
        """Put a token over a file beside it."""
        target = Path(path).with_suffix("")
        moment = datetime.fromisoformat(at).replace(microsecond=0) + timedelta(seconds=1)
        data = token(forger.read(path), self._signer, self._root, at=moment)
        forger.write(f"{target}-clock.tsr", data)

    def honest(self, forger: Forger) -> None:
        """Stamp every seal and amendment when it says that it was made."""
        for name in forger.edition.seal_names():
            self.stamp(forger, f"seals/{name}.json", forger.value(f"seals/{name}.json")["sealed_at"])
        for path in sorted(forger.edition.amendments.glob("*.json")):
            self.stamp(forger, f"amendments/{path.name}", forger.value(f"amendments/{path.name}")["announced_at"])
        forger.finish(*JUST_PAPER)

    def today(self, forger: Forger, at: str = "2025-03-01T08:00:00Z") -> None:
        """Stamp every seal anew: an authority says the time at which it is asked, and no other."""
        for name in forger.edition.seal_names():
            self.stamp(forger, f"seals/{name}.json", at)
        forger.finish(*JUST_PAPER)
