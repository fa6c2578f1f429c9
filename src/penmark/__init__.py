"""penmark: honest, checkable tests of AI-text detectors."""

__version__ = "0.1.0"
SOFTWARE = f"penmark {__version__}"
"""What seals, journals and records name as the software that wrote them."""
