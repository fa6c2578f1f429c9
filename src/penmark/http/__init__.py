"""One HTTP client, and the redaction of secrets in all that is stored or shown."""
