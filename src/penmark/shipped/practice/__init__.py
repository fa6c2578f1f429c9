"""Practice texts for ``penmark scan --pilot``: they belong to no arm and have no truth."""
