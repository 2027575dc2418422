"""The facts of a fit, each computed in one place, and the words that go with them."""

from kfrc_app.facts.collection import Facts
from kfrc_app.facts.document import summary_document
from kfrc_app.facts.summary import summarize

__all__ = ["Facts", "summarize", "summary_document"]
