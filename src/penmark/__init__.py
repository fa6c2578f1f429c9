"""penmark: honest, checkable tests of AI-text detectors."""

__version__ = "0.1.0"
