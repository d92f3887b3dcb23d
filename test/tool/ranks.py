#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs `distributed` and `calibrate_cluster` on two ranks: ranks.py DISTRIBUTED CALIBRATE_CLUSTER LAUNCHER...
The launcher is such as: mpirun -n"""
import json, os, subprocess, sys, tempfile

from program import check, finish

DISTRIBUTED, CALIBRATE, *LAUNCHER = sys.argv[1:]
SMALL = (DISTRIBUTED, '--net', 'dcgan', '--steps', '3', '--profiles', '1')


def ranks(program, *arguments, cores=None):
    """On two ranks, which the launcher does not bind: all may run on the given cores, or on all that there are."""
    bind = (lambda: os.sched_setaffinity(0, cores)) if cores else None
    return subprocess.run([*LAUNCHER, '2', program, *arguments], capture_output=True, text=True, preexec_fn=bind,
                          env=os.environ | {'OMPI_MCA_hwloc_base_binding_policy': 'none'})


def refused(program, *arguments, because):
    r = ranks(program, *arguments)
    name = os.path.basename(program)
    said = [line for line in r.stderr.splitlines() if line.startswith(name + ':')] # the launcher says something, too
    check(r.returncode == 2, f'{name} {arguments}: exit code {r.returncode}, not 2: {r.stderr[-500:]}')
    check(len(said) == 1 and because in said[0], f'{name} {arguments}: {said} is not one line with "{because}"')
    check(not r.stdout.startswith(('dcgan', '{')), f'{name} {arguments}: runs all the same')


def main(folder):
    missing, kept = os.path.join(folder, 'none', 'file'), os.path.join(folder, 'kept')
    with open(kept, 'w') as f:
        f.write('kept')
    for program, option in (DISTRIBUTED, '--html'), (CALIBRATE, '-o'):
        refused(program, option, missing, because='cannot be opened')
        refused(program, option, folder, because='cannot be opened')
        refused(program, '--sped', '2', because="unknown option '--sped'")
        r = ranks(program, '--help')
        check(r.returncode == 0 and r.stdout.count('Exit status') == 1, f'{program} --help: {r.returncode} {r.stdout}')
        r = ranks(program, option, kept, '--trips' if program == CALIBRATE else '--steps', '0')
        check(r.returncode == 2 and open(kept).read() == 'kept', 'what a file holds stays when arguments are wrong')
    refused(DISTRIBUTED, '--net', 'resnet51', because='resnet51')

    r = ranks(*SMALL, '--html', kept)
    check(r.returncode == 0 and 'bit by bit' in r.stdout,
          f'distributed runs: {r.returncode} {r.stdout} {r.stderr[-500:]}')
    check(open(kept).read().startswith('<!doctype html>'), 'a report is written')
    for net in ('convolutions', 'lstm', 'lstm_fused'): # each rank with its part of the batch
        r = ranks(DISTRIBUTED, '--net', net, '--batch', '8', '--steps', '3')
        check(r.returncode == 0 and '4 of 8 examples each' in r.stdout and 'from those of one thread' in r.stdout,
              f'{net} in parts: {r.returncode} {r.stdout} {r.stderr[-500:]}')
    refused(DISTRIBUTED, '--net', 'resnet', '--batch', '8', because='depend on each other')
    refused(DISTRIBUTED, '--net', 'lstm', '--batch', '7', because='cannot be divided by 2 ranks')
    usable = sorted(os.sched_getaffinity(0))
    r = ranks(*SMALL, cores=usable[:1])
    check('has 1 core for 2 ranks, which share them' in r.stdout and r.stdout.count('note:') == 1,
          f'two ranks on one core: {r.returncode} {r.stdout}')
    r = ranks(CALIBRATE, '--trips', '3', '--seconds', '2', '-o', kept, cores=usable[:1])
    check('has 1 core for 2 ranks' in r.stderr and len(json.load(open(kept))['devices']) == 2,
          f'calibrating two ranks on one core: {r.returncode} {r.stderr[-500:]}')


with tempfile.TemporaryDirectory() as made:
    main(made)
finish()
