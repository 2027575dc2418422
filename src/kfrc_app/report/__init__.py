"""The report: the facts of a fit as one self-contained page."""

from kfrc_app.facts import summarize
from kfrc_app.report.html import render_html
from kfrc_app.report.of_model import Report, report_on

__all__ = ["Report", "render_html", "report_on", "summarize"]
