"""Commit: what stands between a protocol and its promise, and the seals."""
