"""Stages in the clear, by all parties here, and in notebooks: what they give, and errors with their lines."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import madrigal as mg


@mg.stages(parties=2)
async def halvings(s: mg.Stages, limit: int) -> int:
    p = s.program()
    kept = p.keep(p.input("secret", owner=0, dtype=np.uint32))
    assert await s.run(p) == {}
    for times in itertools.count():
        p = s.program()
        secret = p.kept(kept)
        p.reveal("below", secret < limit)
        kept = p.keep(secret >> 1)
        if (await s.run(p))["below"]:
            return times
    raise AssertionError


def test_stages_are_what_they_mean() -> None:
    assert halvings.simulate(limit=4, secret=20) == 3
    done = halvings.run_local(limit=4, secret=20)
    assert done.value == 3 and done.values == [3, 3]
    assert len(done.stats["stages"]) == 5
