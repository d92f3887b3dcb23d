# SPDX-License-Identifier: BSL-1.0
"""Runs the program that the command line names as a user would, and collects what is wrong."""
import os, subprocess, sys

EXE = os.path.realpath(sys.argv[1])
failures = []


def run(*arguments):
    return subprocess.run([EXE, *map(str, arguments)], capture_output=True, text=True)


def check(condition, what):
    if not condition:
        failures.append(what)
        print('FAILED:', what)


def refused(*arguments, because):
    r = run(*arguments)
    lines = r.stderr.splitlines()
    check(r.returncode == 2, f'{arguments}: exit code {r.returncode}, not 2')
    check(len(lines) == 1, f'{arguments}: {len(lines)} lines on stderr, not 1: {r.stderr[:300]}')
    check(not r.stdout, f'{arguments}: prints something all the same')
    check(because in r.stderr, f'{arguments}: "{r.stderr.strip()}" does not say "{because}"')


def finish():
    print(f'{len(failures)} failed' if failures else 'all passed')
    sys.exit(bool(failures))
