#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Ends searches of `place` by Ctrl-C, as a user would who has waited enough: place_interrupt.py path/to/place"""
import json, os, tempfile

from program import check, finish
from started import Started


def main(folder):
    def path(name):
        return os.path.join(folder, name)

    # A plan exists: it is told and written as if the budget had ended
    long = ('zoo:mnist_conv', '--platform', 'workstation_2gpu', '--parallel', 'none', '--budget', '100000')
    p = Started(*long, '--plan', path('plan.json'), '--html', path('report.html'))
    p.wait_for('searching') # which begins with a plan, whatever happens
    p.interrupt()
    status, out, said = p.end()
    check(status == 130, f'exit status {status}: {said[-300:]}')
    check('Step time' in out and 'ended by Ctrl-C' in out and 'plan written to' in out, f'a summary: {out[:600]}')
    with open(path('plan.json')) as f:
        check(len(json.load(f)['placement']) > 0, 'a plan')
    check(os.path.getsize(path('report.html')) > 10_000, 'a report')

    # There is none yet: the first one is told. The program waits for its model until it has heard of the interrupt.
    late = path('late.json')
    os.mkfifo(late)
    waiting = (late, '--platform', 'workstation_2gpu', '--budget', '100000')
    p = Started(*waiting)
    p.wait_for('reading ')
    p.interrupt()
    p.wait_for('ending with the best plan so far')
    with open(late, 'w') as f:
        ops = [{'name': 'a', 'work': 1, 'outputs': [8]}, {'name': 'b', 'work': 2, 'inputs': ['a']}]
        json.dump({'format': 'weft.workload', 'version': 1, 'ops': ops}, f)
    status, out, said = p.end()
    check(status == 130, f'exit status {status}: {said[-300:]}')
    check('Step time' in out and 'ended by Ctrl-C' in out, f'a summary: {out[:600]}')

    # Twice: at once, whatever the program waits for
    p = Started(*waiting)
    p.wait_for('reading ')
    p.interrupt()
    p.wait_for('ending with the best plan so far')
    p.interrupt()
    status, out, said = p.end()
    check(status == 130 and out == '', f'exit status {status}, {out[:300]}')


with tempfile.TemporaryDirectory() as folder:
    main(folder)
finish()
