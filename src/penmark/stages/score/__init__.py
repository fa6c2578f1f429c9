"""Scoring: from protocol, cards, manifest and journals to the state and call of every pair. A pure function.

*Reads* protocol.json, detectors/, manifest.jsonl, seals/promise.json, seals/corpus.json and journal/ of an edition or a
bundle. *Writes* nothing. *Never* uses a clock, chance, a network, a plugin, or anything that is not in those files.
"""

from penmark.stages.score.clustered_units import UnitRate, rate_units
from penmark.stages.score.edition_warnings import Notice, list_warnings
from penmark.stages.score.pair_states import NO_RESULT, STATES, Version
from penmark.stages.score.scored_edition import Scored, change_boundary, score_edition

__all__ = [
    "NO_RESULT",
    "STATES",
    "Notice",
    "Scored",
    "UnitRate",
    "Version",
    "change_boundary",
    "list_warnings",
    "rate_units",
    "score_edition",
]
