"""The notebooks of examples/notebooks, run as Jupyter runs them: in a kernel of its own, where an event loop is running already."""

from __future__ import annotations

import pathlib
import tempfile
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from traitlets.config import Config

from pages import PACKAGE, ROOT

NOTEBOOKS = sorted((ROOT / "examples/notebooks").glob("*.ipynb"))


@pytest.fixture
def kernels(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """An environment in which kernels are this Python with this package, whatever the user has installed or set up."""
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.setenv("PYTHONPATH", str(PACKAGE))
    monkeypatch.delenv("JUPYTER_PATH", raising=False)
    # A folder beside those of the examples, so that nothing is written into these.
    (tmp_path / "examples/notebooks").mkdir(parents=True)
    (tmp_path / "examples/digits").symlink_to(ROOT / "examples/digits")
    return tmp_path / "examples/notebooks"


def run(notebook: Any, folder: pathlib.Path) -> None:
    with tempfile.TemporaryDirectory() as sockets:
        # Sockets of files, whose names must be short: no port is open to others meanwhile.
        config = Config({"KernelManager": {"transport": "ipc", "ip": f"{sockets}/kernel"}})
        here = {"metadata": {"path": str(folder)}}
        NotebookClient(notebook, timeout=120, kernel_name="python3", config=config, resources=here).execute()


def source(path: pathlib.Path) -> Any:
    notebook = nbformat.read(path, as_version=nbformat.NO_CONVERT)
    nbformat.validate(notebook)
    return notebook


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_a_notebook_runs_and_its_results_are_numpys(path: pathlib.Path, kernels: pathlib.Path) -> None:
    notebook = source(path)
    run(notebook, kernels)
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    assert counts == list(range(1, len(counts) + 1)), "each cell was run, once"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_a_notebook_is_kept_as_source(path: pathlib.Path) -> None:
    """Outputs would go out of date unnoticed, and a change of a word would be hidden among them."""
    notebook = source(path)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code), f"{path.name}: clear its outputs"
    assert any("assert" in cell.source for cell in code), f"{path.name}: nothing is compared with NumPy"
    assert notebook.cells[-1].source.startswith("## What every party learned"), path.name


WRONG = """
@mg.program
def wrong(p):
    x = p.input("x", owner=0)
    if x > 1:
        p.reveal("x", x)
"""


def test_a_notebook_that_is_wrong_fails_with_its_cell(kernels: pathlib.Path) -> None:
    assert {"auction", "hospitals", "regression"} <= {path.stem for path in NOTEBOOKS}
    wrong = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in ("import madrigal as mg", WRONG.strip())])
    with pytest.raises(CellExecutionError, match=r"In\[2\]:4: `if`"):
        run(wrong, kernels)
