"""The report: the facts of a fit as one self-contained page."""

from kfrc_app.facts import summarize
from kfrc_app.report.html import render_html
from kfrc_app.report.sentences import headline

__all__ = ["headline", "render_html", "summarize"]
