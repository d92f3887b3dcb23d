#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs benchmark/records on shops of its own, and checks what it writes with a validator that shares no code with it:
records.py path/to/records"""
import contextlib, csv, io, os, random, subprocess, sys, tempfile

from program import check, finish, refused, run

TESTS = os.path.join(os.path.dirname(os.path.realpath(__file__)), '..')
sys.path.insert(0, TESTS)
import identical_devices_proof


def draw_shop(path, seed):
    r = random.Random(seed)
    machines = r.randint(1, 5)
    lines = [f'{r.randint(1, 6)} {machines}']
    for _ in range(int(lines[0].split()[0])):
        operations = r.randint(1, 5)
        words = [operations]
        for _ in range(operations):
            can = r.sample(range(1, machines + 1), r.randint(1, machines))
            words += [len(can)] + [x for m in can for x in (m, r.choice([0, r.randint(1, 9), r.randint(1, 9) / 4,
                                                                         r.randint(10**6, 10**7)]))]
        lines.append(' '.join(map(str, words)))
    with open(path, 'w') as f:
        f.write('\n'.join(lines) + '\n')
    return path


def checked(shop, schedule):
    checker = os.path.join(TESTS, 'job_shop_schedule.py')
    r = subprocess.run([sys.executable, checker, shop, schedule], capture_output=True, text=True)
    return r.returncode, r.stdout.strip()


def checked_proof(graph, proof):
    """The same for a graph, without another process: there are many."""
    said = io.StringIO()
    status = 0
    with contextlib.redirect_stdout(said):
        try:
            identical_devices_proof.main(graph, proof, None)
        except SystemExit as e:
            status = e.code
    return status, said.getvalue().strip()


def draw_graph(path, seed):
    r = random.Random(seed)
    few = r.random() < 0.6  # that do not fill their machines, and no bound sees it
    n = r.randint(7, 9) if few else r.randint(1, 24)
    density = 0 if few else r.choice([0, 0.1, 0.3])
    longest = 20 if few else r.choice([1, 5, 20])
    before = [[0]] + [[u for u in range(1, v) if r.random() < density] or [0] for v in range(1, n + 1)]
    ends = [v for v in range(1, n + 1) if not any(v in u for u in before)]
    lines = [n, '0 0 0'] + [f'{v} {r.randint(0, longest)} {len(u)} ' + ' '.join(map(str, u))
                            for v, u in enumerate(before) if v]
    lines.append(f'{n + 1} 0 {len(ends)} ' + ' '.join(map(str, ends)))
    with open(path, 'w') as f:
        f.write('\n'.join(map(str, lines)) + '\n')
    return path


def proofs(folder):
    """Graphs are proven, and what is broken in a proof is found."""
    graphs = [draw_graph(os.path.join(folder, f'graph{k}.stg'), k) for k in range(40)]
    r = run('--moves', 3000, '--machines', '3,4', '--write', folder, *graphs)
    check(r.returncode == 0, f'records ends well on graphs: {r.stderr[:300]}')
    rows = {line.split()[0]: line.split() for line in r.stdout.splitlines() if line.startswith('graph')}
    searched, broken, open_ones = 0, random.Random(1), 0
    for graph in graphs:
        for machines in (3, 4):
            name = f'{os.path.basename(graph)[:-4]}.{machines}'
            proof = os.path.join(folder, name + '.proof')
            status, said = checked_proof(graph, proof)
            makespan, bound = rows[name][3:5]
            check(status == 0 and said.split()[-1] == makespan and (bound == makespan) == ('optimal' in said),
                  f'{name}: {said}')
            open_ones += bound != makespan
            with open(proof) as f:
                lines = f.read().split('\n')
            wrong = []
            if float(makespan) > 0:
                unit = float(lines[2].split()[1])
                higher = [f'bound {float(makespan) + unit:g}' if x.startswith('bound') else x for x in lines]
                wrong += [higher, ['by windows' if x.startswith('by') else x for x in higher[:7]] + ['']]
                starts = lines[4].split()
                earlier = [s if k == 0 else str(float(s) - 1) for k, s in enumerate(starts)]
                wrong.append([x if x != lines[4] else ' '.join(earlier) for x in lines])
            walk = ' '.join(lines[7:]).split()
            if walk:
                searched += 1
                at = broken.choice([k for k in range(len(walk) - 1) if walk[k] != '-' and walk[k + 1] == '-'])
                rest = walk[:at] + walk[at + 2:]  # a node that nobody has visited
                wrong.append(lines[:7] + [' '.join(rest), ''])
            for k, x in enumerate(wrong):
                with open(proof, 'w') as f:
                    f.write('\n'.join(x))
                check(checked_proof(graph, proof)[0] == 1, f'{name}: broken in way {k}')
    check(searched >= 3, f'{searched} proofs by search')
    check(open_ones * 20 < len(graphs) * 2, f'{open_ones} are open')
    refused('--machines', '2,x', because='--machines')
    refused('--machines', '0', because='--machines')


def main(folder):
    shops = [draw_shop(os.path.join(folder, f'shop{k}.txt'), k) for k in range(20)]
    known = os.path.join(folder, 'known.csv')
    with open(known, 'w') as f:
        f.write('instance,lower_bound,best_known\nshop0,0,1e12\nshop1,0,1e12\n')
    r = run('--moves', 2000, '--write', folder, '--known', known, *shops)
    check(r.returncode == 0, f'records ends well: {r.stderr[:300]}')
    rows = {line.split()[0]: line.split() for line in r.stdout.splitlines() if line.startswith('shop')}
    check('2 with published values' in r.stdout and 'better 2' in r.stdout, 'it counts what is better than published')
    for shop in shops:
        name = os.path.basename(shop)[:-4]
        schedule = os.path.join(folder, name + '.csv')
        status, said = checked(shop, schedule)
        check(status == 0 and abs(float(said) - float(rows[name][3])) <= 1e-5 * float(rows[name][3]),
              f'{name}: {said} for {rows[name][3]}')
        with open(schedule, newline='') as f:
            lines = list(csv.DictReader(f))
        longest = max(lines, key=lambda x: float(x['finish']) - float(x['start']))
        if float(longest['finish']) > float(longest['start']):
            longest['finish'] = str(float(longest['finish']) - 0.5)
            with open(schedule, 'w', newline='') as f:
                out = csv.DictWriter(f, longest.keys())
                out.writeheader()
                out.writerows(lines)
            check(checked(shop, schedule)[0] == 1, f'{name}: an operation that ends too soon is found')
    shop = os.path.join(folder, 'three.txt')
    with open(shop, 'w') as f:
        f.write('3 1\n1 1 1 10\n1 1 1 0\n1 1 1 2\n')
    for rows, good in (('1.1,1,0,10\n2.1,1,5,5\n3.1,1,10,12', True), ('1.1,1,0,10\n2.1,1,5,5\n3.1,1,6,8', False),
                       ('1.1,1,nan,nan\n2.1,1,5,5\n3.1,1,6,8', False), ('1.1,1,0,10\n2.1,1,5,5', False)):
        with open(schedule, 'w') as f:
            f.write('operation,machine,start,finish\n' + rows + '\n')
        check((checked(shop, schedule)[0] == 0) == good, f'the checker on {rows}')
    again = run('--moves', 2000, *shops)
    check([x.split()[3] for x in again.stdout.splitlines() if x.startswith('shop')] ==
          [x.split()[3] for x in r.stdout.splitlines() if x.startswith('shop')], 'the same again')
    with open(known, 'w') as f:
        f.write('instance,lower_bound,best_known\nshop0,1e12,1e12\n')
    r = run('--moves', 2000, '--known', known, shops[0])
    check(r.returncode == 1 and 'below the published bound' in r.stdout, 'a makespan below a bound is an error')
    refused('--known', os.path.join(folder, 'nothing.csv'), because='no published values')
    refused('--mvoes', 3, because='unknown option')
    refused('--seconds', 'ten', because='--seconds')


with tempfile.TemporaryDirectory() as folder:
    main(folder)
    proofs(folder)
finish()
