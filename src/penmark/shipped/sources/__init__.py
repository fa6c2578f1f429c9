"""Sources that ship with penmark, reached by entry point only."""
