"""Topic lines for the human documents: from a person's file, from their records, and the rest drafted by a model.

*Reads* what a run stands on, and texts that may be shown to a model. *Writes* ``topic_lines.jsonl``, and for drafts the
exchanges ``topics-<nnnn>.jsonl``. *Never* shows a model an attested or a withheld text; never asks twice for a line that
came; never trims more of a draft than white space at its ends.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple, get_args

from penmark import SOFTWARE, plugins, study
from penmark.cards import judge
from penmark.errors import ServiceError, UsageError
from penmark.plugins import Generator, UnansweredError, Written
from penmark.records import Drafting, Protocol, TokenPrice
from penmark.stages.generate import exchange_log, generation_rules, open_run, topic_lenders, topic_lines
from penmark.stages.generate.acceptance_rules import RejectionReason
from penmark.stages.generate.arm_progress import ArmProgress
from penmark.stages.generate.budget import TokenBudget
from penmark.stages.generate.exchange_log import Exchanges, Line
from penmark.stages.generate.generation_rules import Files, Rules
from penmark.stages.generate.open_run import STEM
from penmark.stages.generate.text_request import Short, WantedText, ask_for_text
from penmark.stages.generate.topic_lenders import Lender
from penmark.stages.generate.topic_lines import By, Topic
from penmark.study import Study

TOPICS = "topics"
"""The stem of the exchanges about topics."""
WORDS = 30
"""About so many words is a topic line, for what it may cost."""


class Settled(NamedTuple):
    """What there is now. ``by``: how many lines are whose; ``missing``: documents without one; ``trouble``: why a model's
    draft is none, by document; ``ended``: why no more drafts were asked for."""

    documents: int
    by: dict[str, int]
    missing: list[str]
    trouble: dict[str, str]
    ended: str | None


def settle_topics(
    place: Study,
    promised: Protocol,
    name: str,
    path: Path | None = None,
    *,
    prices: Mapping[str, TokenPrice] | None = None,
    budget: Decimal | None = None,
    tell: Callable[[int], None] = lambda done: None,
    pause: Callable[[int], float] = lambda failures: float(2**failures),
) -> Settled:
    """Give every human document that lends its topic to the arm ``name`` a topic line.

    A person's line (``path``: a table) stands before any other, then the record's own, then the promised model's draft.
    Raises UsageError where texts were begun with the lines that are there, FaultsError for a table with faults.
    """
    arm, generation = generation_rules.find_generated_arm(promised, name)
    promise = open_run.digest_promise_seal(place, promised)
    lenders = topic_lenders.list_lenders(place, promised, arm, generation)
    files = generation_rules.locate_generation_files(place, promised.edition, name)
    with study.lock_file(files.lock, f"`penmark collect {name} --topics`"):
        if exchange_log.list_exchange_files(files.root, STEM):
            raise UsageError(
                f"texts of the arm {name} were begun with the topic lines that are there",
                place=str(files.topics),
                remedy="Topic lines are written before the first text. A change of them binds the next edition.",
            )
        own = topic_lines.list_recorded_topics(lenders)
        there = topic_lines.read_topics(files)
        found = {**own, **{lender.id: there[lender.id] for lender in lenders if lender.id in there}}
        found |= topic_lines.read_topic_table(path, lenders) if path is not None else {}
        trouble: dict[str, str] = {}
        ended = None
        if generation.topics is not None and topic_lines.list_missing_topics(found, lenders):
            drafter = _Drafter(place, promised, files, promise, generation.topics)
            ended = drafter.run([lender for lender in lenders if lender.id not in found], prices, budget, tell, pause)
            found |= drafter.found
            trouble = drafter.trouble
        topic_lines.write_topics(files, found)
    counts = Counter(topic.by for topic in found.values())
    by = {whose: counts[whose] for whose in get_args(By) if counts[whose]}
    return Settled(len(lenders), by, topic_lines.list_missing_topics(found, lenders), trouble, ended)


class _Drafter:
    """Asks the promised model for topic lines."""

    def __init__(self, place: Study, promised: Protocol, files: Files, promise: str, drafting: Drafting) -> None:
        self.found: dict[str, Topic] = {}
        self.trouble: dict[str, str] = {}
        self._place, self._promised, self._files, self._promise = place, promised, files, promise
        self._drafting = drafting
        again = promised.ask_again_in_doubt
        self._rules = Rules(gates=(), turns=1, sends=promised.attempts, ask_again=again)

    def run(
        self,
        lenders: list[Lender],
        prices: Mapping[str, TokenPrice] | None,
        budget: Decimal | None,
        tell: Callable[[int], None],
        pause: Callable[[int], float],
    ) -> str | None:
        """Draft what may be drafted; why it ended early, or None."""
        model = self._drafting.model
        standing = ArmProgress()
        with contextlib.ExitStack() as held:
            generator = open_run.make_generator(model, "not sent")
            held.callback(getattr(generator, "close", lambda: None))
            known = {} if generator.local else open_run.price_models([model], prices or {})
            open_run.check_affordable("--topics", [] if generator.local else [model], known, budget)
            purse = TokenBudget(known, budget)

            def see(line: Line) -> None:
                standing.take(line)
                purse.take(line)
                self._take(line)

            ledger = held.enter_context(Exchanges(self._files.root, TOPICS, self._promise, see))
            wanted = [each for each in lenders if each.address is not None and standing.next(each.id, self._rules)]
            if wanted:
                ledger.append(self._start())
            try:
                for number, lender in enumerate(wanted, 1):
                    self._draft(lender, generator, ledger, purse, standing, pause)
                    tell(number)
            except Short:
                return "the budget does not suffice for the next line"
            except ServiceError as error:
                return str(error)
        return None

    def _draft(
        self,
        lender: Lender,
        generator: Generator,
        ledger: Exchanges,
        purse: TokenBudget,
        standing: ArmProgress,
        pause: Callable[[int], float],
    ) -> None:
        text = topic_lenders.read_lender_text(self._place, self._promised, lender)
        prompt = self._drafting.prompt.replace("{text}", text)
        failures = 0
        while (step := standing.next(lender.id, self._rules)) is not None:
            about = {"language": lender.language, "matched": lender.id}
            wanted = WantedText(lender.id, step, self._drafting.model, prompt, WORDS, about, _judge_draft)
            try:
                ask_for_text(wanted, generator, ledger, purse)
            except UnansweredError as error:
                failures += 1
                if error.stop or not error.again or failures >= self._rules.sends:
                    raise
                time.sleep(max(pause(failures), min(error.retry_after or 0.0, 60.0)))

    def _take(self, line: Line) -> None:
        if line["kind"] != "answer":
            return
        if line["gates"]:
            self.trouble[line["document"]] = "; ".join(because for _, because in line["gates"])
        else:
            self.found[line["document"]] = Topic(line["text"].strip(), "model", line["response"]["sha256"])

    def _start(self) -> Line:
        model = self._drafting.model
        facts = plugins.describe_plugin(plugins.GENERATORS, generation_rules.name_generator(model)).model_dump()
        return {
            "at": judge.get_time_now(),
            "generators": [{"model": model.model, "plugin": facts, "provider": model.provider}],
            "kind": "start",
            "software": SOFTWARE,
        }


def _judge_draft(written: Written) -> list[RejectionReason]:
    """Whether a draft is a topic line."""
    if written.refused:
        return [RejectionReason("refused", written.remark or f"finish reason {written.finish_reason}")]
    if written.cut:
        return [RejectionReason("cut off", f"finish reason {written.finish_reason}")]
    why = topic_lines.explain_bad_topic((written.text or "").strip())
    return [] if why is None else [RejectionReason("empty", f"the draft {why}")]
