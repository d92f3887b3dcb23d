#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs the `compare` program as a user would: compare.py path/to/compare"""
import csv, io, json, os, re, tempfile

from program import check, check_help, finish, refused, run

HEADER = ('workload,platform,partition,schedule,repeat,seed,status,makespan,lower_bound,gap,transfer_bytes,peak_memory,'
          'partition_seconds,schedule_seconds,simulate_seconds,refine,objective,bound,refine_seconds,'
          'order')
NET, PLATFORM = 'zoo:mnist_conv', 'preset:paper_like_10'
GRAPH = 'Id,outgoing,incoming,colocation,size,ops,RAM,constraint,name\n0,1,,,5,10,1,NO,a\n1,,0,,5,10,1,NO,b\n'
DEVICES = 'Id,RAM,ops,rates,type\n0,100,10,5,CPU\n1,100,20,,GPU\n'


def rows(*arguments):
    r = run(*arguments, '--format', 'csv')
    check(r.returncode == 0 and not r.stderr, f'{arguments} runs quietly: {r.returncode} {r.stderr[:200]}')
    check(r.stdout.split('\n', 1)[0] == HEADER, 'the CSV header')
    return list(csv.DictReader(io.StringIO(r.stdout)))


def without_times(table):
    return [{k: v for k, v in row.items() if not k.endswith('_seconds')} for row in table]


def energy(write):
    """--objective energy, by the watts of a laptop."""
    watts = [(2, 35), (4, 90), (0.5, 8)]
    laptop = write('laptop.json', json.dumps({
        'format': 'weft.platform', 'version': 1,
        'devices': [{'name': kind, 'kind': kind, 'speed': speed, 'memory_bandwidth': 9e10, 'idle_watts': idle,
                     'active_watts': active}
                    for kind, speed, (idle, active) in zip(('cpu', 'gpu', 'npu'), (1e12, 1.2e13, 5e12), watts)],
        'links': {'uniform': {'latency': 1e-5, 'bandwidth': 1e9, 'joules_per_byte': 1e-10}}}))
    on_laptop = ('--workload', NET, '--platform', laptop, '--objective', 'energy', '--budget', '500moves')
    for contention in ('none', 'port', 'fair'):
        under = (*on_laptop, '--contention', contention)
        traces = os.path.join(os.path.dirname(laptop), 'joules_' + contention)
        made = run(*under, '--partition', 'hash,heft,best', '--schedule', 'static_order,best', '--format', 'csv',
                   '--traces', traces)
        r = {x['partition']: x for x in csv.DictReader(io.StringIO(made.stdout))}
        check(len(r) == 3 and all(x['objective'] == 'energy' and x['status'] in ('solved', 'optimal') and
                                  float(x['makespan']) >= float(x['lower_bound']) * (1 - 1e-9) > 0
                                  for x in r.values()), f'energies above their bound: {made.stdout} {made.stderr}')
        for name in os.listdir(traces):
            with open(os.path.join(traces, name)) as f:
                trace = json.load(f)
            row = r[next(p for p in r if f'-{p}-' in name)]
            joules = 1e-10 * float(row['transfer_bytes']) + sum(idle for idle, _ in watts) * trace['makespan']
            for op in trace['ops']:
                idle, active = watts[op['device']]
                joules += (active - idle) * (op['finish'] - op['start'])
            check(abs(joules / float(row['makespan']) - 1) < 1e-9, f'{joules} J by hand: {name} {row}')
        check(len(os.listdir(traces)) == 3, 'a trace for each energy')
        check(float(r['best']['makespan']) <= float(r['heft']['makespan']) <= float(r['hash']['makespan']),
              f'best takes the least: {r}')
    refined = rows(*on_laptop, '--partition', 'hash', '--schedule', 'static_order', '--refine', 'all')
    by_refiner = {x['refine']: float(x['makespan']) for x in refined}
    check(len(by_refiner) == 6 and all(x < by_refiner['none'] for name, x in by_refiner.items() if name != 'none'),
          f'each refiner saves energy: {by_refiner}')
    page = write('energy.html', '')
    text = run(*on_laptop, '--partition', 'hash,heft', '--schedule', 'fifo,static_order', '--html', page).stdout
    check('J]' in text and 'gain' in text and 'Best: ' in text and ', energy ' in text and 'speed-up' not in text and
          'hash + fifo takes' in text, f'the table is of joules: {text}')
    with open(page) as f:
        html = f.read()
    check('>Energy</th>' in html and '"unit":"J"' in html, 'the report is of joules')
    refused('--workload', NET, '--platform', PLATFORM, '--objective', 'energy', because='idle_watts and active_watts')
    refused('--workload', 'suite:fft', '--objective', 'energy', because="the devices of 'suite:fft")


def memory(write):
    """A colocated chain whose reservations do not fit on the fast device, but whose runs do."""
    chain = write('chain.json', json.dumps({'format': 'weft.workload', 'version': 1, 'ops': [
        {'name': name, 'work': 8, 'outputs': [40], 'group': 'g', **({'inputs': [before]} if before else {})}
        for name, before in (('a', None), ('b', 'a'), ('c', 'b'))]}))
    pair = write('pair.json', json.dumps({'format': 'weft.platform', 'version': 1, 'devices': [
        {'name': 'slow', 'kind': 'cpu', 'speed': 1, 'memory': 1000, 'idle_watts': 1, 'active_watts': 2},
        {'name': 'fast', 'kind': 'cpu', 'speed': 8, 'memory': 100, 'idle_watts': 1, 'active_watts': 2}],
        'links': {'uniform': {'latency': 1, 'bandwidth': 10}}}))
    task = ('--workload', chain, '--platform', pair, '--work', 'seconds')
    both = (*task, '--partition', 'heft,branch_and_bound,best', '--schedule', 'static_order,best', '--budget',
            '500moves')
    check([x['makespan'] for x in rows(*both)] == ['24', '24', '24'], 'reserved: all on the slow device')
    for contention in ('none', 'port', 'fair'):
        for objective, values in (('makespan', ['24', '24', '3']), ('energy', ['72', '72', '9'])):
            r = rows(*both, '--memory', 'over_time', '--contention', contention, '--objective', objective)
            check([x['makespan'] for x in r] == values and [x['status'] for x in r] == ['solved', 'solved', 'optimal'],
                  f'over time: {contention}, {objective}: {r}')
            check(all(float(x['lower_bound']) <= float(values[2]) for x in r), f'a bound on all of them: {r}')
    refused(*task, '--memory', 'over_time', because='for --partition best')
    refused(*both, '--objective', 'period', '--memory', 'over_time', because='leave it out')
    fast = write('fast.json', json.dumps({'format': 'weft.schedule', 'version': 1, 'ops': [
        {'op': name, 'device': 'fast', 'start': i, 'finish': i + 1} for i, name in enumerate('abc')]}))
    r = run(*task, '--validate', fast)
    check(r.returncode == 0 and 'valid; makespan 3 s' in r.stdout, f'the bound is not one of reservations: {r.stdout}')


