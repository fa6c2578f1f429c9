"""Generating: AI text that anyone could make again, from the protocol's models, styles and prompts.

``topics`` gives each human document its topic line; ``grid`` draws which of them is written about by which model in
which style; ``opening.opened`` gives a ``Run`` that asks; ``made.Made`` is the source that ``collecting`` takes the texts
from, and ``edits.Edits`` one of edits that have such texts for drafts. Draws follow the sealed seed (docs/format.md, 1),
and happen after the promise.
*Reads* the sealed protocol, the human arms, the seed. *Writes* ``corpus/<arm>/<edition>/``: topics.jsonl, exchanges,
rejected.jsonl, and drafts to be edited. *Never* changes a character of a text, and never asks again since a text was bad.
"""
