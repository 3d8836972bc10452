"""Madrigal: several parties compute on data that none of them shows.

A program is a function that records what is computed; secrets behave as arrays of NumPy::

    import madrigal as mg, numpy as np

    @mg.program(parties=2)
    def gap(p):
        pay = p.input("pay", owner=0, shape=("n",))
        rate = p.input("rate", owner=1, shape=("n",))
        p.reveal("total", np.sum(pay * rate))

    gap.simulate(pay=[1.5, 2.0], rate=[2.0, 4.0])              # in the clear: {"total": 11.0}
    gap.run_local(pay=[1.5, 2.0], rate=[2.0, 4.0])["total"]    # by all parties in this process
    print(gap.explain(n=1000, network="wan"))                  # what it costs, before it runs
"""

from __future__ import annotations

from . import _native
from ._connect import Connection, connect
from ._errors import MadrigalError, ProgramError, RunError, SecretError, ServiceError, ServiceTimeout, UnmetError
from ._kinds import Kind, KindInput, KindOutput
from ._models import Inference, Model, infer, load_model
from ._program import Bound, Builder, Client, Loaded, Program, Result, client, load, program
from ._progress import Progress
from ._psi import Bins, InBoth, Matches, psi
from ._receipts import Batch, JobReceipt, Outputs, ServerState, Submitted
from ._secret import Secret
from ._service import Batches, Service, Submission, service
from ._stages import Kept, Stage, Staged, StagedResult, Stages, stages
from ._told import Calibration, Comparison, Explanation, ModelExplanation, ModelInfo, WhoSaw
from . import _numpy  # noqa: F401  (it fills the tables of NumPy's functions)
from . import tables
from ._expressions import Expr, col, lit, when
from ._tables import Answer, Frame, Query, sql, table
from ._flow import cond, look_up, map, match, repeat, shuffle, sort_by
from ._permutation import Permutation, permutation, random_permutation
from ._types import (
    DType,
    bool_,
    fixed,
    int8,
    int16,
    int32,
    int64,
    int128,
    uint8,
    uint16,
    uint32,
    uint64,
    uint128,
)
from ._more import erf, gelu, relu, sigmoid, silu, softmax, softplus, where

__version__: str = _native.__version__

__all__ = [
    "Answer", "Batch", "Batches", "Bins", "Bound", "Builder", "Calibration", "Client", "Comparison", "Connection", "DType", "Explanation", "Expr", "Frame",
    "InBoth", "Inference", "JobReceipt", "Kept", "Kind", "KindInput", "KindOutput", "Loaded", "MadrigalError", "Matches", "Model", "ModelExplanation",
    "ModelInfo", "Outputs", "Permutation", "Program", "ProgramError", "Progress", "Query", "Result", "RunError", "Secret", "SecretError", "ServerState",
    "Service", "ServiceError", "ServiceTimeout", "Stage", "Staged", "StagedResult", "Stages", "Submission", "Submitted", "UnmetError", "WhoSaw",
    "bool_", "client", "col", "cond", "connect", "erf", "fixed", "gelu", "infer", "int128", "int16", "int32", "int64", "int8",
    "lit", "load", "load_model", "look_up", "map", "match", "permutation", "program", "psi", "random_permutation", "relu", "repeat", "service",
    "shuffle", "sigmoid", "silu", "softmax", "softplus", "sort_by", "sql", "stages", "table", "tables", "uint128", "uint16",
    "uint32", "uint64", "uint8", "when", "where",
]
