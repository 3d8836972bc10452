"""Settings of Sphinx, which makes the site of the pages that build.py has put together."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

project = "Madrigal"
author = "the Madrigal authors"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "index"
source_suffix = {".md": "markdown"}

# Attributes that docstrings list are properties, too, which have entries of their own.
napoleon_use_ivar = True
myst_heading_anchors = 4
# Pages of the repository begin where their authors want.
suppress_warnings = ["myst.header"]

# The reference is made of docstrings and types; the native module is not built for it.
autodoc_mock_imports = ["madrigal._native"]
# What a base class has belongs to what one calls; what Python's own have is known.
autodoc_default_options = {"inherited-members": "BaseException, object"}
autodoc_member_order = "alphabetical"
autodoc_typehints = "signature"
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = "Madrigal"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_last_updated_fmt = None


def setup(app):  # type: ignore[no-untyped-def]
    """Shows classes without what makes them: functions of the package do, users do not."""

    def made(app, what, name, obj, options, signature, returned):  # type: ignore[no-untyped-def]
        return ("", None) if signature and what in ("class", "exception") else None

    app.connect("autodoc-process-signature", made)
