"""The conformance kit: tells the author of a plugin what it does wrong, before a study depends on it.

    from penmark.testing import check_detector

    def test_wordy():
        check_detector("wordy", card="cards/wordy.yaml")

Each check runs the installed plugin in processes of its own and raises Nonconforming with all that it found. *Reads* the
plugin, its card, the practice texts. *Writes* nothing. *Never* asks anybody over the network: a plugin that runs here is
watched for that, and one that asks a vendor is not run by this kit (vendors are cards: ``penmark scan --check``).
"""

from penmark.testing.detector_checks import check_detector
from penmark.testing.fresh_interpreter import Nonconforming
from penmark.testing.generator_checks import check_generator
from penmark.testing.source_checks import check_source

__all__ = ["Nonconforming", "check_detector", "check_generator", "check_source"]
