"""How the documentation site is built. ``make docs`` runs it: warnings are errors, and nothing is fetched."""

from __future__ import annotations

import sys
import warnings
from importlib.metadata import version as installed_version
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))

project = "kfrc"
author = "The kfrc developers"
copyright = author  # a name of Sphinx
version = release = installed_version("kfrc")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "api_pages",
    "mathml",
    "repository_links",
    "scripts_ran",
    "stale_pages",
    "words",
]
root_doc = "index"
exclude_patterns = ["_build", "_ext", "**/sg_execution_times.rst", "sg_execution_times.rst", "tutorials/run/index.rst"]
nitpicky = True
# What other packages document is not looked up: that would need the network.
nitpick_ignore_regex = [("py:.*", r"(numpy|np|scipy|sklearn|joblib|matplotlib|pandas|polars|pyarrow)\..*")]

# ---- documents ------------------------------------------------------------------------------------------------------
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4  # links such as page.md#a-heading work here as on a code host
suppress_warnings = ["myst.header"]  # a changelog repeats its headings
highlight_language = "none"
smartquotes = False  # a quoted value stays what can be typed
pygments_style = "tango"

# ---- reference ------------------------------------------------------------------------------------------------------
autosummary_generate = False  # api_pages writes one page for each module, from what the module lists
autodoc_typehints = "none"  # docstrings name the types, with shapes
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
add_module_names = False
toc_object_entries_show_parents = "hide"

# ---- gallery --------------------------------------------------------------------------------------------------------
warnings.filterwarnings("ignore", message=".*Agg.*non-interactive", category=UserWarning)
sphinx_gallery_conf = {
    "examples_dirs": ["../examples/gallery", "../examples/tutorials"],
    "gallery_dirs": ["gallery", "tutorials/run"],
    "subsection_order": ["../examples/gallery/tasks", "../examples/gallery/pictures", "../examples/gallery/methods"],
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"/_|__init__",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 3600,
    "plot_gallery": True,
    "abort_on_example_error": True,
    "only_warn_on_example_error": False,
    "doc_module": ("kfrc", "kfrc_app"),
    "reference_url": {"kfrc": None, "kfrc_app": None},
    "backreferences_dir": "gallery/used",
    "remove_config_comments": True,
    "image_scrapers": ("matplotlib",),
    "capture_repr": ("_repr_html_", "__repr__"),
    "parallel": False,
}

# ---- pages ----------------------------------------------------------------------------------------------------------
html_theme = "pydata_sphinx_theme"
html_title = "kfrc"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/logo.svg"
html_show_sphinx = False
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # excerpts are fetched, which a browser refuses to pages opened as files
html_sidebars = {"index": []}
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"image_light": "_static/logo.svg", "image_dark": "_static/logo.svg", "text": "kfrc", "alt_text": "kfrc"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "show_toc_level": 2,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "a11y-dark",
}
copybutton_exclude = ".linenos, .gp, .go"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
