#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs the `compare` program as a user would: compare.py path/to/compare"""
import csv, io, json, os, re, subprocess, sys, tempfile

EXE = os.path.realpath(sys.argv[1])
HEADER = ('workload,platform,partition,schedule,repeat,seed,status,makespan,lower_bound,gap,transfer_bytes,peak_memory,'
          'partition_seconds,schedule_seconds,simulate_seconds')
NET, PLATFORM = 'zoo:mnist_conv', 'preset:paper_like_10'
GRAPH = 'Id,outgoing,incoming,colocation,size,ops,RAM,constraint,name\n0,1,,,5,10,1,NO,a\n1,,0,,5,10,1,NO,b\n'
DEVICES = 'Id,RAM,ops,rates,type\n0,100,10,5,CPU\n1,100,20,,GPU\n'
failures = []


def run(*arguments):
    return subprocess.run([EXE, *arguments], capture_output=True, text=True, timeout=300)


def check(condition, what):
    if not condition:
        failures.append(what)
        print('FAILED:', what)


def rows(*arguments):
    r = run(*arguments, '--format', 'csv')
    check(r.returncode == 0 and not r.stderr, f'{arguments} runs quietly: {r.returncode} {r.stderr[:200]}')
    check(r.stdout.split('\n', 1)[0] == HEADER, 'the CSV header')
    return list(csv.DictReader(io.StringIO(r.stdout)))


def without_times(table):
    return [{k: v for k, v in row.items() if not k.endswith('_seconds')} for row in table]


def refused(*arguments, because):
    r = run(*arguments)
    lines = r.stderr.splitlines()
    check(r.returncode == 2, f'{arguments}: exit code {r.returncode}, not 2')
    check(len(lines) == 1, f'{arguments}: {len(lines)} lines on stderr, not 1')
    check(not r.stdout, f'{arguments}: prints something all the same')
    check(because in r.stderr, f'{arguments}: "{r.stderr.strip()}" does not say "{because}"')


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
    check(len({r['partition'] for r in names}) == 10 and len({r['schedule'] for r in names}) == 5 and len(names) == 50,
          'all is ten partitioners and five ready policies')
    slower = rows(*using(NET, PLATFORM, '--contention', 'port'))
    check(len(slower) == 1 and float(slower[0]['makespan']) > 0, 'contention port')

    # Files, infeasibility, other formats
    graph, devices = write('graph.csv', GRAPH), write('devices.csv', DEVICES)
    r = rows('--workload', graph, '--platform', devices, '--partition', 'branch_and_bound', '--schedule', 'static_order')
    check(r[0]['status'] == 'optimal' and float(r[0]['makespan']) == 1 and r[0]['workload'] == 'graph',
          f'both ops run on the faster device: {r}')
    tpu = write('tpu.csv', GRAPH.replace('NO,b', 'TPU,b'))
    r = rows(*using(tpu, devices))
    check(len(r) == 1 and r[0]['status'] == 'infeasible' and r[0]['makespan'] == '', f'an infeasible row: {r}')
    large = write('large.csv', GRAPH.replace('10,1,NO,b', '10,500,NO,b'))
    table = run(*using(large, devices))
    check(table.returncode == 0 and "op 1 'b'" in table.stdout and '510 bytes' in table.stdout,
          f'the table says which op does not fit: {table.stdout}')
    data = json.loads(run(*using(NET, PLATFORM, '--format', 'json')).stdout)
    check('runs' in data, 'JSON output')
    html, trace = os.path.join(folder, 'r.html'), os.path.join(folder, 't.json')
    r = run(*using(NET, PLATFORM, '--html', html, '--trace', trace))
    check(r.returncode == 0, f'writes a report and a trace: {r.stderr}')
    with open(html) as f:
        page = f.read()
    check('echarts' in page and not re.search(r'<(script|link|img)[^>]*(src|href)\s*=\s*["\']?https?:', page),
          'the report needs no network')
    with open(trace) as f:
        check(json.load(f)['traceEvents'], 'the trace has events')
    help_text = run('--help')
    check(help_text.returncode == 0 and 'iterated_critical_path' in help_text.stdout, '--help teaches')

    # Mistakes
    refused(because='--workload is required')
    refused('--workload', NET, because='--platform is required')
    refused(*using('zoo:nothing'), because='mnist_conv')
    refused(*using(NET, 'preset:nothing'), because='workstation_2gpu')
    refused(*using(NET, PLATFORM, '--bogus'), because='--bogus')
    refused(*using(NET, PLATFORM, '--format', 'xml'), because='xml')
    refused(*using(NET, PLATFORM, '--repeat', '0'), because='--repeat')
    refused(*using(NET, PLATFORM, '--contention', 'some'), because='--contention')
    refused('--workload', NET, '--platform', PLATFORM, '--partition', 'hsah', because='hash, batch_split')
    refused('--workload', NET, '--platform', PLATFORM, '--schedule', 'lifo', because='fifo, path_completion_time')
    refused(*using(os.path.join(folder, 'missing.csv')), because='no such file')
    refused(*using(folder), because='folder')
    refused(*using(write('empty.csv', '')), because='format is not known')
    refused(*using(write('binary.csv', '\0\1\2')), because='not a workload')
    refused(*using(devices), because='CSV of devices')
    refused(*using(NET, graph), because='not a platform')
    refused(*using(write('cycle.csv', GRAPH.replace('0,1,,', '0,1,1,').replace('1,,0,', '1,0,0,'))), because='cycle')
    refused(*using(write('dangling.csv', GRAPH.replace('0,1,,', '0,7,,'))), because='dangling.csv:2')
    refused(*using(write('letters.csv', GRAPH.replace('5,10,1,NO,b', '5,ten,1,NO,b'))), because='letters.csv:3')
    refused(*using(write('negative.csv', GRAPH.replace('5,10,1,NO,b', '5,-10,1,NO,b'))), because='negative.csv:3')
    refused(*using(write('short.csv', GRAPH[:-12])), because='short.csv:3')
    refused(*using(write('broken.json', '{"format": "weft.workload", "version": 1, "ops": [{]}')), because='broken.json:1')
    refused(*using(NET, write('rates.csv', DEVICES.replace('10,5,CPU', '10,5;6,CPU'))), because='rates.csv:2')
    r = run(*using(NET, PLATFORM, '--html', os.path.join(folder, 'no', 'r.html')))
    check(r.returncode == 2 and len(r.stderr.splitlines()) == 1 and r.stdout, 'an unwritable report loses no results')


with tempfile.TemporaryDirectory() as scratch:
    main(scratch)
print(f'{len(failures)} failed' if failures else 'all passed')
sys.exit(bool(failures))
