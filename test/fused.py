#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""No product of the library is fused with a sum, where the processor could: fused operations round once instead of
twice, so that equal times differ and the same seed gives other results than elsewhere.

fused.py COMPILER INCLUDE_FOLDER

Compiles fused/everything.cpp for processors with fused operations, with leave to fuse, and looks for them. A line where
it does not matter says "fused or not" in a comment there or on one of the two lines above. Ends with 77 where the
compiler cannot make code for such processors.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
TARGETS = {'x86_64': ('-march=x86-64-v3', r'vf(n?m(add|sub)|maddsub|msubadd)'),
           'aarch64': ('-march=armv8-a', r'f(n?m(add|sub)|ml[as])\b')}
# What of -O2 it takes to fuse also what small functions compute.
OPTIMISED = ['-O1', '-fexpensive-optimizations', '-finline-small-functions']


def assembly(compiler, flag, source, include):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, 'out.s')
        subprocess.run([compiler, '-std=c++20', *OPTIMISED, '-g1', '-ffp-contract=fast', flag, '-I', include, '-S',
                        '-o', out, source], check=True)
        return out.read_text()


def fused(text, pattern):
    """The (file, line) of each fused operation, and its mnemonic."""
    files, where = {}, None
    for line in text.splitlines():
        if match := re.match(r'\s*\.file\s+(\d+)\s+"([^"]*)"(?:\s+"([^"]*)")?', line):
            files[match[1]] = str(pathlib.Path(match[2], match[3] or ''))
        elif match := re.match(r'\s*\.loc\s+(\d+)\s+(\d+)', line):
            where = files.get(match[1], '?'), int(match[2])
        elif match := re.match(r'\s*(' + pattern + r'\w*)\s', line):
            yield where, match[1]


def is_excused(file, line):
    lines = pathlib.Path(file).read_text().splitlines()
    return 'fused or not' in ' '.join(lines[max(0, line - 3):line])


def main():
    compiler, include = sys.argv[1:]
    machine = subprocess.run([compiler, '-dumpmachine'], check=True, capture_output=True,
                             text=True).stdout.split('-')[0]
    if machine not in TARGETS:
        print(f'nothing is known of fused operations on {machine}')
        sys.exit(77)
    flag, pattern = TARGETS[machine]
    with tempfile.NamedTemporaryFile(suffix='.cpp', mode='w') as probe:
        probe.write('double f(double a, double b, double c) { return a * b + c; }\n')
        probe.flush()
        if not list(fused(assembly(compiler, flag, probe.name, include), pattern)):
            sys.exit('the compiler did not fuse where it may: this test sees nothing')
    wrong = 0
    for (file, line), what in fused(assembly(compiler, flag, HERE / 'fused' / 'everything.cpp', include), pattern):
        if not is_excused(file, line):
            wrong += 1
            print(f'{file}:{line}: {what}: a product goes into a sum; say rounded(a * b), of core/rounding.hpp')
    sys.exit(wrong > 0)


if __name__ == '__main__':
    main()
