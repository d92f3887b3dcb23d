#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs benchmark/records on shops of its own, and checks what it writes with a validator that shares no code with it:
records.py path/to/records"""
import csv, os, random, subprocess, sys, tempfile

from program import check, finish, refused, run

CHECK = os.path.join(os.path.dirname(os.path.realpath(__file__)), '..', 'job_shop_schedule.py')


def draw_shop(path, seed):
    r = random.Random(seed)
    machines = r.randint(1, 5)
    lines = [f'{r.randint(1, 6)} {machines}']
    for _ in range(int(lines[0].split()[0])):
        operations = r.randint(1, 5)
        words = [operations]
        for _ in range(operations):
            can = r.sample(range(1, machines + 1), r.randint(1, machines))
            words += [len(can)] + [x for m in can for x in (m, r.choice([0, r.randint(1, 9), r.randint(1, 9) / 4, r.randint(10**6, 10**7)]))]
        lines.append(' '.join(map(str, words)))
    with open(path, 'w') as f:
        f.write('\n'.join(lines) + '\n')
    return path


def checked(shop, schedule):
    r = subprocess.run([sys.executable, CHECK, shop, schedule], capture_output=True, text=True)
    return r.returncode, r.stdout.strip()


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
        check(status == 0 and abs(float(said) - float(rows[name][3])) <= 1e-5 * float(rows[name][3]), f'{name}: {said} for {rows[name][3]}')
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


with tempfile.TemporaryDirectory() as folder:
    main(folder)
finish()
