#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Ends comparisons by Ctrl-C, as a user would who has waited enough: compare_interrupt.py path/to/compare"""
import csv, io, os, tempfile

from program import check, finish
from started import Started

PROBLEM = ('--workload', 'zoo:lstm', '--platform', 'preset:paper_like_10')
ENDLESS = ('--budget', '100000')


def main(folder):
    def path(name):
        return os.path.join(folder, name)

    # The rows so far are printed and written; what searches ends with what it has found, what comes later has no rows
    p = Started(*PROBLEM, '--partition', 'heft,best,hash', '--schedule', 'static_order,best', *ENDLESS, '--format',
                'csv', '--html', path('report.html'), '--trace', path('run.json'))
    p.wait_for(': best: ') # which has found something
    p.interrupt()
    status, out, said = p.end()
    check(status == 130, f'exit status {status}: {said[-300:]}')
    check('compare: ended by Ctrl-C with 2 runs' in said, f'told: {said[-600:]}')
    rows = list(csv.DictReader(io.StringIO(out)))
    check([r['partition'] for r in rows] == ['heft', 'best'] and all(r['makespan'] for r in rows), f'rows: {out}')
    check(len(rows) == 2 and float(rows[1]['makespan']) <= float(rows[0]['makespan']), f'best is no worse: {out}')
    check(os.path.getsize(path('report.html')) > 10_000 and os.path.getsize(path('run.json')) > 100,
          'a report, a trace')

    # A table, with a baseline that did not run
    p = Started(*PROBLEM, '--partition', 'best,heft', '--schedule', 'static_order,best', '--baseline', 'heft', *ENDLESS)
    p.wait_for(': best: ')
    p.interrupt()
    status, out, said = p.end()
    check(status == 130 and ' Best: best' in out and 'heft' not in out, f'exit status {status}: {out} {said[-300:]}')

    # A refiner ends, too, with the row of what it has found
    p = Started(*PROBLEM, '--partition', 'hash', '--schedule', 'static_order', '--refine', 'simulated_annealing',
                *ENDLESS, '--format', 'csv')
    p.wait_for('+ simulated_annealing: ')
    p.interrupt()
    status, out, said = p.end()
    check(status == 130 and len(list(csv.DictReader(io.StringIO(out)))) == 1,
          f'exit status {status}: {out} {said[-300:]}')

    # Nothing has run yet: the program waits for its workload until it has heard of the interrupt
    late = path('late.json')
    os.mkfifo(late)
    waiting = ('--workload', late, '--platform', 'identical:2', '--partition', 'hash', '--schedule', 'fifo')
    p = Started(*waiting)
    with open(late, 'w') as f: # which begins when the program reads
        p.interrupt()
        p.wait_for('ending with the runs so far')
        f.write('{"format": "weft.workload", "version": 1, "ops": [{"name": "a", "work": 1}]}')
    status, out, said = p.end()
    check(status == 130 and out == '' and 'ended by Ctrl-C with no run' in said, f'exit status {status}: {out} {said}')

    # Twice: at once
    p = Started(*waiting)
    with open(late, 'w'):
        p.interrupt()
        p.wait_for('ending with the runs so far')
        p.interrupt()
        status, out, said = p.end()
    check(status == 130 and out == '', f'exit status {status}, {out[:300]}')


with tempfile.TemporaryDirectory() as folder:
    main(folder)
finish()