HEFT_PAPER = """digraph { 1->2 [size=18] 1->3 [size=12] 1->4 [size=9] 1->5 [size=11] 1->6 [size=14] 2->8 [size=19]
2->9 [size=16] 3->7 [size=23] 4->8 [size=27] 4->9 [size=23] 5->9 [size=13] 6->8 [size=15] 7->10 [size=17]
8->10 [size=11] 9->10 [size=13] }"""
HEFT_TIMES = [(14, 16, 9), (13, 19, 18), (11, 13, 19), (13, 8, 17), (12, 13, 10), (13, 16, 9), (7, 15, 11), (5, 11, 14),
              (18, 12, 20), (21, 7, 16)]


def times_tables(write):
    """Times of all ops on all devices: the example of the paper on HEFT, which has 80 for it and 86 for CPOP."""
    graph = write('heft.dot', HEFT_PAPER)
    problem = ('--workload', graph, '--platform', 'random:related,devices=3,bandwidth=1')
    how = ('--partition', 'heft,cpop,best', '--schedule', 'static_order,best')

    def table(lines, header='name,0,1,2'):
        return write('times.csv', '\n'.join([header, *lines]) + '\n')

    lines = [f'{i + 1},' + ','.join(map(str, t)) for i, t in enumerate(HEFT_TIMES)]
    found = {r['partition']: float(r['makespan']) for r in rows(*problem, *how, '--times-table', table(lines))}
    check(found['heft'] == 80 and found['cpop'] == 86 and found['best'] <= 80, f"as in the paper: {found}")
    shown = run(*problem, *how, '--times-table', table(lines)).stdout
    check("all ops take the times of '" in shown and 'units look wrong' not in shown, f'what times rest on: {shown}')

    def bad(lines, because, header='name,0,1,2', problem=problem, more=()):
        refused(*problem, *how, '--times-table', table(lines, header), *more, because=because)

    bad(lines[:-1], "op 9 '10' on device 0 'cpu0' has no time")
    bad([x.rsplit(',', 1)[0] for x in lines], 'has 3 columns, and the header has 4')
    bad([x.rsplit(',', 1)[0] for x in lines], "op 0 '1' on device 2 'cpu2' has no time", 'name,0,1')
    bad(lines, 'there is no op 10: numbers go from 0 to 9', 'op,0,1,2')
    bad(lines, "there is no device 'P1'", 'name,P1,P2,P3')
    bad(['1,-14,16,9', *lines[1:]], "times.csv:2: op 0 '1' on device 0 'cpu0': the time '-14' is negative")
    bad(['1,,16,9', *lines[1:]], "op 0 '1' on device 0 'cpu0': the time is empty")
    bad(lines, 'write op,device,seconds above', 'task,P1,P2,P3')
    bad(lines, 'leave one of them out', more=('--work', 'seconds'))
    bad(lines, 'of one workload on one platform',
        problem=('--workload', graph, '--platform', 'identical:3,identical:4'))
    bad(lines, '--times-table has no effect on the suite', problem=('--workload', 'suite:fft/ccr 1/related'))
    refused(*problem, '--times-table', 'none.csv', because="none.csv")

    # Ten years are a sign of other units
    years = run('--workload', 'zoo:mnist_conv', '--platform', 'identical:2', '--partition', 'heft', '--schedule',
                'fifo')
    check('years here, so units look wrong: work is taken to be FLOP, and the fastest device of identical:2 makes 1 of'
          in years.stdout and 'workstation_2gpu' in years.stdout, f'FLOP at 1 per second: {years.stdout}')
    blink = run('--workload', graph, '--platform', 'workstation_2gpu', '--work', 'flop', '--partition', 'heft',
                '--schedule', 'fifo', '--peak-rates')
    check('units look wrong' in blink.stdout, f'FLOP of single ops: {blink.stdout}')
    usual = run('--workload', 'zoo:mnist_conv', '--platform', 'workstation_2gpu', '--partition', 'heft', '--schedule',
                'fifo')
    check('units look wrong' not in usual.stdout and usual.returncode == 0, f'usual times: {usual.stdout}')

    # A device that an op lacks is named
    alone = write('gpu.json', json.dumps({'format': 'weft.platform', 'version': 1,
                                          'devices': [{'kind': 'gpu', 'speed': 1e12}]}))
    need = write('load.json', json.dumps({'format': 'weft.workload', 'version': 1, 'ops': [
        {'name': 'load', 'work': 1e9, 'kinds': ['cpu']}]}))
    lacks = run('--workload', need, '--platform', alone, '--partition', 'heft', '--schedule', 'fifo')
    check("op 0 'load' fits nowhere: it allows only cpu and the platform has no such device; add a cpu device to the "
          'platform' in lacks.stdout, f'a platform without a CPU: {lacks.stdout}')

    # Sends occupy the sender only where that is asked for
    def moved(platform):
        return float(rows('--workload', 'random:layered,ops=60,ccr=1', '--platform', platform, '--partition', 'heft',
                          '--schedule', 'static_order')[0]['makespan'])

    free, given = moved('random:heterogeneous,devices=5'), moved('random:heterogeneous,devices=5,send_work=10')
    check(free == moved('random:heterogeneous,devices=5,send_work=0') and free != given,
          f'sends take no time of the sender unless told otherwise: {free}, {given}')


def orders(write):
    """Rows say whose order ran, and tables mark those that are not the partitioner's."""
    some = ('--workload', 'random:layered,ops=30,ccr=1', '--platform', 'random:related', '--partition',
            'hash,heft,best', '--schedule', 'fifo,static_order,best')
    order = {(r['partition'], r['schedule']): r['order'] for r in rows(*some)}
    check(order == {('hash', 'fifo'): 'undecided', ('hash', 'static_order'): 'undecided', ('heft', 'fifo'): 'replaced',
                    ('heft', 'static_order'): 'own', ('best', 'best'): 'own'}, f'whose order ran: {order}')
    table = run(*some).stdout
    marked = sorted(' '.join(line.replace('*', '').split()[:2]) for line in table.splitlines()
                    if '°' in line and not line.startswith('  °'))
    check(marked == ['hash fifo°', 'hash static_order°', 'heft fifo°'], f'marks: {marked}')
    check('  ° ordered by the ready policy; static_order keeps the order planned by heft; none is planned by hash\n' in
          table, f'what the mark means: {table}')
    kept = json.loads(run(*some, '--format', 'json').stdout)
    check(kept['runs'][0]['order'] == 'undecided' and any(c['order'] == 'own' for c in
          kept['sections'][0]['combinations']), 'JSON has the order, too')
    refined = rows(*some[:4], '--partition', 'hash', '--schedule', 'static_order', '--refine', 'local_search')
    check(refined[0]['order'] == 'own', f'a refiner decides an order: {refined}')


