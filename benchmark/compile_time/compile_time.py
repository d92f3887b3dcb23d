#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Prints what including and using the library costs a compiler, relative to a file that includes <vector> and
<algorithm> only.

  compile_time.py path/to/repository compiler [flag...]

Seconds are the medians of three runs of the compiler, taken in turns; lines are those that are left after
preprocessing; instantiations are template functions and classes that clang instantiates (only where the compiler is
clang). --once: one run each.
"""
import json, os, re, statistics, subprocess, sys, tempfile, time

once = '--once' in sys.argv
root, compiler, *flags = [a for a in sys.argv[1:] if a != '--once']
flags = ['-std=c++20', '-O2', '-I', os.path.join(root, 'include'), *flags]
is_clang = 'clang' in subprocess.run([compiler, '--version'], capture_output=True, text=True, check=True).stdout

with tempfile.TemporaryDirectory() as folder:
    def source(name, text):
        path = os.path.join(folder, name + '.cpp')
        with open(path, 'w') as f:
            f.write(text)
        return path

    files = {
        'standard': source('standard', '#include <algorithm>\n#include <vector>\n'),
        'include weft/all.hpp': source('include', '#include <weft/all.hpp>\n'),
        'examples/quick_start.cpp': os.path.join(root, 'examples', 'quick_start.cpp'),
    }

    def compile_seconds(path):
        begin = time.perf_counter()
        subprocess.run([compiler, *flags, '-c', path, '-o', os.path.join(folder, 'out.o')], check=True)
        return time.perf_counter() - begin

    def preprocessed_lines(path):
        text = subprocess.run([compiler, *flags, '-E', '-P', path], capture_output=True, text=True, check=True).stdout
        return sum(1 for line in text.splitlines() if line.strip())

    def instantiations(path):
        if not is_clang:
            return None
        subprocess.run([compiler, *flags, '-ftime-trace', '-ftime-trace-granularity=0', '-c', path, '-o',
                        os.path.join(folder, 'out.o')], check=True)
        with open(os.path.join(folder, 'out.json')) as f:
            return sum(1 for e in json.load(f)['traceEvents'] if re.fullmatch('Instantiate(Class|Function)', e['name']))

    seconds = {name: [] for name in files}
    for _ in range(1 if once else 3):
        for name, path in files.items():
            seconds[name].append(compile_seconds(path))
    base = statistics.median(seconds['standard'])
    base_lines = preprocessed_lines(files['standard'])
    print(f'{"":26} {"seconds":>8} {"ratio":>6} {"lines":>8} {"ratio":>6} {"instantiations":>15}')
    for name, path in files.items():
        taken, lines, count = statistics.median(seconds[name]), preprocessed_lines(path), instantiations(path)
        print(f'{name:26} {taken:8.2f} {taken / base:6.1f} {lines:8,} {lines / base_lines:6.1f} '
              f'{"-" if count is None else format(count, ","):>15}')
