"""What `verify` would say of a bundle, looked at before the seal that makes it final.

*Reads* the edition and its study as `publish` does. *Writes* a bundle as it would be, into a folder of its own in private/,
and takes it away again. *Never* makes a seal in the edition, asks an authority, or keeps a list of rules beside those of
`verify`: whatever that finds in the files that a seal would hold is refused before.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from penmark import protocol, study, timestamps
from penmark.errors import Fault, FaultsError, PenmarkError
from penmark.records import Check
from penmark.stages.commit import make_seals
from penmark.stages.commit.make_seals import SealResult
from penmark.stages.publish import describe_finding, fill_frozen, fill_promised
from penmark.stages.verify import verify_bundle
from penmark.stages.verify.check2_seals.seal_tokens import CLOCK
from penmark.study import Edition, Study

Kind = Literal["promise", "corpus"]
_MEND = {
    "promise": "Mend protocol.yaml or the card that it is about: nothing is sealed yet.",
    "corpus": "Mend it with `penmark collect`: nothing is sealed yet. What the promise asks for and cannot be had needs another "
    "study, in another folder.",
}


def refuse(place: Study, edition: Edition, kind: Kind, seal: Callable[[Edition], object]) -> None:
    """Raises FaultsError for everything that `verify` would hold against the edition once it is sealed.

    ``seal``: makes that seal, without authorities, in the edition that it is given.
    """
    faults = []
    with tempfile.TemporaryDirectory(prefix="foreseen-", dir=place.private) as folder:
        ahead = Edition(Path(folder) / edition.tag)
        ahead.root.mkdir()
        try:
            fill_promised(place, edition, protocol.read_sealed(edition), ahead.root)
            if kind == "corpus":
                fill_frozen(place, edition, ahead.root)
            seal(ahead)
        except PenmarkError as error:
            here = [
                each._replace(place=(each.place or "").replace(str(ahead.root), str(edition.root)) or None)
                for each in error.faults
            ]
            raise FaultsError(here) from None
        faults = [
            one
            for one in verify_bundle(ahead.root, timestamps.Trust.load([]))
            if one.state == "failed" and _make_final_answer(one, kind)
        ]
    if faults:
        raise FaultsError([Fault(f"{one.number} {one.name}", describe_finding(one), _MEND[kind]) for one in faults])


def hold_clock(made: SealResult) -> SealResult:
    """The seal that was just made, where this machine's clock is the authorities'.

    Raises PenmarkError, and takes seal and tokens back, where every token says another time: no later seal could mend it. A
    single token that does so while another agrees is taken away and told.
    """
    data = study.read_bytes(made.path)
    said = str(study.read_json(made.path)["sealed_at"])
    times = {
        path: timestamps.check_token(study.read_bytes(path), data, timestamps.Trust())
        for path in make_seals.list_token_files(made.path)
    }
    off = {path: at for path, each in times.items() if (at := each.at) is not None and _is_apart(at, said)}
    for path in off:
        path.unlink()
    told = [f"{path.name} says {at}, and this machine {said}" for path, at in off.items()]
    if off and len(off) == len(times):
        made.path.unlink()
        fact = f"nothing is sealed: {'; '.join(told)}"
        raise PenmarkError(
            fact, place=str(made.path), remedy="Set this machine's clock right, and run the command again."
        )
    return made._replace(warnings=(*made.warnings, *(f"{each}: it is not kept" for each in told)))


def _is_apart(at: str, said: str) -> bool:
    return abs(timestamps.parse_rfc3339(at) - timestamps.parse_rfc3339(said)) > CLOCK


def _make_final_answer(one: Check, kind: Kind) -> bool:
    """Whether a finding is about what this seal holds; the rest of the bundle is not made yet, or final already."""
    if one.number == 2:
        return one.subject.startswith(("earlier/", f"seals/{kind}"))
    if one.number == 3:
        return kind == "promise" and not one.subject.startswith("tables/")
    return one.number == 4 and kind == "corpus"
