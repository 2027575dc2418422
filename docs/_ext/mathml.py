"""Formulas as MathML, which every current browser draws by itself.

The usual renderers load a script from the network or need LaTeX or Node. docutils translates the TeX that our
docstrings use, and comes with Sphinx: no package, no script and no request is needed, and the formulas of a page can be
copied.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)


def visit_inline(translator: Any, node: nodes.math) -> None:
    """A formula in a line of text."""
    translator.body.append(translate(node, as_block=False))
    raise nodes.SkipNode


def visit_block(translator: Any, node: nodes.math_block) -> None:
    """A formula on a line of its own."""
    translator.body.append(f'<div class="formula">{translate(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def translate(node: nodes.Element, as_block: bool) -> str:
    """MathML of the TeX of a node; what docutils cannot read is a warning, hence an error of the build."""
    text = node.astext()
    try:
        return tex2mathml(text, as_block=as_block)
    except MathError as error:
        LOGGER.warning("cannot write this formula as MathML: %s (%s)", text, error, location=node)
        return nodes.unescape(text)


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
