# SPDX-License-Identifier: BSL-1.0
"""Runs the program that the command line names as a user would, and collects what is wrong."""
import os, re, subprocess, sys

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


def check_help():
    """--help fits a screen or two, and each option is on the page of one topic, which its name leads to, too."""
    def page(*topic):
        r = run('--help', *topic)
        check(r.returncode == 0 and not r.stderr, f'--help {topic}: {r.returncode} {r.stderr}')
        wide = [line for line in r.stdout.splitlines() if len(line) > 100]
        check(not wide, f'--help {topic} has lines of more than 100 columns: {wide}')
        return r.stdout

    def options(text):
        return re.findall(r'^  (?:-\w, )?(--[a-z][\w-]*)', text, re.M)

    first = page()
    check(len(first.splitlines()) <= 100, f'--help has {len(first.splitlines())} lines')
    usual, _, index = first.partition('More options, by topic')
    if not index:
        return
    topics = re.findall(r'^  ([a-z]+) {2,}\S', index, re.M)
    check(len(topics) > 3 and topics.pop() == 'all', f'topics of --help: {topics}')
    everything = page('all')
    found = [name for topic in topics for name in options(page(topic))]
    check(len(found) == len(set(found)) > 20, f'each option is in one topic: {sorted(found)}')
    check(sorted(options(everything)) == sorted(found), 'all pages have the options of topics')
    check(sorted(re.findall(r'(?<= )--[a-z][\w-]*', index.split('\n\n')[0].split('\n', 1)[1])) == sorted(found),
          'the index has all options')
    check(set(options(usual)) <= set(found) and len(options(usual)) >= 10, f'usual options: {options(usual)}')
    for name in found:
        check(name in options(page(name[2:])) or name[2:] in topics, f'--help {name[2:]}')
    check(run(f'--help={topics[1]}').stdout == page(topics[1]) == run('-h', topics[1]).stdout, 'three ways to ask')
    refused('--help', 'nothing', because=f"no topic 'nothing'; there are {', '.join(topics)}, and all")


def finish():
    print(f'{len(failures)} failed' if failures else 'all passed')
    sys.exit(bool(failures))
