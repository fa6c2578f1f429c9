"""Cards that ship: which sealed card is one of them, and how the one of that name is now.

*Reads* the cards that come with penmark. *Writes* nothing.
*Never* forgets a card that was released: a study keeps the card that it promised, while the facts of vendors change. A
release whose card says another fact that bears on calls adds its digest here.
"""

from __future__ import annotations

from collections.abc import Mapping

from penmark.format import canonical_json
from penmark.records import Card, select_bearing_facts

RELEASED: Mapping[str, tuple[str, ...]] = {
    "aifingerprint": ("8e584cf41c6e3e4aa8333b1132b23c8eb6643256ece53224cbdd00495600abdc",),
    "always-ai": ("0578bbf9dcc6d8963106c4c917d995b46162826bd42e824b9072b3f821d0701d",),
    "always-human": ("a0d7808a7a4a9f233dfe906874cb0f202e82280efe67c2ae4b274b732f387169",),
    "coin": ("78a8819f0bc1b10e41234735d6e7f816ab4bd9dbf6915f60c6b82e6af09c4821",),
    "copyleaks": ("f351696a59b326a12e07523a5d937b3e4a0b3bd1f93e2919645534d0a48d3fca",),
    "gptzero": ("a8b0d3d270e919460c496693fd8c99025a4fa3331c882fd6147a8cc812ea3db0",),
    "grammarly": ("716ec7c45b73d1b197b1d1732fa46edd716ae56cbaa90e46bd2756ece1962cc4",),
    "hive": ("0c721351ccaaa2474c30e17ddf16a4cb448d79cfc67df3d7d89816634b269a58",),
    "huggingface": ("d9c674088052defba3c06dc6066d601ae2403f342cd7706dd888db7f0c4b221b",),
    "is-it-slop": ("24c854c1c77ad1e2592e5e589d2d60a78e658a24f13837818f51fb31de0e3f1f",),
    "length": ("0d017329baeed11dc181307e994fef8075e24f4d92d0eb467c86f3f88fceb81f",),
    "originality-lite": ("047e6e2f91e27b73c5d0559393a9a872af4985ad3314cb4de61ac107bdf5207a",),
    "originality-turbo": ("0889611c2acbfc71254fd24cbb392ebc09476f3a64944969a565eb942ef6db28",),
    "pangram": ("157e1a23f8c3f2a3677acfa5db89d031f66dca93c1e4950de2a165c8a834136a",),
    "quillbot": ("46afb3ade4fd291c51e1aa3e80a723650277f435637f89aaf04140883a91586a",),
    "sapling": ("1bbadeb55219a19a3a712ef89fc58dd72887792bffa2e9f098b92c68410442df",),
    "scribbr": ("533d3bc37d39ea933ac7548bec33273681d425aa1fcd39c3e6226f9e1916a0e0",),
    "turnitin": ("47e513f00f0af591536bb6029805998f234a792bd3b6902f35f411f70e098994",),
    "uncanny": ("c0b210402fa674dec1feccd949acf13e7db5162e373f43d63e2554c9171cbfea",),
    "undetectable": ("3983a1a6be739c6fbc2d547f793c659a4634a1b42d34b4d943927c327ec1460e",),
    "web-percent": ("9bc4002b5a0b276367d96c56a118dc6461af89b74c7f90930e4f01b92e83a933",),
    "winston": ("e957e382b4206013c21f28ce1fe287d75498bcb1ac913602576927b709743ef8",),
    "zerogpt": ("d7f23d425780c387edc0b27371f7173145cb34574234c082deac2acfb550ee28",),
    "zippy": ("9977325e32539216ddfa985ec768838e91becb7ff2809afdd304380b57c7f928",),
}
"""By the name of the card: SHA-256 of its facts (``digest_facts``), those of the newest release last."""


def digest_facts(card: Card) -> str:
    """SHA-256 of the canonical JSON of those facts of a card that bear on calls."""
    return canonical_json.sha256(canonical_json.encode_json(select_bearing_facts(card)))


def is_changed_card(card: Card) -> bool:
    """Whether a card has the name of one that ships, and no release shipped it so."""
    return card.name in RELEASED and digest_facts(card) not in RELEASED[card.name]
