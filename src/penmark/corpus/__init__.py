"""The corpus of an edition: provenance and its grades, draws, exposures, the manifest, the sealed edition."""
