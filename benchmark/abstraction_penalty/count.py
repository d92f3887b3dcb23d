#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Prints how many instructions the composed solver executes per instruction of the hand-written one.

  count.py path/to/abstraction_penalty [path/to/valgrind]

Instruction counts do not depend on how busy the machine is. Both solvers must return the same makespans. The exit
status says only that the ratio has not run away (1.10).
"""
import re, subprocess, sys, tempfile

program = sys.argv[1]
valgrind = sys.argv[2] if len(sys.argv) > 2 else 'valgrind'


def instructions(solver, workload):
    with tempfile.TemporaryDirectory() as folder:
        r = subprocess.run([valgrind, '--tool=callgrind', f'--toggle-collect=solve_{solver}',
                            f'--callgrind-out-file={folder}/out', program, solver, workload],
                           capture_output=True, text=True, check=True)
        return int(re.search(r'Collected : (\d+)', r.stderr).group(1))


worst = 0
for workload in ('lstm', 'layered'):
    subprocess.run([program, 'check', workload], check=True, stdout=subprocess.DEVNULL)
    composed, hand_written = instructions('composed', workload), instructions('hand_written', workload)
    worst = max(worst, composed / hand_written)
    print(f'{workload:8} composed {composed:>12,} hand-written {hand_written:>12,} ratio {composed / hand_written:.3f}')
sys.exit(worst > 1.10)
