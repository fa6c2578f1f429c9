"""What ships with penmark and is reached by entry point, or as data: detectors, sources, generators, templates."""
