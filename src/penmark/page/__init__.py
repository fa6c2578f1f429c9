"""The page that people read: one static file, made only from the files of an edition."""

from penmark.page.build_page import check_current, check_installed, render_page

__all__ = ["check_current", "check_installed", "render_page"]
