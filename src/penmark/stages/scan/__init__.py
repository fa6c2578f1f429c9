"""Scan: ask every detector about every document, once, in the sealed order, and write down all that happens.

``opening.opened`` gives a ``Scan`` that holds its lock; ``Scan.run`` runs a lane for each detector; ``pilot.run`` does
the same with practice texts; ``plan.make`` says what there is to do, ``foresight.look`` what it will cost, ``ready.check``
what stands in the way. Inside a lane, ``work`` says what is asked next, ``asking`` asks, ``settling`` says what comes of it,
``troubles`` when to slow down or stop; ``pace`` and ``purse`` are the limits of vendor and user.
*Reads* what was sealed. *Writes* journal/ and evidence/ of the edition, pilot/, and notes in private/. *Never* seals
anything, and never looks at what a document is: detectors get texts only.
"""
