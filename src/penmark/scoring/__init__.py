"""Scoring: from protocol, cards, manifest and journals to the state and call of every pair. A pure function.

*Reads* protocol.json, detectors/, manifest.jsonl, seals/promise.json, seals/corpus.json and journal/ of an edition or a
bundle. *Writes* nothing. *Never* uses a clock, chance, a network, a plugin, or anything that is not in those files.
"""

from penmark.scoring.notices import Notice, warnings
from penmark.scoring.scored import Scored, score, what_if
from penmark.scoring.states import NO_RESULT, STATES, Version
from penmark.scoring.units import UnitRate, units

__all__ = ["NO_RESULT", "STATES", "Notice", "Scored", "UnitRate", "Version", "score", "units", "warnings", "what_if"]
