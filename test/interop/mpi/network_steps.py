#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Training steps of networks on simulated clusters, by the MPI executor under SMPI and by weft's own simulator.

  network_steps.py SMPIRUN NETWORK_STEP RANKS NETWORK:PLACEMENT...

Exit code 1 if the times of a step differ by more than 5 %, or between two runs at all. NETWORK_STEP is
network_step.cpp as a library for smpirun.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from smpi import SETTINGS

LATENCY, BANDWIDTH = "1e-6", "1e10"
# No time is charged for asking MPI, which a rank that polls does as often as it likes; collectives as Open MPI has them.
MORE = ["smpi/host-speed:1Gf", "smpi/cpu-threshold:0", "smpi/test:0", "smpi/coll-selector:ompi"]
TOLERANCE = 0.05


def run(smpirun, program, ranks, network, placement):
    with tempfile.TemporaryDirectory() as folder:
        platform, hosts = Path(folder, "platform.xml"), Path(folder, "hosts")
        platform.write_text(f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="all" prefix="m" suffix="" radical="0-{ranks - 1}" speed="1Gf" bw="{BANDWIDTH}Bps" lat="{LATENCY}s"
    sharing_policy="SPLITDUPLEX"/>
</platform>
""")
        hosts.write_text("".join(f"m{r}\n" for r in range(ranks)))
        done = subprocess.run(
            [smpirun, "-no-privatize", "-np", str(ranks), "-platform", platform, "-hostfile", hosts,
             *(f"--cfg={x}" for x in SETTINGS + MORE), "--log=root.threshold:warning", program, network, placement,
             LATENCY, BANDWIDTH], capture_output=True, text=True, timeout=280)
    if done.returncode != 0:
        sys.exit(f"{network} {placement} on {ranks} ranks: {done.stdout}{done.stderr}")
    return done.stdout.strip()


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
