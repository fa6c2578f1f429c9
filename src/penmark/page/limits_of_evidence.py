"""Doubts: what no bundle can show, and how to catch whoever made it. The page and the README of a bundle say the same.

*Reads* and *writes* nothing. *Never* holds markup or a digit: each sentence stands as it is on a page and in Markdown.
docs/threats.md has all of it, with what each check shows.
"""

from __future__ import annotations

CANNOT = (
    "That the vendors gave these answers: no vendor signs them.",
    "That nobody scanned the texts before, twice, or from another account.",
    "That the captures of archives are genuine.",
    "That the volunteers who attested used no AI.",
    "That the named models wrote the AI texts.",
    "That withheld texts are what they are said to be.",
    "That the pool from which the texts were taken was fair.",
    "That the operator’s clock was right where no authority gave a timestamp.",
)
CATCH = (
    "Take the verifier from the release, not from us.",
    "Pick thirty of the texts by a rule of your own, scan them again with the same detector, and compare.",
    "Look for the protocol in a third party’s archive, dated before the seal of the texts.",
    "Ask a vendor whether the account and the dates exist.",
    "Search the texts on the web; ask an author whose text is used.",
)
