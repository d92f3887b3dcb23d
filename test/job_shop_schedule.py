#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Checks the schedule of a flexible job shop: job_shop_schedule.py SHOP.txt SCHEDULE.csv

Prints the makespan; exit status 1 and one line if the schedule is none. The schedule has a line per operation: its name
`job.operation` (numbered from 1), its machine (from 1), start and finish. Shares no code with the library, so that what
this accepts does not rest on it. Python's standard library only."""
import csv, math, sys


def fail(message):
    print(message)
    sys.exit(1)


def read_shop(path):
    """By operation: what it takes on each machine that can do it."""
    with open(path) as f:
        lines = [line.split() for line in f if line.strip()]
    shop = {}
    for job, line in enumerate(lines[1:], 1):
        numbers = iter(line)
        for operation in range(1, int(next(numbers)) + 1):
            times = shop[job, operation] = {}
            for _ in range(int(next(numbers))):
                machine = int(next(numbers))
                times[machine] = float(next(numbers))
    return shop


def main(shop_file, schedule_file):
    shop = read_shop(shop_file)
    with open(schedule_file, newline='') as f:
        rows = list(csv.DictReader(f))
    placed = {}
    for row in rows:
        operation = tuple(map(int, row['operation'].split('.')))
        if operation not in shop or operation in placed:
            fail(f"operation {row['operation']} is {'there twice' if operation in placed else 'none of the shop'}")
        machine, start, finish = int(row['machine']), float(row['start']), float(row['finish'])
        if machine not in shop[operation]:
            fail(f"operation {row['operation']} cannot run on machine {machine}")
        time = shop[operation][machine]
        if not math.isfinite(start + finish) or start < 0 or abs(finish - start - time) > 1e-9 * max(1, finish):
            fail(f"operation {row['operation']} takes {time:g} on machine {machine}, not {finish - start:g}")
        placed[operation] = machine, start, finish
    for operation in shop:
        if operation not in placed:
            fail(f"operation {operation[0]}.{operation[1]} is missing")
    on_machine = {}
    for (job, number), (machine, start, finish) in placed.items():
        before = placed.get((job, number - 1))
        if before and before[2] > start + 1e-9 * max(1, start):
            fail(f'operation {job}.{number} starts at {start:g}, before the one before it ends at {before[2]:g}')
        on_machine.setdefault(machine, []).append((start, finish, f'{job}.{number}'))
    for machine, row in on_machine.items():
        busy, last = 0, None
        for start, finish, name in sorted(x for x in row if x[1] > x[0]):  # what takes no time is in nobody's way
            if busy > start + 1e-9 * max(1, start):
                fail(f'operations {last} and {name} are on machine {machine} at the same time')
            busy, last = finish, name
    print(f'{max(x[2] for x in placed.values()):g}')


if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
