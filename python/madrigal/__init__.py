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
from ._errors import MadrigalError, ProgramError, RunError, SecretError, UnmetError
from ._program import Bound, Builder, Client, Explanation, Loaded, Program, Result, client, load, program
from ._secret import Secret
from ._stages import Kept, Stage, Staged, StagedResult, Stages, stages
from . import _ufuncs, _functions  # noqa: F401  (they fill the tables of NumPy's functions)
from ._flow import cond, look_up, map, match, repeat
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
    "Bound", "Builder", "Client", "Connection", "DType", "Explanation", "Kept", "Loaded", "MadrigalError", "Program", "ProgramError", "Result",
    "RunError", "Secret", "SecretError", "Stage", "Staged", "StagedResult", "Stages", "UnmetError", "bool_", "client", "cond", "connect", "erf", "fixed", "gelu", "int8", "int16", "int32",
    "int64", "int128", "load", "look_up", "map", "match", "program", "relu", "repeat", "sigmoid", "silu", "softmax", "softplus", "stages",
    "uint8", "uint16", "uint32", "uint64", "uint128", "where",
]
