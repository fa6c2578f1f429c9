"""The detectors that come with penmark: four controls, and packages that run offline. Reached by entry point only."""
