"""The page that people read: one static file, made only from the files of an edition."""

from penmark.report.page import check_current, check_installed, page

__all__ = ["check_current", "check_installed", "page"]
