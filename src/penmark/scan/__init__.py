"""Scan: ask every detector about every document, once, in the sealed order, and write down all that happens.

``opening.opened`` gives a ``Scan`` that holds its lock; ``Scan.run`` runs a lane for each detector; ``pilot.run`` does
the same with practice texts; ``plan.make`` says what there is to do, ``ready.check`` what stands in the way.
*Reads* what was sealed. *Writes* journal/ and evidence/ of the edition, and pilot/. *Never* seals anything, and never
looks at what a document is: detectors get texts only.
"""
