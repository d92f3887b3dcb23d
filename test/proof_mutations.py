#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Tries to fool identical_devices_proof.py: makes small graphs, whose least makespans it finds by trying all orders,
and proofs of them, and changes these in every way that it knows. What claims something wrong must be refused, in one
line; what is accepted must be true. The same every time.

proof_mutations.py    one line per failure, exit code 1 if there is one"""
import contextlib, io, itertools, math, random, sys

import identical_devices_proof as checker

failures = []
KINDS = set()  # of changes that were refused


def expect(condition, what):
    if not condition:
        failures.append(what)
        print('FAILED:', what)


def draw_graph(seed):
    """Times and predecessors; the first and the last task take no time."""
    r = random.Random(seed)
    n, unit = r.randint(1, 6), r.choice([1, 1, 2, 3, 7])
    density = r.choice([0, 0, 0.25, 0.5])
    times = [0] + [unit * r.randint(0 if r.random() < 0.2 else 1, 9) for _ in range(n)] + [0]
    before = [[]] + [[u for u in range(1, v) if r.random() < density] or [0] for v in range(1, n + 1)]
    before.append([v for v in range(1, n + 1) if not any(v in u for u in before)])
    return times, before


def graph_text(times, before):
    rows = [f'{v} {times[v]} {len(u)} {" ".join(map(str, u))}'.rstrip() for v, u in enumerate(before)]
    return '\n'.join([str(len(times) - 2), *rows, '# a comment', ''])


def shortest(times, before, machines):
    """Least makespan and starts of a schedule that has it: some order of the jobs, each as early as it can be."""
    best, starts = math.inf, None
    for order in itertools.permutations(range(len(times))):
        free, start, end = [0] * machines, {}, {}
        for v in order:
            if any(u not in end for u in before[v]):
                break
            ready = max((end[u] for u in before[v]), default=0)
            if times[v] == 0:  # needs no machine
                start[v] = end[v] = ready
                continue
            start[v] = max(free[0], ready)
            end[v] = start[v] + times[v]
            free = sorted(free[1:] + [end[v]])
        else:
            if max(end.values()) < best:
                best, starts = max(end.values()), [start[v] for v in range(len(times))]
    return best, starts


def walk(times, before, machines, T, unit):
    """The walk of a search that finds no schedule by T, of which there is none."""
    search, steps = checker.Search(times, before, machines, T, unit), []

    def visit():
        for v in sorted(search.next, key=lambda v: (search.start(v), v)):
            now, _, tried, _ = search.stack[-1]
            alive = {u: end for u, end in search.ends.items() if end > now}
            if search.is_late() or search.is_known(now, frozenset(search.ends), alive) or search.is_overloaded() or \
                    (tried and search.all_tried()):
                return
            search.add(v)
            steps.append(str(v))
            visit()
            search.back()
            steps.append('-')

    visit()
    return steps


def text_of(said, steps=()):
    lines = [checker.HEADER, *(f'{k} {v}' for k, v in said.items())]
    return '\n'.join(lines + ([' '.join(steps)] if steps else []) + [''])


def answer(graph, proof, asked):
    """What the checker says: whether it accepts, and one line."""
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            return True, checker.check(graph, proof, asked)
    except SystemExit as e:
        return e.code == 0, out.getvalue().strip()
    except (IndexError, KeyError, ValueError) as e:  # which `main` puts into one line
        return False, repr(e)


def is_schedule(times, before, machines, start):
    if len(start) != len(times) or any(start[u] + times[u] > start[v] for v in range(len(times)) for u in before[v]):
        return False
    return all(sum(s <= at < s + t for s, t in zip(start, times)) <= machines for at in start)


class Case:
    """A graph, its machines, and a valid proof."""
    def __init__(self, name, times, before, machines, least, said, steps):
        self.name, self.times, self.before, self.machines, self.least = name, times, before, machines, least
        self.said, self.steps, self.graph = said, steps, graph_text(times, before)

    def refuses(self, kind, proof, asked=None):
        accepted, line = answer(self.graph, proof, asked or self.machines)
        expect(not accepted, f'{self.name}: {kind} is accepted: {line}')
        expect(line.count('\n') == 0 and line != '', f'{self.name}: {kind}: not one line: {line!r}')
        KINDS.add(kind)

    def is_true(self, kind, proof, graph=None, least=None):
        """What is accepted must be true, whatever was changed."""
        accepted, line = answer(graph or self.graph, proof, self.machines)
        if not accepted:
            return
        least = least or self.least
        words = line.replace(',', '').split()
        low, high = (int(words[-1]),) * 2 if 'optimal' in words else (int(words[-3]), int(words[-1]))
        expect(int(words[0]) == self.machines and low <= least <= high, f'{self.name}: {kind} is accepted: {line}')

    def attack(self):
        accepted, line = answer(self.graph, text_of(self.said, self.steps), self.machines)
        expect(accepted, f'{self.name}: a valid proof is refused: {line}')
        self.numbers()
        self.starts()
        self.lines()
        self.walks()
        self.graphs()
        self.characters()

    def numbers(self):
        said, unit, least = self.said, self.said['unit'] or 1, self.least
        makespan = said['makespan']
        wrong = {
            'machines': [self.machines + 1, self.machines - 1, 0, 1000 * self.machines],
            'unit': [unit + 1, 2 * unit + 2, 10**9],
            'makespan': [makespan + 1, makespan - 1, makespan + unit, makespan - unit, 2 * makespan + 1, 10**30],
            'bound': [least + 1, makespan + 1, least + unit, makespan + unit, 2 * makespan + unit, 10**30] +
                     [b for b in range(least) if unit > 1 and b % unit],
        }
        for field, values in wrong.items():
            for k, value in enumerate(values):
                if value != said[field]:
                    name = f'{field}, wrong in way {k}' if k < 6 else f'{field}, no multiple of the unit'
                    self.refuses(name, text_of(said | {field: value}, self.steps))
            for bad in ('', '-1', '-{}', '+{}', '{}.5', '{}.0', '{} 1', '0x{}', '{}e1', '{}_0', 'nan', 'inf', 'x',
                        '\u0663', '\u00b2'):
                self.refuses(f'{field} that is {bad!a}', text_of(said | {field: bad.format(said[field])}, self.steps))
        for both in (1, unit, 2 * unit):  # a makespan nobody has shown, with a bound to match
            self.refuses('makespan and bound, both higher',
                         text_of(said | {'makespan': makespan + both, 'bound': makespan + both}, self.steps))
        for lower in range(0, least + 1, unit):  # a weaker claim may be proven by the same means, if it is true
            self.is_true('a lower bound', text_of(said | {'bound': lower}, self.steps))
            self.is_true('a lower bound by windows', text_of(said | {'bound': lower, 'by': 'windows'}))

    def starts(self):
        said, start = self.said, [int(x) for x in self.said['starts'].split()]
        changed = {'starts without the last': start[:-1], 'starts and one more': start + [0], 'no starts': [],
                   'starts that are negative': [-1] + start[1:], 'all a bit earlier': [x - 1 for x in start]}
        for kind, x in changed.items():
            self.refuses(kind, text_of(said | {'starts': ' '.join(map(str, x))}, self.steps))
        self.refuses('starts with a fraction', text_of(said | {'starts': said['starts'] + '.5'}, self.steps))
        self.refuses('starts that are no numbers', text_of(said | {'starts': said['starts'] + ' x'}, self.steps))
        self.refuses('starts in other digits', text_of(said | {'starts': said['starts'][:-1] + '\u0663'}, self.steps))
        for v in range(len(start)):
            for by in (-self.said['makespan'], -said['unit'], -1, 1, said['unit']):
                x = start[:v] + [max(0, start[v] + by)] + start[v + 1:]
                proof = text_of(said | {'starts': ' '.join(map(str, x))}, self.steps)
                end = max(s + t for s, t in zip(x, self.times))
                if is_schedule(self.times, self.before, self.machines, x) and end == said['makespan']:
                    self.is_true('another schedule', proof)
                else:
                    self.refuses('a start that is no longer possible, or changes the makespan', proof)
        together = text_of(said | {'starts': ' '.join('0' for _ in start), 'makespan': max(self.times)}, self.steps)
        if not is_schedule(self.times, self.before, self.machines, [0] * len(start)):
            self.refuses('all at once', together)

    def lines(self):
        lines = text_of(self.said, self.steps).split('\n')
        for k in range(7):
            self.refuses(f'without line {k}', '\n'.join(lines[:k] + lines[k + 1:]))
            self.refuses(f'line {k} twice', '\n'.join(lines[:k] + lines[k:k + 1] + lines[k:]))
            self.refuses(f'up to line {k}', '\n'.join(lines[:k]))
            self.refuses(f'line {k} in upper case', '\n'.join(lines[:k] + [lines[k].upper()] + lines[k + 1:]))
            self.refuses(f'line {k} after a blank', '\n'.join(lines[:k] + [' ' + lines[k]] + lines[k + 1:]))
            self.refuses(f'an empty line {k}', '\n'.join(lines[:k] + [''] + lines[k:]))
            if k < 6:
                swapped = lines[:k] + [lines[k + 1], lines[k]] + lines[k + 2:]
                self.refuses(f'lines {k} and {k + 1} swapped', '\n'.join(swapped))
        for bad in ('', 'search', 'window', 'windows ', 'search sideways', 'search forward backward', 'Windows'):
            self.refuses(f'by {bad!r}', text_of(self.said | {'by': bad}, self.steps))
        self.refuses('another version', '\n'.join(['weft proof 2: jobs on identical machines', *lines[1:]]))
        self.refuses('an empty text', '')

    def walks(self):
        said, steps = self.said, self.steps
        for by in ('search forward', 'search backward', 'windows'):
            self.is_true(f'by {by} instead', text_of(said | {'by': by}, steps))
            self.is_true(f'by {by} alone', text_of(said | {'by': by}))
        if said['by'] == 'windows':
            for more in (['-'], ['0'], ['0', '-'], ['x'], ['by', 'windows']):
                self.refuses('more after windows', text_of(said, more))
            return
        last = len(self.times) - 1
        for kind, other in (('one step back too many', steps + ['-']),
                            ('a step back first', ['-'] + steps),
                            ('a job that is not there', [str(last + 1), '-'] + steps),
                            ('a negative job', ['-1', '-'] + steps),
                            ('a word that is no step', steps + ['x']),
                            ('a job in other digits', ['\u0660', '-'] + steps),
                            ('an open node', steps + [str(0 if said['by'].endswith('forward') else last)])):
            self.refuses(kind, text_of(said, other))
        for k in range(len(steps)):
            self.is_true('a step less', text_of(said, steps[:k] + steps[k + 1:]))
            self.is_true('a step twice', text_of(said, steps[:k + 1] + steps[k:]))
            self.is_true('cut off', text_of(said, steps[:k]))
            for v in range(last + 1):
                self.is_true('another job', text_of(said, steps[:k] + [str(v)] + steps[k + 1:]))
            if k + 1 < len(steps):
                self.is_true('swapped', text_of(said, steps[:k] + [steps[k + 1], steps[k]] + steps[k + 2:]))
                self.is_true('a node less', text_of(said, steps[:k] + steps[k + 2:]))
                # the same steps for a bound that is wrong
                self.refuses('a node less, and a bound that is too high',
                             text_of(said | {'bound': self.least + said['unit']}, steps[:k] + steps[k + 2:]))

    def graphs(self):
        """The proof of another graph."""
        proof = text_of(self.said, self.steps)

        def other(kind, times, before):
            least = shortest(times, before, self.machines)[0]
            self.is_true(kind, proof, graph_text(times, before), least)

        def waits(v, sources):
            return self.before[:v] + [sources] + self.before[v + 1:]

        for v in range(1, len(self.times) - 1):
            for time in (0, self.times[v] - 1, self.times[v] + 1, 2 * self.times[v] + 1):
                other('another time', self.times[:v] + [max(0, time)] + self.times[v + 1:], self.before)
            other('more to wait for', self.times, waits(v, list(range(v))))
            other('less to wait for', self.times, waits(v, []))
        rows = self.graph.split('\n')
        for kind, graph in (('a graph with a task less', rows[:-3] + rows[-2:]),
                            ('a graph with a task twice', rows[:2] + rows[1:]),
                            ('a graph that ends early', rows[:1]),
                            ('no graph', []),
                            ('a graph with negative times', ['1', '0 0 0', '1 -3 1 0', '2 0 1 1']),
                            ('a graph of tasks that wait for themselves', rows[:1] + ['0 0 1 0'] + rows[2:]),
                            ('a graph of tasks that wait for none that is there', rows[:1] + ['0 0 1 99'] + rows[2:])):
            accepted, line = answer('\n'.join(graph), proof, self.machines)
            expect(not accepted, f'{self.name}: {kind} is accepted: {line}')
            KINDS.add(kind)

    def characters(self):
        """One character of a proof is another one, is missing, or is there twice."""
        proof, r = text_of(self.said, self.steps), random.Random(self.name)
        for _ in range(60):
            k = r.randrange(len(proof))
            c = r.choice('0123456789 -\nx')
            self.is_true('another character', proof[:k] + c + proof[k + 1:])
            self.is_true('a character less', proof[:k] + proof[k + 1:])
            self.is_true('a character more', proof[:k] + c + proof[k:])


def cases():
    yield Case('one task', [0, 3, 0], [[], [0], [1]], 1, 3,
               {'machines': 1, 'unit': 3, 'makespan': 3, 'starts': '0 0 3', 'bound': 3, 'by': 'windows'}, [])
    yield Case('nothing takes time', [0, 0, 0], [[], [0], [1]], 1, 0,
               {'machines': 1, 'unit': 0, 'makespan': 0, 'starts': '0 0 0', 'bound': 0, 'by': 'windows'}, [])
    for seed in range(14):
        times, before = draw_graph(seed)
        if math.gcd(*times) == 0:
            continue
        machines = 2 + seed % 2
        unit = math.gcd(*times)
        least, starts = shortest(times, before, machines)
        said = {'machines': machines, 'unit': unit, 'makespan': least, 'starts': ' '.join(map(str, starts)),
                'bound': least}
        if answer(graph_text(times, before), text_of(said | {'by': 'windows'}), machines)[0]:
            yield Case(f'graph {seed} by windows', times, before, machines, least, said | {'by': 'windows'}, [])
        for way, edges in (('forward', before), ('backward', checker.reverse(before))):
            yield Case(f'graph {seed} {way}', times, before, machines, least, said | {'by': f'search {way}'},
                       walk(times, edges, machines, least - unit, unit))


# The example by which a makespan of 4 was "optimal" for one task of 3.
accepted, line = answer('1\n0 0 0\n1 3 1 0\n2 0 1 1\n', text_of(
  {'machines': 1, 'unit': 3, 'makespan': 4, 'starts': '0 1 4', 'bound': 4, 'by': 'windows'}), 1)
expect(not accepted, line)
count = 0
for case in cases():
    case.attack()
    count += 1
expect(count >= 20, f'only {count} proofs')
expect(len(KINDS) >= 100, f'only {len(KINDS)} kinds of changes')
print(f'{len(failures)} failed' if failures else f'{count} proofs, {len(KINDS)} kinds of changes refused')
sys.exit(bool(failures))
