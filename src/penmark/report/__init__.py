"""The page that people read: one static file, made only from the files of an edition."""

from penmark.report.page import page

__all__ = ["page"]
