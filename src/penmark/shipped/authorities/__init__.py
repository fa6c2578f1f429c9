"""Root certificates of timestamp authorities that come with penmark: ``roots.pem``, data only (docs/authorities.md)."""
