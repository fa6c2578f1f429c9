"""The templates that ``penmark init`` starts from: data only, read by ``penmark.protocol``."""
