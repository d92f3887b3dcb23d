#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Kills each of 4 ranks in the middle of a run: the program must end soon, with a line that names the rank, and leave
no process behind.

  lost_rank.py openmpi|mpich|mpi PROGRAM LAUNCHER...     such as: lost_rank.py mpich build/lost_rank mpirun.mpich -n

Launchers end all ranks when one is killed. Open MPI's says which rank it was, and can be told to leave it to the other
ranks, which then notice it by themselves. MPICH's says which process it was; a shell around each rank knows its number.
"""
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

LIMIT = 100  # seconds until the last process is gone, on a busy machine; two or three are enough on an idle one
# How to start so that there is a certain line, in which RANK is the number of the rank that was killed.
WAYS = {
    "openmpi": [
        ([], [], r"process rank RANK with PID \d+ on node \S+ exited on signal 9"),
        (["--mca", "orte_abort_on_non_zero_status", "0"], [],
         r"^rank RANK \(process \d+ on \S+\) is gone: it was killed or it crashed"),
    ],
    "mpich": [
        ([], [], r"Killed \(signal 9\)"),
        ([], ["sh", "-c", '"$@" || { s=$?; echo "rank $PMI_RANK ended with status $s" >&2; exit $s; }', "sh"],
         r"^rank RANK ended with status 137"),
    ],
    "mpi": [([], [], "")],
}


def processes_of(token):
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if token.encode() in path.read_bytes() and int(path.parent.name) != os.getpid():
                found.append(path.parent.name)
        except OSError:
            pass  # it has ended
    return found


def ends_well(kind, program, launcher, rank, way):
    options, shell, line = WAYS[kind][way]
    token = f"weft-lost-rank-{os.getpid()}-{rank}-{way}"
    command = [launcher[0], *options, *launcher[1:], "4", *shell, program, str(rank), token]
    begin = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             start_new_session=True)
    try:
        said = child.communicate(timeout=LIMIT)[0]
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        print(f"FAILED {kind}, rank {rank}: still there after {LIMIT} s\n{child.communicate()[0]}", flush=True)
        return False
    while processes_of(token) and time.monotonic() - begin < LIMIT:
        time.sleep(0.05)
    left = processes_of(token)
    if child.returncode == 0 or left or not re.search(line.replace("RANK", str(rank)), said, re.M):
        print(f"FAILED {kind}, rank {rank}, way {way}: returned {child.returncode}, left {left}, said:\n{said}",
              flush=True)
        return False
    print(f"{kind}, rank {rank}, way {way}: {time.monotonic() - begin:.1f} s")
    return True


def main(kind, program, *launcher):
    ways = range(len(WAYS[kind]))
    return 0 if all([ends_well(kind, program, launcher, r, way) for r in range(4) for way in ways]) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
