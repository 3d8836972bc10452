"""Three parties: the first knows how many hours people worked, the second what an hour of each costs, and all learn the total alone."""

import numpy as np

import madrigal as mg


@mg.program(parties=3)
def bill(p):
    hours = p.input("hours", owner=0, shape=("n",), dtype=mg.fixed(64, 16))
    rate = p.input("rate", owner=1, shape=("n",), dtype=mg.fixed(64, 16))
    p.reveal("total", np.sum(hours * rate))


hours, rate = np.array([38.5, 40.0, 12.25]), np.array([21.0, 18.5, 30.0])
run = bill.run_local(hours=hours, rate=rate, protocol="R")
print(f"the parties open {run['total']}; in the clear it is {np.sum(hours * rate)}")
assert run["total"] == np.sum(hours * rate)
