#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Step times that others measured and published beside those that `place` predicts, as a table in Markdown.

  published_steps.py PLACE SETTINGS.csv [PLATFORMS]

A row of SETTINGS has `id`, `published_s`, `args` (of `place`) and `source`; `@NAME` among the arguments is the file
NAME of the folder PLATFORMS. Below the table: the median of max(ratio, 1 / ratio) - 1, and how many rows are off by
more than 1.3 times. docs/costs.md has what it prints. Standard library only."""
import csv
import os
import re
import statistics
import subprocess
import sys

UNIT = {'s': 1, 'ms': 1e-3, 'µs': 1e-6}


def predicted(place, args):
    """Seconds of a step, or why there are none."""
    run = subprocess.run([place, *args, '--budget', '200moves'], capture_output=True, text=True)
    found = re.search(r'Step time\s+([\d.e+]+) (ms|s|µs)', run.stdout)
    return (float(found[1]) * UNIT[found[2]], '') if found else (None, (run.stderr.splitlines() or ['no step time'])[0])


def readable(seconds):
    return f'{seconds:.3g} s' if seconds >= 1 else f'{seconds * 1e3:.3g} ms'


def print_table(place, rows, platforms):
    """Prints a line per row and returns the ratios of those that were predicted."""
    ratios = []
    print('| setting | published | here | ratio | source |\n|---|--:|--:|--:|---|')
    for row in rows:
        args = row['args'].split()
        shown = ' '.join(a[1:].removesuffix('.json') if a.startswith('@') else a for a in args)
        seconds, why = predicted(place, [os.path.join(platforms, a[1:]) if a.startswith('@') else a for a in args])
        published = float(row['published_s'])
        if seconds is None:
            print(f"| `{shown}` | {readable(published)} | refused: {why} | | {row['source']} |")
            continue
        ratios.append(seconds / published)
        figures = f'{readable(published)} | {readable(seconds)} | {ratios[-1]:.2f}'
        print(f"| `{shown}` | {figures} | {row['source']} |", flush=True)
    return ratios


def main(place, settings, platforms='.'):
    with open(settings, encoding='utf-8') as file:
        rows = list(csv.DictReader(file))
    ratios = print_table(place, rows, platforms)
    errors = [max(r, 1 / r) - 1 for r in ratios]
    if errors:
        off = sum(e > 0.3 for e in errors)
        print(f'\nmedian error {statistics.median(errors):.0%}; {off} of {len(errors)} off by more than 1.3 times; '
              f'{len(rows) - len(errors)} refused')
    return 0 if len(errors) == len(rows) else 1


if __name__ == '__main__':
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
