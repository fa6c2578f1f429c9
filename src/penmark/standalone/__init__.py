"""The stand-alone verifier, kept here to be copied into bundles as a file.

Nothing imports this package, and `verify.py` imports nothing of penmark: the party that is checked should not supply
the checker, so the file must run alone, on a machine that has Python and nothing else.
"""
