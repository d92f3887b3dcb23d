#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Training steps of networks on simulated clusters, by the MPI executor under SMPI and by weft's own simulator.

  network_steps.py SMPIRUN NETWORK_STEP RANKS NETWORK:PLACEMENT...

Exit code 1 if the times of a step differ by more than 5 %, or between two runs at all. NETWORK_STEP is
network_step.cpp as a library for smpirun.
"""
import re
import sys
import tempfile
from pathlib import Path

from smpi import hosts, simulate

LATENCY, BANDWIDTH = "1e-6", "1e10"
# SMPI's globals are those of the program: all ranks share what is made once. No time is charged for asking MPI, which a
# rank that polls does as often as it likes; collectives are as Open MPI has them.
MORE = ["-no-privatize", "--cfg=smpi/host-speed:1Gf", "--cfg=smpi/cpu-threshold:0", "--cfg=smpi/test:0",
        "--cfg=smpi/coll-selector:ompi"]
TOLERANCE = 0.05


def run(smpirun, program, ranks, network, placement):
    platform = (f'<cluster id="all" prefix="m-" suffix="" radical="0-{ranks - 1}" speed="1Gf" bw="{BANDWIDTH}Bps" '
                f'lat="{LATENCY}s" sharing_policy="SPLITDUPLEX"/>')
    with tempfile.TemporaryDirectory() as folder:
        return simulate(smpirun, platform, hosts("m", ranks), Path(folder), program, network, placement, LATENCY,
                        BANDWIDTH, more=MORE).strip()


def main(smpirun, program, ranks, *steps):
    program, failed = Path(program).resolve(), False
    for step in steps:
        network, placement = step.split(":")
        said = run(smpirun, program, int(ranks), network, placement)
        print(said)
        ratio = float(re.search(r"ratio ([\d.]+)", said)[1])
        if abs(ratio - 1) > TOLERANCE:
            print(f"they differ by more than {TOLERANCE:.0%}")
            failed = True
        if step == steps[0] and run(smpirun, program, int(ranks), network, placement) != said:
            print("a second run says something else")
            failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
