#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Checks a proof of the least makespan of a standard task graph on identical machines:
identical_devices_proof.py GRAPH.stg PROOF [--machines N]

Prints `N machines: optimal, M` or `N machines: from B to M`; exit status 1 and one line if something is not proven.
Shares no code with the library, and uses Python's standard library only, so that what this accepts does not rest on it.

A proof has a schedule, and a bound: no schedule ends by T, one unit below it. The unit is the greatest common divisor
of all times, so that the least makespan is one of its multiples, and the bound must be one, too. That nothing ends by T
is seen either from windows of time that are too narrow for what must run in them, or from the walk of a search: `7`
adds job 7, `-` takes the last one away again. A node of the search is a set of jobs with their ends; the claim is that
no schedule that begins like this, and starts nothing before the last of them, ends by T. When a node is left, one of
these must hold:
  - a job that is next starts later than what must follow it allows;
  - before some moment the other jobs must do more than the machines can;
  - another node with the same jobs, as early or earlier and with no end later, was left before;
  - all next jobs were tried, but those that start when another one could have ended, and those that one which was tried
    replaces: as long, startable as early, and with all successors of the other."""
import argparse, bisect, math, re, sys

HEADER = 'weft proof 1: jobs on identical machines'
FIELDS = ['machines', 'unit', 'makespan', 'starts', 'bound', 'by']


def fail(message):
    print(message)
    sys.exit(1)


def read_graph(text):
    """Times and predecessors per task, the two that take no time included."""
    words = [whole(x) for line in text.split('\n') if not line.lstrip().startswith('#') for x in line.split()]
    rows, at = [], 1
    while at < len(words):
        task, time, many = words[at:at + 3]
        rows.append((task, time, words[at + 3:at + 3 + many]))
        at += 3 + many
    rows.sort()
    # Some files count the two that take no time, others do not.
    if at > len(words) or len(rows) - words[0] not in (0, 2) or [row[0] for row in rows] != list(range(len(rows))):
        fail('the graph has other tasks than its first line says')
    return [row[1] for row in rows], [row[2] for row in rows]


def read_proof(text):
    """What the fields say, as text, and the words of the walk."""
    lines = text.split('\n')
    if lines[0] != HEADER:
        fail('not a proof of this kind')
    said = [line.partition(' ')[::2] for line in lines[1:1 + len(FIELDS)]]
    if [field for field, _ in said] != FIELDS:
        fail('a proof has these lines: ' + ', '.join(FIELDS))
    return dict(said), ' '.join(lines[1 + len(FIELDS):]).split()


def topological(before):
    after, missing = [[] for _ in before], [len(u) for u in before]
    for v, sources in enumerate(before):
        for u in sources:
            after[u].append(v)
    order = [v for v, n in enumerate(missing) if n == 0]
    for v in order:
        for s in after[v]:
            missing[s] -= 1
            if missing[s] == 0:
                order.append(s)
    if len(order) < len(before):
        fail('the graph has a cycle')
    return order, after


def packing(chosen, machines, unit):
    """How long machines need for jobs, negated times in order: by their work, and as some machine has k + 1 of the
    longest k machines + 1 jobs."""
    least = -(sum(chosen) // (machines * unit)) * unit
    for k, last in enumerate(range(machines, len(chosen), machines), 1):
        least = max(least, -sum(chosen[last - k:last + 1]))
    return least


def longest_tails(times, before, machines, unit):
    """What must pass after the end of each job: the longest path, or what its descendants need and then the shortest
    tail."""
    order, after = topological(before)
    tail, below = [0] * len(times), [0] * len(times)
    for v in reversed(order):
        tail[v] = max((times[s] + tail[s] for s in after[v]), default=0)
        for s in after[v]:
            below[v] |= below[s] | 1 << s
        chosen = []
        for t, u in sorted(((tail[u], u) for u in order if below[v] >> u & 1), reverse=True):
            bisect.insort(chosen, -times[u])
            tail[v] = max(tail[v], packing(chosen, machines, unit) + t)
    return tail


def too_narrow(times, head, tail, machines, T, unit):
    """Whether some window of time must hold more than it can, in a schedule that ends by T."""
    if any(h + t + r > T for h, t, r in zip(head, times, tail)):
        return True
    by_tail = sorted(range(len(times)), key=lambda v: -tail[v])
    for a in set(head):
        chosen = []  # must be packed between a and T less their tails
        for v in by_tail:
            if head[v] >= a:
                bisect.insort(chosen, -times[v])
                if a + packing(chosen, machines, unit) + tail[v] > T:
                    return True
        # Whether it starts as early or as late as it can, a job runs for `part` after a, and not before `first`.
        jobs = [(max(a, T - r - t), min(t, h + t - a)) for h, t, r in zip(head, times, tail) if h + t > a]
        for b in {first + part for first, part in jobs}:
            if sum(min(part, b - first) for first, part in jobs if first < b) > machines * (b - a):
                return True
    return False


class Search:
    def __init__(self, times, before, machines, T, unit):
        self.times, self.before, self.T, self.n = times, before, T, len(times)
        _, self.after = topological(before)
        self.follow = [frozenset(s) for s in self.after]
        self.tail = longest_tails(times, before, machines, unit)
        self.latest = [T - r - t for t, r in zip(times, self.tail)]
        self.missing = [len(u) for u in before]
        self.ready = [0] * self.n
        self.next = {v for v in range(self.n) if not before[v]}
        self.ends = {}  # of jobs that have started
        self.left = {}  # by set of jobs: the nodes that were left, as time and ends
        self.nodes = 0
        self.stack = [(0, [0] * machines, set(), None)]  # time, when machines are free, jobs that were tried, the job

    def start(self, v):
        now, free = self.stack[-1][:2]
        return max(self.ready[v], now, free[0])

    def add(self, v):
        if v not in self.next:
            fail(f'job {v} is added where it cannot be next')
        at = self.start(v)
        now, free, tried, _ = self.stack[-1]
        tried.add(v)
        end = self.ends[v] = at + self.times[v]
        self.stack.append((at, sorted(free[1:] + [end]), set(), v))
        self.next.remove(v)
        for s in self.after[v]:
            self.missing[s] -= 1
            if self.missing[s] == 0:
                self.next.add(s)
                self.ready[s] = max(self.ends[u] for u in self.before[s])
        self.nodes += 1

    def back(self):
        if len(self.stack) < 2:
            fail('the walk goes back from where it began')
        self.close()
        v = self.stack.pop()[3]
        for s in self.after[v]:
            if self.missing[s] == 0:
                self.next.remove(s)
            self.missing[s] += 1
        del self.ends[v]
        self.next.add(v)

    def close(self):
        """The node at hand is left: why is there nothing in it?"""
        now, _, tried, _ = self.stack[-1]
        started = frozenset(self.ends)
        if len(started) == self.n:
            fail('the walk has a schedule that ends in time')
        alive = {v: end for v, end in self.ends.items() if end > now}
        if not (tried and self.all_tried()) and not self.is_late() and not self.is_known(now, started, alive) \
                and not self.is_overloaded() and not self.all_tried():
            fail(f'a node with {len(started)} jobs is left, but jobs that could be next were not tried')
        self.left.setdefault(started, []).append((now, alive))

    def is_late(self):
        return any(self.start(v) > self.latest[v] for v in self.next)

    def is_known(self, now, started, alive):
        return any(then <= now and all(end <= alive.get(v, now) for v, end in ends.items())
                   for then, ends in self.left.get(started, ()))

    def is_overloaded(self):
        """Whether the jobs that have not started must do more by some moment than the machines can."""
        now, free = self.stack[-1][:2]
        jobs = sorted((self.latest[v], self.times[v]) for v in range(self.n) if v not in self.ends)
        free = [max(now, x) for x in free]
        moments = {late + t for late, t in jobs} | {x for x in free}
        for moment in moments:
            load = 0
            for late, t in jobs:
                if late >= moment:
                    break
                load += min(t, moment - late)
            if load > sum(max(0, moment - x) for x in free):
                return True
        return bool(jobs) and jobs[0][0] < now

    def all_tried(self):
        tried = self.stack[-1][2]
        start = {v: self.start(v) for v in self.next}
        if any(self.times[v] == 0 and start[v] == min(start.values()) for v in tried):
            return True  # what takes no time can go first
        first_end = min((at + self.times[v] for v, at in start.items()), default=math.inf)
        return all(v in tried or (at >= first_end and at + self.times[v] > first_end) or
                   any(start[u] <= at and self.replaces(u, v) for u in tried) for v, at in start.items())

    def replaces(self, u, v):
        return self.times[u] == self.times[v] and self.follow[u] >= self.follow[v]


def check_schedule(times, before, machines, start):
    if len(start) != len(times) or any(x < 0 for x in start):
        fail('the schedule has no start for each job, or one before 0')
    for v, sources in enumerate(before):
        for u in sources:
            if start[u] + times[u] > start[v]:
                fail(f'job {v} starts at {start[v]}, before job {u} has ended')
    running = 0
    for _, change in sorted([(s + t, -1) for s, t in zip(start, times) if t]
                            + [(s, 1) for s, t in zip(start, times) if t]):
        running += change
        if running > machines:
            fail(f'the schedule runs more than {machines} jobs at once')
    return max(s + t for s, t in zip(start, times))


def whole(word):
    if not re.fullmatch('[0-9]+', word):
        fail(f'{word!r} is no whole number')
    return int(word)


def check(graph, proof, asked=None):
    """What the text of a proof claims about the text of a graph, if that is proven."""
    times, before = read_graph(graph)
    said, walk = read_proof(proof)
    machines, unit, makespan, bound = (whole(said[x]) for x in ('machines', 'unit', 'makespan', 'bound'))
    if machines < 1 or (asked is not None and machines != min(asked, len(times))):
        fail(f'the proof is for {machines} machines')
    if unit != math.gcd(*times):
        fail(f'the unit of these times is {math.gcd(*times)}, not {unit}')
    unit = unit or 1  # nothing takes time
    if check_schedule(times, before, machines, [whole(x) for x in said['starts'].split()]) != makespan:
        fail(f'the schedule does not end at {makespan}')
    if bound % unit != 0:
        fail(f'the bound {bound} is no multiple of the unit {unit}')
    if bound > makespan:
        fail(f'the bound {bound} is above the makespan {makespan}')
    T = bound - unit
    if said['by'] == 'windows':
        if walk:
            fail('more follows, but windows of time need nothing')
        backwards = reverse(before)
        head = longest_tails(times, backwards, machines, unit)
        tail = longest_tails(times, before, machines, unit)
        work = sum(times)
        if bound > 0 and not too_narrow(times, head, tail, machines, T, unit) and work <= machines * T:
            fail(f'no window shows that nothing ends by {T}')
    elif said['by'] in ('search forward', 'search backward'):
        search = Search(times, reverse(before) if said['by'] == 'search backward' else before, machines, T, unit)
        for word in walk:
            search.back() if word == '-' else search.add(whole(word))
        if len(search.stack) > 1:
            fail('the walk does not come back to where it began')
        search.close()
    else:
        fail(f'nothing is proven by {said["by"]!r}')
    return f'{machines} machines: ' + (f'optimal, {makespan}' if bound == makespan else f'from {bound} to {makespan}')


def main(graph, proof, asked):
    texts = []
    for path in (graph, proof):
        try:
            with open(path, errors='replace') as f:
                texts.append(f.read())
        except OSError as e:
            fail(f'{path}: {e.strerror}')
    try:
        print(check(*texts, asked))
    except (IndexError, KeyError, ValueError) as e:
        fail(f'{graph} is not a standard task graph, or {proof} is not a whole proof of it: {e!r}')


def reverse(before):
    after = [[] for _ in before]
    for v, sources in enumerate(before):
        for u in sources:
            after[u].append(v)
    return after


if __name__ == '__main__':
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument('graph')
    options.add_argument('proof')
    options.add_argument('--machines', type=int)
    a = options.parse_args()
    main(a.graph, a.proof, a.machines)
