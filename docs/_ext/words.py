"""The glossary of the site, from the same words that the report explains (``kfrc_app.facts.glossary``)."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from kfrc_app.facts import glossary


class Words(SphinxDirective):
    """All terms with their meanings."""

    option_spec: ClassVar[dict[str, Any]] = {}

    def run(self) -> list[nodes.Node]:
        """One entry for each term; pages link to them with the role ``term``."""
        source = inspect.getfile(glossary)
        self.env.note_dependency(source)
        lines = [".. glossary::", ""]
        for term in glossary.GLOSSARY:
            lines += [f"   {term.word}", f"      {term.meaning}", ""]
        node = nodes.container()
        self.state.nested_parse(StringList(lines, source), 0, node)
        return node.children


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("words", Words)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
