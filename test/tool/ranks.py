#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs `distributed` and `calibrate_cluster` on two ranks, and pipelines on four, too:

  ranks.py DISTRIBUTED CALIBRATE_CLUSTER LAUNCHER...

The launcher is such as: mpirun -n"""
import json, os, re, subprocess, sys, tempfile

from program import check, finish

DISTRIBUTED, CALIBRATE, *LAUNCHER = sys.argv[1:]
SMALL = (DISTRIBUTED, '--net', 'dcgan', '--steps', '3', '--profiles', '1')


def ranks(program, *arguments, cores=None, count=2):
    """On ranks that the launcher does not bind: all may run on the given cores, or on all that there are."""
    bind = (lambda: os.sched_setaffinity(0, cores)) if cores else None
    return subprocess.run([*LAUNCHER, str(count), program, *arguments], capture_output=True, text=True, preexec_fn=bind,
                          env=os.environ | {'OMPI_MCA_hwloc_base_binding_policy': 'none'})


def refused(program, *arguments, because, count=2):
    r = ranks(program, *arguments, count=count)
    name = os.path.basename(program)
    said = [line for line in r.stderr.splitlines() if line.startswith(name + ':')] # the launcher says something, too
    check(r.returncode == 2, f'{name} {arguments}: exit code {r.returncode}, not 2: {r.stderr[-500:]}')
    check(len(said) == 1 and because in said[0], f'{name} {arguments}: {said} is not one line with "{because}"')
    check(not r.stdout.startswith(('dcgan', '{')), f'{name} {arguments}: runs all the same')


def check_pipeline(net, count, micro_batches):
    r = ranks(DISTRIBUTED, '--net', net, '--pipeline', '--batch', '8', '--micro-batches', str(micro_batches),
              '--steps', '3', '--profiles', '1', '--deadline', '300', count=count) # hundreds of messages, on few cores
    far = re.search(r'at most (\S+) from those of one thread$', r.stdout, re.M)
    check(r.returncode == 0 and f'on {count} ranks, {micro_batches} micro-batches' in r.stdout and far and
          float(far[1]) <= 1e-5,
          f'{net} in {count} stages: {r.returncode} {r.stdout} {r.stderr[-500:]}')


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
    for net in ('convolutions', 'lstm', 'lstm_fused'): # each rank with some layers, and all of the batch
        check_pipeline(net, 2, 4)
        check_pipeline(net, 4, 2)
    pipeline = DISTRIBUTED, '--pipeline', '--net'
    refused(*pipeline, 'resnet', because='depend on each other')
    refused(*pipeline, 'lstm', '--batch', '8', '--micro-batches', '3',
            because='a batch of 8 examples cannot be divided')
    refused(*pipeline, 'lstm', '--micro-batches', '0', because='--micro-batches')
    refused(*pipeline, 'lstm', '--budget', '5', because='leave --budget and --html out')
    refused(*pipeline, 'lstm', count=5, because='a step of 4 layers cannot be cut into 5 stages')
    refused(DISTRIBUTED, '--net', 'lstm', '--micro-batches', '2', because='--pipeline')
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