def main(folder):
    def write(name, text):
        path = os.path.join(folder, name)
        with open(path, 'w') as f:
            f.write(text)
        return path

    def using(workload=NET, platform=PLATFORM, *more):
        return ('--workload', workload, '--platform', platform, '--partition', 'hash', '--schedule', 'fifo', *more)

    # Results
    table = rows('--workload', f'{NET},zoo:dynamic_rnn', '--platform', PLATFORM, '--partition', 'hash,dfs,mite',
                 '--schedule', 'fifo,path_completion_time', '--repeat', '3', '--seed', '5')
    check(len(table) == 2 * 3 * 2 * 3, f'{len(table)} rows, not 36')
    check([r['seed'] for r in table if r['repeat'] == '2'] == ['7'] * 12, 'repeat 2 of seed 5 has seed 7')
    for r in table:
        check(r['status'] in ('solved', 'optimal') and float(r['makespan']) >= float(r['lower_bound']) * (1 - 1e-9),
              f'a makespan below the bound: {r}')
        check(abs(float(r['gap']) - (float(r['makespan']) / float(r['lower_bound']) - 1)) < 1e-9, f'gap of {r}')
    arguments = ('--workload', f'{NET},zoo:dynamic_rnn', '--platform', PLATFORM, '--partition', 'hash,dfs,mite',
                 '--schedule', 'fifo,path_completion_time', '--repeat', '3', '--seed', '5')
    check(without_times(rows(*arguments, '--jobs', '2')) == without_times(table), 'two jobs give what one gives')
    check(without_times(rows(*arguments)) == without_times(table), 'a second run gives the same')
    names = rows('--workload', NET, '--platform', PLATFORM)
    known = {kind: set(re.split(r',\s*', re.search(rf'^  {kind}: +(.*?)(?=^  \w+:)', run('--help', 'all').stdout,
                                                  re.S | re.M)[1].strip())) for kind in ('partition', 'schedule')}
    check(all({r[kind] for r in names} == known[kind] for kind in known) and
          len(names) == len(known['partition']) * len(known['schedule']) > 100,
          'all is every partitioner with every ready policy of --help')
    check(all(r['refine'] == 'none' and r['objective'] == 'makespan' and r['refine_seconds'] == '' for r in names),
          'nothing is refined unless asked for')
    check({r['bound'] for r in names}
          <= {'critical_path', 'communication_path', 'area', 'group_load', 'windows', 'search'},
          'the bound has a name')
    slower = rows(*using(NET, PLATFORM, '--contention', 'port'))
    check(len(slower) == 1 and float(slower[0]['makespan']) > 0, 'contention port')

    # Refinement, best, other objectives
    arguments = ('--workload', NET, '--platform', PLATFORM, '--partition', 'hash,heft', '--schedule',
                 'static_order,fifo', '--refine', 'all', '--budget', '300moves')
    refined = rows(*arguments)
    check(len(refined) == 2 * 6 * 2, f'{len(refined)} rows, not 24')
    check(without_times(rows(*arguments, '--jobs', '2')) == without_times(refined),
          'refinement by moves is the same again')
    plain = {(r['partition'], r['schedule']): float(r['makespan']) for r in refined if r['refine'] == 'none'}
    check(all(float(r['makespan']) <= plain[r['partition'], r['schedule']] for r in refined), 'refiners never worsen')
    check(any(float(r['makespan']) < plain[r['partition'], r['schedule']] for r in refined), 'refiners improve hash')
    check(all((r['refine_seconds'] == '') == (r['refine'] == 'none') for r in refined), 'refinement takes time')
    whole = ('--workload', NET, '--platform', PLATFORM, '--partition', 'best', '--schedule', 'best')
    r = rows(*whole, '--budget', '20000moves')
    check(len(r) == 1 and r[0]['partition'] == r[0]['schedule'] == 'best' and
          float(r[0]['makespan']) <= min(plain.values()) * (1 + 1e-9), f'best is not worse than heft: {r}')
    check(without_times(rows(*whole, '--budget', '20000moves', '--jobs', '2')) == without_times(r),
          'best on two threads')
    check(len(rows(*whole, '--budget', '0.05')) == 1, 'best with seconds')
    r = rows('--workload', NET, '--platform', PLATFORM, '--partition', 'heft,best', '--schedule', 'fifo,best',
             '--budget', '2000moves')
    check([(x['partition'], x['schedule']) for x in r] == [('heft', 'fifo'), ('best', 'best')],
          f'best beside others: {r}')
    r = rows('--workload', NET, '--platform', PLATFORM, '--partition', 'hash,heft,best', '--objective', 'period',
             '--budget', '20000moves')
    check([x['schedule'] for x in r] == ['none'] * 3 and r[0]['objective'] == 'period',
          f'periods have no schedule: {r}')
    check(float(r[2]['makespan']) <= float(r[0]['makespan']) * (1 + 1e-9), f'the best period: {r}')
    check(all(float(x['makespan']) >= float(x['lower_bound']) * (1 - 1e-6) for x in r),
          f'periods above their bound: {r}')
    r = rows(*using(NET, PLATFORM, '--objective', 'latency'))
    check(r[0]['objective'] == 'latency' and r[0]['schedule'] == 'fifo', 'the latency of one run is its makespan')
    energy(write)
    memory(write)
    stg = write('tasks.stg', '3\n0 0 0\n1 2 1 0\n2 2 1 0\n3 2 1 0\n4 0 3 1 2 3\n')
    r = rows('--workload', stg, '--platform', 'identical:2', '--partition', 'best', '--schedule', 'best')
    check(r[0]['makespan'] == '4' and r[0]['status'] == 'optimal', f'three tasks of 2 on two processors take 4: {r}')
    study = write('study.json', json.dumps({
        'maxSizePerFPGA': 10, 'maxFPGAs': 2, 'maxCPUs': 1,
        'nodes': [{'id': i, 'name': f'n{i}', 'supportedOnFpga': True, 'cpuLatency': 50, 'fpgaLatency': 4,
                   'isBackwardNode': False, 'size': 5} for i in range(4)],
        'edges': [{'sourceId': i, 'destId': i + 1, 'cost': 1} for i in range(3)]}))
    placing = ('--workload', study, '--partition', 'best', '--schedule', 'best', '--budget', '5000moves')
    r = rows(*placing, '--objective', 'period')
    check(r[0]['transfer_bytes'] == r[0]['peak_memory'] == '', f'nothing is simulated for a period: {r}')
    check(r[0]['makespan'] == '9' and r[0]['platform'] == 'own devices', f'two ops and a transfer each: {r}')
    shop = write('shop.txt', '2 2 1.5\n2  1 1 3  2 1 1 2 4\n2  2 1 2 2 2.5  1 2 2\n')
    r = rows('--workload', shop, '--partition', 'best', '--schedule', 'best', '--budget', '5000moves')
    check([x['platform'] for x in r] == ['own devices'] and r[0]['makespan'] == '4.5' and r[0]['status'] == 'optimal',
          f'a job shop brings its machines: {r}')
    plain = write('plain.txt', 'instance ab12\n++++\nSome authors, 2x2\n 2 2\n 0 3 1 2\n 0 4 1 1\n++++\n')
    listed = write('shop.json', json.dumps({'jobs': [[{'machine': 0, 'duration': 3}, {'machine': 1, 'duration': 2}],
                                                     [{'machine': 0, 'duration': 4}, {'machine': 1, 'duration': 1}]]}))
    for file in (plain, listed):
        r = rows('--workload', file, '--partition', 'best', '--schedule', 'best', '--budget', '5000moves')
        check(r[0]['makespan'] == '8' and r[0]['status'] == 'optimal', f'both jobs begin on the first machine: {r}')

    def workflow(name, *cores):
        tasks = [{'name': f't{i}', 'id': f't{i}', 'parents': [], 'children': []} for i in range(len(cores))]
        records = [{'id': f't{i}', 'runtimeInSeconds': 10, 'coreCount': c} for i, c in enumerate(cores)]
        return write(name, json.dumps({'schemaVersion': '1.5', 'workflow': {
            'specification': {'tasks': tasks, 'files': []}, 'execution': {'tasks': records, 'machines': []}}}))

    def nodes(name, slots):
        return write(name, json.dumps({'format': 'weft.platform', 'version': 1, 'links': {'uniform': {}},
                                       'devices': [{'kind': 'cpu', 'speed': 1, 'slots': slots, 'count': 2}]}))

    search = ('--partition', 'best', '--schedule', 'best', '--budget', '5000moves')
    four = workflow('four.json', 4, 4, 4, 4)
    for platform, seconds in ((nodes('n4.json', 4), '20'), (nodes('n1.json', 1), '20'), (nodes('n8.json', 8), '10')):
        r = rows('--workload', four, '--platform', platform, *search)
        check(r[0]['makespan'] == seconds and r[0]['status'] == 'optimal', f'tasks of 4 cores on {platform}: {r}')
    both = ','.join((nodes('n4.json', 4), nodes('n8.json', 8)))
    check([x['makespan'] for x in rows('--workload', four, '--platform', both, *search)] == ['20', '10'],
          'two platforms')
    refused('--workload', workflow('mixed.json', 4, 1), '--platform', nodes('n4.json', 4), *search,
            because='device 0: has 4 slots, and ops take 1 to 4 of them at once')
    unread = write('unread.dot', 'digraph { a [exec_time=2]; b [exec_time=3]; a -> b }')
    out = run('--workload', unread, '--platform', 'identical:2', *search).stdout
    check('numbers that are not read: exec_time' in out, f'weights that nobody understood are told: {out}')
    check(float(rows(*placing, '--objective', 'latency')[0]['makespan']) == 18,
          'both accelerators, one after the other')
    check('9.000 ms' in run(*placing, '--objective', 'period').stdout, 'the table says that these are milliseconds')
    r = rows('--workload', 'suite:fft/ccr 1', '--partition', 'heft', '--schedule', 'static_order')
    check(len(r) == 3 and r[0]['workload'] == 'suite:fft/ccr 1/identical/1', f'a part of the suite: {r}')
    check('All 3 problems' in run('--workload', 'suite:fft/ccr 1', '--partition', 'heft', '--schedule', 'fifo').stdout,
          'a summary over several problems')

    # Files, infeasibility, other formats
    graph, devices = write('graph.csv', GRAPH), write('devices.csv', DEVICES)
    r = rows('--workload', graph, '--platform', devices, '--partition', 'branch_and_bound', '--schedule',
             'static_order')
    check(r[0]['status'] == 'optimal' and float(r[0]['makespan']) == 1 and r[0]['workload'] == 'graph',
          f'both ops run on the faster device: {r}')
    tpu = write('tpu.csv', GRAPH.replace('NO,b', 'TPU,b'))
    r = rows(*using(tpu, devices))
    check(len(r) == 1 and r[0]['status'] == 'infeasible' and r[0]['makespan'] == '', f'an infeasible row: {r}')
    large = write('large.csv', GRAPH.replace('10,1,NO,b', '10,500,NO,b'))
    table = run(*using(large, devices))
    check(table.returncode == 0 and "op 1 'b'" in table.stdout and '510 B' in table.stdout,
          f'the table says which op does not fit: {table.stdout}')
    data = json.loads(run(*using(NET, PLATFORM, '--format', 'json')).stdout)
    check('runs' in data, 'JSON output')
    notes = data['sections'][0]['notes']
    check(any('speeds' in note or 'rates' in note for note in notes), f'JSON says what costs rest on: {notes}')
    html, trace = os.path.join(folder, 'r.html'), os.path.join(folder, 't.json')
    r = run(*using(NET, PLATFORM, '--html', html, '--trace', trace))
    check(r.returncode == 0, f'writes a report and a trace: {r.stderr}')
    with open(html) as f:
        page = f.read()
    check('echarts' in page and not re.search(r'<(script|link|img)[^>]*(src|href)\s*=\s*["\']?https?:', page),
          'the report needs no network')
    with open(trace) as f:
        check(json.load(f)['traceEvents'], 'the trace has events')
    check_help()
    check('iterated_critical_path' in run('--help', 'strategies').stdout, '--help teaches')

    both = os.path.join(folder, 'both.html')
    r = run('--workload', 'suite:lu/ccr 1', '--partition', 'hash,heft,best', '--schedule', 'static_order,best',
            '--refine', 'none,local_search', '--budget', '500moves', '--html', both)
    with open(both) as f:
        page = f.read()
    check(r.returncode == 0 and 'Performance profile' in page and 'heft + local_search' in page,
          'a report over the suite')
    r = run(*placing, '--objective', 'period', '--html', both, '--trace', trace)
    check(r.returncode == 0 and 'no trace written' in r.stderr, f'a period has no trace: {r.stderr}')
    check(' 0 B' not in r.stdout, f'what was not computed is not shown: {r.stdout}')
    with open(both) as f:
        check('>Period</th>' in f.read(), 'the report says what is small')

    # Tables
    few = run('--workload', NET, '--platform', 'paper_like_10')
    check(f'{len(names) - 20} more: --top all shows them' in few.stdout, f'the first 20 rows: {few.stdout[-600:]}')
    for top, count in (('3', 3), ('all', len(names)), ('0', len(names)), ('1000', len(names))):
        table = run('--workload', NET, '--platform', 'paper_like_10', '--top', top).stdout
        got = len(re.findall(r'^[* ] \S+ +\S+ +1 ', table, re.M))
        check(got == count, f'--top {top} shows {got} rows, not {count}')
    check(len(rows('--workload', NET, '--platform', PLATFORM, '--top', '1')) == len(names), '--top is for tables')
    check('work / speed' in few.stdout, f'what costs rest on stands under the table: {few.stdout[-600:]}')
    gaps = run('--workload', stg, '--platform', 'identical:2', '--partition', 'best', '--schedule', 'best').stdout
    check('-0.0 %' not in gaps, f'nothing is minus zero: {gaps}')

    # Random graphs
    related = 'random:related,devices=4,max_speed=3'
    drawn = ('--platform', related, '--partition', 'heft,hash', '--schedule', 'static_order')
    r = rows('--workload', 'random:layered,ops=40,ccr=2,count=3,seed=5,random:cholesky,tiles=4', *drawn)
    check([x['workload'] for x in r[::2]] == [f'random:layered ops=40 ccr=2/{i}' for i in (5, 6, 7)] +
          ['random:cholesky tiles=4'], f'items keep their parameters, and graphs have their seeds: {r[::2]}')
    check(r[0]['platform'] == 'random:related devices=4 max_speed=3', f'the name of a drawn platform: {r[0]}')
    check(without_times(rows('--workload', 'random:layered,ops=40,ccr=2,seed=6', *drawn)) == without_times(r[2:4]),
          'one of several graphs is the same alone, and a second run gives the same')
    sizes = {c: float(rows('--workload', f'random:layered,ops=40,ccr={c}', *drawn)[1]['transfer_bytes'])
             for c in (1, 3)}
    check(abs(sizes[3] / sizes[1] - 3) < 1e-3, f'the ratio scales bytes: {sizes}')
    for family in ('layered', 'random_dag', 'fork_join', 'series_parallel', 'fft', 'gaussian_elimination', 'cholesky',
                   'lu', 'stencil_1d', 'stencil_2d'):
        r = rows('--workload', f'random:{family},ccr=1', *drawn)
        check(len(r) == 2 and r[0]['status'] in ('solved', 'optimal'), f'{family}: {r}')
        check(re.search(rf'^  random:{family}\s', run('--help', 'models').stdout, re.M), f'--help teaches {family}')
    check(len(rows('--workload', 'random:layered,ops=40', '--platform', 'random:heterogeneous,devices=5', '--partition',
                   'heft', '--schedule', 'fifo')) == 1, 'heterogeneous devices')
    note = run('--workload', 'random:layered,ccr=2', *drawn).stdout
    check('transfers take 2 times as long as ops on average' in note, f'the ratio is told: {note[-400:]}')
    refused('--workload', 'random:layerd', *drawn, because='choose one of layered, random_dag, fork_join')
    refused('--workload', 'random:fft,ops=3', *drawn, because='fft has points, block, ccr')
    refused('--workload', 'random:series_parallel,parallel_share=2', *drawn,
            because='parallel_share: must be from 0 to 1')
    refused('--workload', 'random:layered,ops=x', *drawn, because="'x' is not a whole number")
    refused('--workload', 'random:layered,ccr=1', '--platform', 'identical:4', because='random:related')
    refused('--workload', 'random:layered', '--platform', 'random:relatd',
            because='choose one of related, heterogeneous')
    refused('--workload', 'random:layered', '--platform', 'dgx_a100', because='--work flop or --work seconds')
    refused('--workload', 'random:layered', *drawn, '--batch', '3', because='--batch is for')

    # What random graphs and platforms are asked for is what is made, or refused
    refused('--workload', 'random:layered,ops=20,ccr=0.1', '--platform', 'random:related,bandwidth=1', *drawn[2:],
            because='whole bytes allow only')
    refused('--workload', 'random:layered,ops=20,ccr=0.1', '--platform', 'random:related,bandwidth=1', *drawn[2:],
            because='random:related,bandwidth=1e9')
    r = rows('--workload', 'random:layered,ops=40,ccr=0', *drawn)
    check(all(x['transfer_bytes'] == '0' for x in r), f'a ratio of 0 leaves no bytes: {r}')
    r = run('--workload', 'random:layered,ops=40,ccr=0,in_degree=0', *drawn)
    check(r.returncode == 2 and 'some edge must carry bytes' in r.stderr and 'another platform' not in r.stderr,
          f'no other platform has edges: {r.stderr}')
    refused('--workload', 'random:layered,ops=0', *drawn, because='ops: must be at least 1')
    refused('--workload', 'random:layered,ops=1e12', *drawn, because='at most 10000000 are made')
    refused('--workload', 'random:layered', '--platform', 'random:related,devices=5000', because='at most 4096')
    refused('--workload', 'random:layered,count=0', *drawn, because='random:layered,count=0: count: must be')
    refused('--workload', 'ops=10', *drawn, because='parameters follow a family, as in random:layered,ops=10')
    for spaced in (('random:layered,ops=4e1, ccr=2',), ('random:layered,ops=4e1,', 'ccr=2')):
        r = rows('--workload', *spaced, *drawn)
        check(r[0]['workload'] == 'random:layered ops=4e1 ccr=2/0', f'spaces do not count: {r}')
    r = rows('--workload', 'random:layered,ops=20,count=2', '--platform', 'random:related,devices=3,count=3,seed=1',
             *drawn[2:])
    check([x['platform'] for x in r[:6:2]] == [f'random:related devices=3/{i}' for i in (1, 2, 3)] and len(r) == 12,
          f'several platforms: {r}')

    # Each name is of one thing
    folders = [os.path.join(folder, name) for name in ('a', 'b')]
    for f in folders:
        os.mkdir(f)
    same = [write('a/g.stg', '1\n0 0 0\n1 2 1 0\n2 0 1 1\n'), write('b/g.stg', '1\n0 0 0\n1 6 1 0\n2 0 1 1\n')]
    machines = [nodes('a/m.json', 1), nodes('b/m.json', 1), write('a/m.csv', DEVICES)]
    quick = ('--partition', 'heft', '--schedule', 'fifo')
    r = rows('--workload', ','.join(same), '--platform', 'identical:1', *quick)
    check([(x['workload'], x['makespan']) for x in r] == [('a/g', '2'), ('b/g', '6')],
          f'files of the same name in two folders: {r}')
    r = rows('--workload', same[0], '--platform', ','.join(machines), *quick)
    check([(x['workload'], x['platform']) for x in r] == [('g', 'a/m.json'), ('g', 'b/m.json'), ('g', 'a/m.csv')],
          f'platforms of the same name: {r}')
    refused('--workload', f'{same[0]},{folder}/b/../a/g.stg', '--platform', 'identical:1', because='is named twice')
    refused('--workload', 'random:layered,count=2,random:layered,seed=1', *drawn,
            because="'random:layered/1' is named twice")
    refused('--workload', NET, '--platform', f'{PLATFORM},{PLATFORM}', because='--platform: ')
    refused('--workload', 'suite:fft/ccr 1,suite:fft/ccr 1/related', *quick, because='is named twice')

    # What is made of several problems
    several = ('--workload', 'random:layered,ops=30,ccr=1,count=8,random:fft,ccr=1', '--platform', related,
               '--partition', 'hash,heft', '--schedule', 'static_order')
    summary = run(*several, '--format', 'summary', '--baseline', 'hash').stdout
    check(summary.startswith('All 9 problems') and 'baseline: hash + static_order' in summary and
          ' to 1.000' in summary, f'the table over all problems alone, with intervals: {summary}')
    names = ('means.csv', 'profile.csv', 'profile.svg', 'traces', 'problems')
    out = {name: os.path.join(folder, name) for name in names}
    r = run(*several, '--format', 'csv', '--aggregate', out['means.csv'], '--performance-profile',
            f"{out['profile.csv']},{out['profile.svg']}", '--traces', out['traces'], '--problems', out['problems'])
    check(r.returncode == 0, f'writes all files: {r.stderr}')
    runs = list(csv.DictReader(io.StringIO(r.stdout)))
    with open(out['means.csv']) as f:
        means = list(csv.DictReader(f))
    check([x['family'] for x in means] == ['random:layered ops=30 ccr=1'] * 2 + ['random:fft ccr=1'] * 2 + ['all'] * 2,
          f'a row per strategy and kind of problem: {means}')
    by_hand = [float(x['makespan']) for x in runs if x['partition'] == 'heft' and 'layered' in x['workload']]
    heft = next(x for x in means if x['partition'] == 'heft')
    mean = sum(by_hand) / 8
    half = 2.364624 * (sum((x - mean) ** 2 for x in by_hand) / 7 / 8) ** 0.5
    check(abs(float(heft['makespan_mean']) - mean) < 1e-9 * mean and
          abs(float(heft['makespan_high']) - mean - half) < 1e-5 * half, f'mean and interval by hand: {heft}')
    check(heft['wins'] == '8' and float(heft['to_baseline_high']) < 1, f'the baseline is the first, hash: {heft}')
    with open(out['profile.csv']) as f:
        steps = list(csv.DictReader(f))
    check(steps[0] == {'strategy': 'heft + static_order', 'factor': '1', 'share': '1'}, f'the profile: {steps}')
    page = os.path.join(os.path.dirname(__file__), '../../docs/images/performance_profile.svg')
    drawn = os.path.join(folder, 'page.svg')
    run('--workload', 'random:layered,ops=100,ccr=1,count=50', '--platform', 'random:related,devices=8', '--partition',
        'heft,peft,etf,dsc,mite', '--schedule', 'static_order', '--performance-profile', drawn, '--format', 'csv')
    with open(page) as a, open(drawn) as b:
        check(a.read() == b.read(), f'docs/images/performance_profile.svg is not what docs/research.md draws: {drawn}')
    with open(out['profile.svg']) as f:
        check(f.read().startswith('<svg'), 'the profile as a picture')
    traces = sorted(os.listdir(out['traces']))
    check(len(traces) == 18, f'a trace per run: {traces}')
    with open(os.path.join(out['traces'], traces[0])) as f:
        trace = json.load(f)
    check(trace['format'] == 'weft.trace' and any(abs(float(x['makespan']) - trace['makespan']) < 1e-12 for x in runs),
          'a trace is that of a run')
    repeated = run(*using(NET, PLATFORM, '--repeat', '3')).stdout
    check(' 95 % ' in repeated and '± ' in repeated, f'repeats have an interval: {repeated}')
    data = json.loads(run(*several, '--format', 'json', '--baseline', 'hash').stdout)
    first = data['strategies'][0]
    check(data['baseline'] == 'hash + static_order' and first['partition'] == 'heft' and first['wins'] >= 8 and
          first['to_baseline'] < 1 < first['makespan_high'], f'JSON compares with the baseline: {first}')
    run(*several, '--html', out['means.csv'], '--baseline', 'hash')
    with open(out['means.csv']) as f:
        check('>To baseline<' in f.read(), 'and so does the report')
    all_names = ('--workload', 'random:layered,ops=10,count=2', '--platform', related, '--schedule', 'fifo',
                 '--format', 'summary')
    for top, count in (((), 12), (('--top', '3'), 3), (('--top', 'all'), len(known['partition'])),
                       (('--top', '20'), 20)):
        lines = run(*all_names, *top).stdout.splitlines()
        check(len(lines) - 3 == count, f'--top {top} shows {len(lines) - 3} strategies, not {count}')
    lines = run(*all_names, '--baseline', 'hash', '--top', '1').stdout.splitlines()
    check(len(lines) - 3 in (1, 2) and any(x.startswith(' hash') for x in lines), f'the baseline is shown: {lines}')
    several_machines = run('--workload', 'random:layered,ops=20,count=2', '--platform',
                           'random:related,devices=3,count=3', *quick, '--format', 'csv', '--aggregate',
                           out['means.csv'])
    with open(out['means.csv']) as f:
        means = list(csv.DictReader(f))
    check([(x['platform'], x['problems']) for x in means] == [('random:related devices=3', '6')],
          f'platforms of a count are a family: {means} {several_machines.stderr}')
    long_name = 'x' * 150
    far = write(f'{long_name}.stg', '1\n0 0 0\n1 2 1 0\n2 0 1 1\n')
    wide = write(f'{"y" * 150}.json', json.dumps({'format': 'weft.platform', 'version': 1, 'links': {'uniform': {}},
                                                  'devices': [{'kind': 'cpu', 'speed': 1, 'count': 2}]}))
    for option in ('--traces', '--problems'):
        r = run('--workload', far, '--platform', wide, '--partition', 'heft,hash', '--schedule', 'fifo', option,
                os.path.join(folder, 'long' + option))
        files = os.listdir(os.path.join(folder, 'long' + option))
        check(r.returncode == 0 and len(files) == (2 if option == '--traces' else 3), f'long names are cut: {r.stderr}')
    refused(*several, '--traces', '', because='--traces: the name is empty')
    refused(*several, '--aggregate', 'x.csv', '--performance-profile', './x.csv', because='two outputs')
    period = os.path.join(folder, 'period.svg')
    run(*using(NET, PLATFORM, '--objective', 'period', '--performance-profile', period))
    with open(period) as f:
        check('>period / the best' in f.read(), 'the profile says what is compared')
    refused(*using(NET, PLATFORM, '--seed', '18446744073709551615', '--repeat', '2'), because='--seed')

    # Problems that are written are read again with the same times, or it is said that they are not
    def written(*problem):
        where = tempfile.mkdtemp(dir=folder)
        r = run(*problem, *quick, '--problems', where, '--format', 'csv')
        files = sorted(os.listdir(where))
        again = [next(os.path.join(where, f) for f in files if f.endswith(end))
                 for end in ('.workload.json', '.platform.json', '.times.csv')]
        makespan = float(next(csv.DictReader(io.StringIO(r.stdout)))['makespan'])
        by_table = rows('--workload', again[0], '--platform', again[1], '--times-table', again[2], *quick)
        check(float(by_table[0]['makespan']) == makespan, f'{problem} has the same makespan by its table of times')
        return makespan, r.stderr, '--workload', again[0], '--platform', again[1]

    for problem in ((stg, 'identical:2'), ('random:layered,ops=20,ccr=1', related), ('random:fft,ccr=1', related),
                    (NET, PLATFORM), (NET, 'workstation_2gpu')):
        makespan, told, *again = written('--workload', problem[0], '--platform', problem[1])
        check(told == '1 problem written to ' + os.path.dirname(again[1]) + '\n' and
              float(rows(*again, *quick)[0]['makespan']) == makespan, f'{problem} is read again: {told}')
    makespan, told, *again = written('--workload', 'random:layered,ops=20', '--platform', 'dgx_a100', '--work',
                                     'seconds')
    check('read it again with --work seconds' in told and
          float(rows(*again, *quick, '--work', 'seconds')[0]['makespan']) == makespan, f'in seconds: {told}')
    makespan, told, *again = written('--workload', 'suite:fft/ccr 1/unrelated')
    check('read it again with --times-table' in told, f'times that JSON does not hold: {told}')
    times_tables(write)
    orders(write)

    refused(*several, '--baseline', 'peft', because='hash + static_order, heft + static_order')
    refused(*several, '--performance-profile', 'profile.png', because='.csv nor .svg')
    refused(*several, '--aggregate', os.path.join(folder, 'no', 'r'), because='cannot write')

    # Schedules of others
    one = ('--workload', 'random:layered,ops=30,ccr=1,seed=3', '--platform', related)
    kept = [os.path.join(out['traces'], t) for t in traces if '-3-random' in t and 'heft' in t]
    r = run(*one, '--validate', kept[0])
    check(r.returncode == 0 and ': valid; makespan' in r.stdout and 'above the lower bound' in r.stdout,
          f'a trace of ours is valid: {r.stdout}{r.stderr}')
    with open(kept[0]) as f:
        trace = json.load(f)

    def schedule(ops, **more):
        return write('schedule.json', json.dumps({'format': 'weft.schedule', 'version': 1, 'ops': ops, **more}))

    ops = [{'op': i, **x} for i, x in enumerate(trace['ops'])]
    r = run(*one, '--validate', schedule(ops[::-1]))
    check(r.returncode == 0, f'without transfers, tensors leave at once: {r.stdout}{r.stderr}')
    rounded = [{**x, 'start': round(x['start'], 3), 'finish': round(x['finish'], 3)} for x in ops]
    r = run(*one, '--validate', schedule(rounded))
    check(r.returncode == 1 and 'instead of' in r.stdout, f'rounded times are not those of the model: {r.stdout}')
    r = run(*one, '--validate', schedule(rounded), '--tolerance', '1e-2')
    check(r.returncode == 0, f'but for a tolerance: {r.stdout}')
    span = max(x['finish'] for x in ops)
    r = run(*one, '--validate', schedule(ops, makespan=span))
    check(r.returncode == 0, f'a makespan that is given, and right: {r.stdout}')
    for given in (span / 2, 0):
        r = run(*one, '--validate', schedule(ops, makespan=given))
        check(r.returncode == 1 and 'the makespan is given as' in r.stdout, f'a wrong makespan: {r.stdout}')
    for share in ('1', '0.2', '-1', 'nan', 'x'):
        refused(*one, '--validate', schedule(ops), '--tolerance', share, because='not a number from 0 to 0.1')
    chain = write('chain.json', json.dumps({'format': 'weft.workload', 'version': 1, 'ops': [
        {'work': 10, 'outputs': [1], **({'inputs': [i - 1]} if i else {})} for i in range(40)]}))
    alone = ('--workload', chain, '--platform', 'identical:1', '--tolerance', '0.1', '--validate')
    shorter = [{'device': 0, 'start': 9.7 * i, 'finish': 9.7 * (i + 1)} for i in range(40)]
    r = run(*alone, schedule(shorter))
    check(r.returncode == 0 and '% below the lower bound' in r.stdout and '% above' not in r.stdout,
          f'below the bound, as the tolerance allows: {r.stdout}')
    nonsense = [{'device': 0, 'start': min(10 * i, 100), 'finish': min(10 * (i + 1), 100)} for i in range(40)]
    r = run(*alone, schedule(nonsense))
    check(r.returncode == 1 and 'is 75.0 % below the lower bound of 400 s' in r.stdout,
          f'no schedule is that short: {r.stdout}')
    wrong = list(ops)
    wrong[4] = {**wrong[4], 'start': 0, 'finish': wrong[4]['finish'] - wrong[4]['start']}
    r = run(*one, '--validate', schedule(wrong))
    check(r.returncode == 1 and 'op 4 ' in r.stdout and "device" in r.stdout and 'not valid: ' in r.stdout and
          not r.stderr, f'an op that starts too early: {r.stdout}')
    r = run(*one, '--validate', schedule(ops[:-1]))
    check(r.returncode == 1 and 'op 29 has no record' in r.stdout, f'an op that is missing: {r.stdout}')
    plan = write('plan.json', json.dumps({'format': 'weft.plan', 'version': 1,
                                          'placement': [x['device'] for x in trace['ops']]}))
    r = run(*one, '--validate', plan)
    check(r.returncode == 0 and ': valid; makespan' in r.stdout, f'a plan without times is run: {r.stdout}{r.stderr}')
    backwards = write('backwards.json', json.dumps({'format': 'weft.plan', 'version': 1, 'placement': [0] * 30,
                                                    'order': list(range(29, -1, -1))}))
    r = run(*one, '--validate', backwards)
    check(r.returncode == 1 and 'deadlock' in r.stdout, f'an order that cannot be: {r.stdout}')
    refused(*one, '--validate', schedule([{'op': 'nobody', 'device': 0, 'start': 0, 'finish': 1}]),
            because="no op 'nobody'")
    refused(*one, '--validate', schedule(ops), '--contention', 'port', because='give transfers')
    refused(*one, '--validate', os.path.join(folder, 'missing.json'), because='missing.json')
    refused(*several[:4], '--validate', plan, because='one workload on one platform')
    for useless in (('--html', 'r.html'), ('--objective', 'period'), ('--format', 'json'), ('--partition', 'heft')):
        refused(*one, '--validate', plan, *useless, because='exclude each other')
    refused(*one, '--validate', schedule([{'op': '', 'device': 0, 'start': 0, 'finish': 1}]),
            because='is an empty name; give the number of the op')
    unnamed = write('unnamed.json', json.dumps({'format': 'weft.workload', 'version': 1,
                                                'ops': [{'work': 1, 'kinds': ['tpu']}]}))
    table = run(*using(unnamed, 'identical:2')).stdout
    check('op 0 fits nowhere' in table, f'an op without a name is its number: {table}')

    # Models of other libraries, and options that say how they are read
    check(run('--version').stdout.startswith('compare (weft '), '--version')
    graph_def = write('net.pbtxt',
                      'node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } attr '
                      '{ key: "shape" value { shape { dim { size: -1 } dim { size: 8 } } } } }\n'
                      'node { name: "y" op: "Softmax" input: "x" attr { key: "T" value { type: DT_FLOAT } } }\n')
    if 'component tensorflow' not in run(*using(graph_def, 'dgx_a100')).stderr:
        times = [float(rows(*using(graph_def, 'cpu_2socket', *how))[0]['makespan'])
                 for how in ((), ('--batch', '100000'), ('--shape', 'x=100000x8'), ('--peak-rates',))]
        check(times[0] < times[1] == times[2] and times[3] < times[0], f'batch, shape and rates count: {times}')
        step = run(*using(graph_def, 'dgx_a100', '--fetch', 'x')).stdout
        check("1 of 2 nodes are not needed for 'x'" in ' '.join(step.split()), f'what is fetched counts: {step[-600:]}')
        refused(*using(graph_def, 'dgx_a100', '--shape', 'z=1x8'), because="inputs are 'x'")
        refused(*using(graph_def, 'dgx_a100', '--dim', 'n=4'), because='--dim is for ONNX')
    refused(*using(stg, 'dgx_a100'), because='--work flop or --work seconds')
    refused(*using(NET, PLATFORM, '--work', 'seconds'), because="is in FLOP")
    simgrid = write('simgrid.json', json.dumps({'name': 'w', 'workflow': {
        'specification': {'tasks': [{'id': 'a', 'name': 'a', 'parents': [], 'children': []}]},
        'execution': {'tasks': [{'id': 'a', 'runtimeInSeconds': 1e15}]}}}))
    advice = run(*using(simgrid, 'workstation_2gpu')).stdout
    stated = run(*using(simgrid, 'workstation_2gpu', '--work', 'flop'))
    check('if it is FLOP, give --work flop' in ' '.join(advice.split()), f'times of years: {advice[-600:]}')
    check(stated.returncode == 0 and 'units look wrong' not in stated.stdout, f'are FLOP: {stated}')
    refused(*using(stg, 'identical:2', '--batch', '4'), because='--batch is for')
    refused(*using(stg, 'identical:2', '--train', 'sgd'), because='work in a unit of its own')

    refused('--workload', 'suite:fft/ccr 1', '--partition', 'heft', '--schedule', 'fifo', '--batch', '8',
            because='--batch has no effect')
    told = run('--workload', 'zoo:mnist_conv', '--platform', PLATFORM, '--objective', 'period', '--partition',
               'heft').stdout
    check('gradients are of older ones' in ' '.join(told.split()), f'a period of training steps: {told}')

    # Mistakes
    refused(because='--workload is required')
    refused('--wrkload', NET, '--platform', PLATFORM, because="unknown option '--wrkload'")
    refused(*using(NET, PLATFORM, '--top', 'some'), because='--top')
    refused('--workload', NET, because='--platform is required')
    refused(*using('zoo:nothing'), because='mnist_conv')
    refused(*using(NET, 'preset:nothing'), because='workstation_2gpu')
    refused(*using(NET, PLATFORM, '--bogus'), because='--bogus')
    refused(*using(NET, PLATFORM, '--format', 'xml'), because="there is no 'xml'; give one of table")
    refused(*using(NET, PLATFORM, '--repeat', '0'), because='--repeat: 0 is not from 1 to')
    refused(*using(NET, PLATFORM, '--contention', 'some'), because='--contention')
    refused('--workload', NET, '--platform', PLATFORM, '--partition', 'hsah', because='hash, batch_split')
    refused('--workload', NET, '--platform', PLATFORM, '--schedule', 'lifo', because='fifo, path_completion_time')
    refused(*using(NET, PLATFORM, '--refine', 'polish'), because='local_search, tabu_search')
    refused(*using(NET, PLATFORM, '--objective', 'speed'), because='--objective')
    for budget in ('0', '-1', 'ten', '5 minutes', 'nan', '0moves', ''):
        refused(*using(NET, PLATFORM, '--budget', budget), because='--budget')
    refused('--workload', NET, '--platform', PLATFORM, '--partition', 'best', because='--schedule best')
    refused('--workload', NET, '--platform', PLATFORM, '--schedule', 'best', because='--partition best')
    refused('--workload', NET, '--platform', PLATFORM, '--partition', 'best,heft', '--schedule', 'best',
            because='no ready policy')
    refused(*whole, '--refine', 'genetic', because='best refines its own plans')
    refused(*using(NET, PLATFORM, '--refine', 'genetic', '--objective', 'period'), because='--refine')
    refused(*using(NET, PLATFORM, '--objective', 'period', '--contention', 'port'), because='leave --contention out')
    refused(*placing, '--objective', 'latency', '--contention', 'fair', because='has no run; leave --contention out')
    refused(*placing, '--objective', 'energy', because='use --objective period')
    refused('--workload', study, because='--objective period')
    refused('--workload', study, '--objective', 'period', '--partition', 'heft', because='--partition best')
    refused(*placing, '--objective', 'period', '--platform', PLATFORM, because='leave --platform out')
    refused('--workload', 'suite:nothing', because='fft, gauss')
    for count in ('0', '-1', 'x', '2x', '', '5000'):
        refused(*using(NET, f'identical:{count}'), because='identical')
    refused(*using(os.path.join(folder, 'missing.csv')), because='no such file')
    refused(*using(folder), because='folder')
    refused(*using(write('empty.csv', '')), because='it is empty')
    refused(*using(write('binary.csv', '\0\1\2')), because='not a model')
    refused(*using(devices), because='it is a platform')
    refused(*using(NET, graph), because='not a platform')
    refused(*using(write('cycle.csv', GRAPH.replace('0,1,,', '0,1,1,').replace('1,,0,', '1,0,0,'))), because='cycle')
    refused(*using(write('dangling.csv', GRAPH.replace('0,1,,', '0,7,,'))), because='dangling.csv:2')
    refused(*using(write('letters.csv', GRAPH.replace('5,10,1,NO,b', '5,ten,1,NO,b'))), because='letters.csv:3')
    refused(*using(write('negative.csv', GRAPH.replace('5,10,1,NO,b', '5,-10,1,NO,b'))), because='negative.csv:3')
    refused(*using(write('short.csv', GRAPH[:-12])), because='short.csv:3')
    refused(*using(write('broken.json', '{"format": "weft.workload", "version": 1, "ops": [{]}')),
            because='broken.json:1')
    refused(*using(NET, write('rates.csv', DEVICES.replace('10,5,CPU', '10,5;6,CPU'))), because='rates.csv:2')
    kept, fresh, missing = write('kept.html', 'kept'), os.path.join(folder, 'fresh.html'), os.path.join(folder, 'no',
                                                                                                        'r')
    refused(*using(NET, PLATFORM, '--html', missing), because='cannot write')
    refused(*using(NET, PLATFORM, '--html', folder), because='cannot write')
    refused(*using(NET, PLATFORM, '--html', kept, '--trace', missing), because='cannot write')
    refused(*using(NET, PLATFORM, '--html', fresh, '--trace', missing), because='cannot write')
    with open(kept) as f:
        check(f.read() == 'kept' and not os.path.exists(fresh),
              'looking whether a file can be written leaves no traces')


with tempfile.TemporaryDirectory() as scratch:
    main(scratch)
finish()
