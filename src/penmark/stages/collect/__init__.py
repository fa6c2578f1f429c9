"""Collect: fill an arm with texts and their provenance.

*Reads* what a source yields, and the documents that are there. *Writes* ``corpus/<arm>/`` (texts, documents.jsonl,
claims.jsonl, left_out.json, pool-<edition>.jsonl), and for attested texts ``private/texts`` and ``private/salts.jsonl``.
*Never* changes a byte of a text; never writes anything of a source in which something is wrong: all faults are told,
the rest stays as it was. Before the promise, and after the freeze, nothing is collected.
The texts of one arm are held in memory while it is filled.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from penmark import study
from penmark.corpus import sealed_edition
from penmark.errors import Fault, FaultsError, UsageError, suggest_name
from penmark.plugins import Source
from penmark.records import Arm, Protocol
from penmark.stages.collect.arm_store import ArmStore, Collected
from penmark.study import Edition, Study

__all__ = ["Collected", "Progress", "check_corpus_open", "collect_arm", "lock_corpus"]

Progress = Callable[[int], None]
"""Told how many drafts were read."""


def collect_arm(
    place: Study,
    protocol: Protocol,
    arm: str,
    source: Source,
    progress: Progress,
    *,
    anew: bool = False,
    draw: bool = False,
    by: str | None = None,
) -> Collected:
    """Take what the source yields into the arm. The same documents again change nothing.

    ``anew``: the arm holds what this source yields and nothing else. ``draw``: what the source yields is a pool, from
    which the arm is drawn by the sealed seed and the quotas; it holds that and what persists. ``by``: what the source is called.
    Raises FaultsError with everything that is wrong (then nothing is written), UsageError before the promise, after the
    freeze, or for an arm that is not promised.
    """
    promised = _make_arm(protocol, arm)
    check_corpus_open(place.edition(protocol.edition))
    with lock_corpus(place, f"`penmark collect {arm}`"):
        shelf = ArmStore(place, promised, anew=anew, edition=protocol.edition, by=by)
        faults: list[Fault] = []
        number = 0
        try:
            for number, draft in enumerate(source.gather(arm), 1):
                shelf.take(draft, faults)
                if number % 1000 == 0:
                    progress(number)
        except FaultsError as error:
            faults.extend(error.faults)
        if number == 0 and not faults and not getattr(source, "left_out", {}):
            faults.append(Fault(None, f"the source yields no text for the arm {arm}", "Look at its options."))
        if faults:
            raise FaultsError(faults)
        if draw:
            shelf.draw(sealed_edition.read_seed(place, protocol))
        return shelf.store(getattr(source, "left_out", {}))


def lock_corpus(place: Study, doing: str) -> AbstractContextManager[None]:
    """Hold the study's corpus, so that it is neither filled nor frozen by two at once."""
    return study.lock_file(place.private / "lock", doing)


def check_corpus_open(edition: Edition) -> None:
    """Raises UsageError unless the promise is sealed and the corpus is not."""
    if not edition.seal("promise").exists():
        raise UsageError(
            f"{edition.tag} is not promised yet: arms are drawn after the promise",
            place=str(edition.seal("promise")),
            remedy="Run `penmark commit` first.",
        )
    if edition.seal("corpus").exists():
        raise UsageError(
            f"the corpus of {edition.tag} is frozen",
            place=str(edition.seal("corpus")),
            remedy="A change binds the next edition: announce it with `penmark amend`.",
        )


def _make_arm(protocol: Protocol, name: str) -> Arm:
    known = [one.name for one in protocol.arms]
    if name not in known:
        raise UsageError(
            f"{protocol.edition} has no arm {name}{suggest_name(name, known)}",
            remedy=f"Its arms: {', '.join(known)}.",
        )
    return protocol.arm(name)
