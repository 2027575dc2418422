"""The report: facts of a fit as plain data, then one self-contained page."""

from kfrc_app.report.html import render_html
from kfrc_app.report.summary import summarize

__all__ = ["render_html", "summarize"]
