#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Holds `compare` and `place` against each other, and against times worked out by hand, for a small file of each
format: same_costs.py path/to/compare path/to/place"""
import csv, io, json, os, re, subprocess, sys, tempfile

COMPARE, PLACE = (os.path.realpath(p) for p in sys.argv[1:3])
failures = []


def check(condition, what):
    if not condition:
        failures.append(what)
        print('FAILED:', what)


def run(program, *arguments):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)


# Files. What the work of ops is in differs, and bytes are those of tensors between them.

STG = '3\n0 0 0\n1 2 1 0\n2 2 1 0\n3 3 1 0\n4 0 3 1 2 3\n'  # a fork of tasks that take 2, 2 and 3
HYPERDAG = '% work 2 -> 3, 7 bytes\n1 2 2\n0 7\n0 2\n1 3\n0 0\n0 1\n'
DOT = 'digraph { a [work=2, kinds=cpu]; b [work=12, kinds=gpu]; a -> b [bytes=10]; }\n'
CSV = ('Id,outgoing,incoming,colocation,size,ops,RAM,constraint,name\n'
       '0,1,,,5,10,1,CPU,a\n1,,0,,5,60,1,GPU,b\n')
PIPEDREAM = ('n1 -- Linear(a) -- forward_compute_time=10.0, backward_compute_time=20.0, activation_size=4000.0, '
             'parameter_size=8.0\n'
             'n2 -- Linear(b) -- forward_compute_time=30.0, backward_compute_time=40.0, activation_size=4.0, '
             'parameter_size=8.0\n\tn1 -- n2\n')
WFFORMAT = json.dumps({'name': 'w', 'schemaVersion': '1.4', 'workflow': {'tasks': [
    {'name': 'a', 'id': 'a', 'type': 'compute', 'parents': [], 'children': ['b'], 'runtimeInSeconds': 3,
     'files': [{'name': 'f', 'sizeInBytes': 8, 'link': 'output'}]},
    {'name': 'b', 'id': 'b', 'type': 'compute', 'parents': ['a'], 'children': [],
     'files': [{'name': 'f', 'sizeInBytes': 8, 'link': 'input'}]}]}})  # nobody knows how long b took
NATIVE = json.dumps({'format': 'weft.workload', 'version': 1, 'ops': [
    {'name': 'a', 'type': 'MatMul', 'kinds': ['cpu'], 'work': 7e9, 'outputs': [1000000]},
    {'name': 'b', 'type': 'MatMul', 'kinds': ['gpu'], 'work': 7e10, 'inputs': ['a']}]})
STUDY = json.dumps({'maxSizePerFPGA': 100, 'maxFPGAs': 1, 'maxCPUs': 1, 'edges': [{'sourceId': 0, 'destId': 1, 'cost': 1}],
                    'nodes': [{'id': 0, 'supportedOnFpga': True, 'cpuLatency': 20, 'fpgaLatency': 4, 'size': 5},
                              {'id': 1, 'supportedOnFpga': False, 'cpuLatency': 20, 'fpgaLatency': 0, 'size': 5}]})
GRAPH_DEF = ('''node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: 512 } dim { size: 256 } } } } }
node { name: "y" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: 256 } dim { size: 1024 } } } } }
node { name: "z" op: "MatMul" input: "x" input: "y" attr { key: "T" value { type: DT_FLOAT } } }
''')
COST_GRAPH = ('node { name: "a" device: "/device:CPU:0" id: 1 compute_cost: 5 output_info { size: 4 } }\n'
              'node { name: "b" device: "/device:CPU:0" id: 2 compute_cost: 7 input_info { preceding_node: 1 } }\n')


def onnx_product(rows, inner, columns):
    """An ONNX model with one MatMul of two inputs, in the encoding of Protocol Buffers."""
    def varint(n):
        return bytes([n & 127 | 128]) + varint(n >> 7) if n > 127 else bytes([n])

    def field(number, value):
        if isinstance(value, int):
            return varint(number << 3) + varint(value)
        value = value.encode() if isinstance(value, str) else value
        return varint(number << 3 | 2) + varint(len(value)) + value

    def tensor(name, *dims):
        shape = b''.join(field(1, field(1, d)) for d in dims)
        return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))

    node = field(1, 'x') + field(1, 'y') + field(2, 'z') + field(3, 'product') + field(4, 'MatMul')
    graph = (field(1, node) + field(2, 'g') + field(11, tensor('x', rows, inner)) +
             field(11, tensor('y', inner, columns)) + field(12, tensor('z', rows, columns)))
    return field(1, 8) + field(7, graph) + field(8, field(1, '') + field(2, 17))


# Platforms. `machine` is one of our own, in FLOP/s; `units` has speeds of 2 and 6 of anything.

MACHINE = json.dumps({'format': 'weft.platform', 'version': 1, 'links': {'uniform': {'latency': 1e-3, 'bandwidth': 1e9}},
                      'devices': [{'kind': 'cpu', 'speed': 1e12, 'memory_bandwidth': 1e11},
                                  {'kind': 'gpu', 'speed': 1e13, 'memory_bandwidth': 1e12}]})
UNITS = json.dumps({'format': 'weft.platform', 'version': 1, 'links': {'uniform': {'latency': 1, 'bandwidth': 5}},
                    'devices': [{'kind': 'cpu', 'speed': 2}, {'kind': 'gpu', 'speed': 6}]})
CSV_DEVICES = 'Id,RAM,ops,rates,type\n0,100,10,5,CPU\n1,100,20,,GPU\n'
LARGE_DEVICES = 'Id,RAM,ops,rates,type\n0,1000000000000,10000000000,1000000000,CPU\n1,1000000000000,20000000000,,GPU\n'
CALL, LAUNCH = 1e-6, 5e-6  # what an op costs beside its work on a CPU and on an accelerator (docs/costs.md)
COPY = 5e-6  # what a copy to another accelerator keeps its sender

FILES = {'fork.stg': STG, 'pair.hdag': HYPERDAG, 'pair.dot': DOT, 'pair.csv': CSV, 'layers.txt': PIPEDREAM, 'tasks.json': WFFORMAT,
         'native.json': NATIVE, 'study.json': STUDY, 'product.pbtxt': GRAPH_DEF, 'costs.pbtxt': COST_GRAPH,
         'product.onnx': onnx_product(512, 256, 1024), 'machine.json': MACHINE, 'units.json': UNITS, 'devices.csv': CSV_DEVICES, 'large.csv': LARGE_DEVICES}

product_flop, product_bytes = 2 * 512 * 256 * 1024, 4 * (512 * 256 + 256 * 1024 + 512 * 1024)
product = max(product_flop / (0.7 * 1e13), product_bytes / (0.8 * 1e12)) + LAUNCH

# What, where, how: the seconds of a step by hand.
CASES = [
    ('fork.stg', 'identical:1', (), 2 + 2 + 3),
    ('fork.stg', 'identical:2', (), 2 + 2),
    ('fork.stg', 'units.json', (), (2 + 2 + 3) / 6),  # all on the faster; 2 on the slower would take 1 as well
    ('fork.stg', 'hgx_a100_4gpu', ('--work', 'seconds'), 3 + 2 * COPY),
    ('pair.hdag', 'identical:2', (), 2 + 3),
    ('pair.hdag', 'units.json', (), (2 + 3) / 6),
    ('pair.dot', 'units.json', (), 2 / 2 + (1 + 10 / 5) + 12 / 6),
    ('pair.csv', 'devices.csv', (), 10 / 10 + 10 / 10 + 5 / 5 + 60 / 20),  # 10 operations to send, at 10 per second
    ('layers.txt', 'hgx_a100_4gpu', (), 0.03 + 0.07),
    ('layers.txt', 'identical:2', (), 0.03 + 0.07),
    ('layers.txt', 'machine.json', (), 0.03 + 0.07),
    ('tasks.json', 'cpu_2socket', (), 3),
    ('tasks.json', 'machine.json', (), 3 / 10),  # the GPU is ten times as fast
    ('native.json', 'machine.json', (), 7e9 / (0.7 * 1e12) + CALL + (1e-3 + 1e6 / 1e9) + 7e10 / (0.7 * 1e13) + LAUNCH),
    ('native.json', 'machine.json', ('--peak-rates',), 7e9 / 1e12 + (1e-3 + 1e6 / 1e9) + 7e10 / 1e13),
    ('pair.dot', 'machine.json', ('--work', 'seconds'), 2 + (1e-3 + 10 / 1e9) + 12),
    ('product.onnx', 'machine.json', (), product),
    ('product.pbtxt', 'machine.json', (), product),  # the inputs are there
    ('product.onnx', 'machine.json', ('--peak-rates',), max(product_flop / 1e13, product_bytes / 1e12)),
    ('costs.pbtxt', 'cpu_2socket', (), 12e-6),
    ('zoo:mnist_conv', 'workstation_2gpu', (), None),
    ('zoo:mnist_conv', 'preset:paper_like_10', (), None),
    ('zoo:mnist_conv', 'large.csv', (), None),
    ('zoo:mnist_conv:inference', 'workstation_2gpu', ('--batch', '64', '--train', 'sgd'), None),
]

# What must not be divided by FLOP/s.
UNITS_UNKNOWN = ('fork.stg', 'pair.hdag', 'pair.dot', 'pair.csv')


def step_of_place(folder, spec, platform, options):
    """Seconds of the step, and the notes."""
    trace = os.path.join(folder, 'trace.json')
    r = run(PLACE, spec, '--platform', platform, *options, '--contention', 'none', '--budget', '2000moves', '--trace', trace)
    if r.returncode:
        return None, r.stderr
    with open(trace) as f:
        events = json.load(f)['traceEvents']
    ends = [e['ts'] + e['dur'] for e in events if e.get('cat') in ('op', 'transfer')]
    notes = r.stdout.split('\nNotes\n')[1] if '\nNotes\n' in r.stdout else ''
    return max(ends) * 1e-6, re.sub(r'\s+', ' ', re.sub(r'^trace written.*', '', notes, flags=re.M)).strip()


def steps_of_compare(spec, platform, options):
    how = ('--workload', spec, '--platform', platform, *options, '--budget', '2000moves')
    r = run(COMPARE, *how, '--partition', 'best', '--schedule', 'best', '--format', 'csv')
    if r.returncode:
        return None, r.stderr
    table = run(COMPARE, *how, '--partition', 'heft', '--schedule', 'static_order').stdout
    notes = table.split('\n Best: ')[1].split('\n', 1)[1] if '\n Best: ' in table else ''
    return float(next(csv.DictReader(io.StringIO(r.stdout)))['makespan']), re.sub(r'\s+', ' ', notes).strip()


def main(folder):
    def at(name):
        return os.path.join(folder, name) if name in FILES else name

    for name, content in FILES.items():
        with open(at(name), 'wb') as f:
            f.write(content if isinstance(content, bytes) else content.encode())

    built = {}  # whether the programs read it
    for suffix in ('.onnx', '.pbtxt'):
        built[suffix] = 'component' not in run(PLACE, at('product' + suffix), '--platform', 'dgx_a100').stderr
    for spec, platform, options, by_hand in CASES:
        what = ' '.join((spec, 'on', platform, *options))
        if not built.get(os.path.splitext(spec)[1], True):
            print('skipped, not in this build:', what)
            continue
        placed, notes = step_of_place(folder, at(spec), at(platform), options)
        compared, same_notes = steps_of_compare(at(spec), at(platform), options)
        check(placed is not None and compared is not None, f'{what}: {notes} {same_notes}')
        if placed is None or compared is None:
            continue
        check(abs(placed - compared) <= 2e-5 * compared, f'{what}: place says {placed} s, compare {compared} s')
        if by_hand is not None:
            check(abs(compared - by_hand) <= 1e-9 * by_hand, f'{what}: compare says {compared} s, by hand it is {by_hand} s')
        check(notes == same_notes, f'{what}: place notes "{notes}", compare "{same_notes}"')

    # A problem of the placement study brings its devices, on which compare solves it; place takes the ops alone.
    placed, notes = step_of_place(folder, at('study.json'), at('machine.json'), ())
    check(placed is not None and abs(placed - (0.004 + 1e-3 + 0.02)) < 1e-9, f'the ops of the study: {placed} s, {notes}')
    r = run(COMPARE, '--workload', at('study.json'), '--objective', 'latency', '--partition', 'best', '--schedule', 'best',
            '--format', 'csv')
    check(float(next(csv.DictReader(io.StringIO(r.stdout)))['makespan']) == 4 + 1 + 20, f'the study in ms: {r.stdout}{r.stderr}')

    for spec in UNITS_UNKNOWN:
        for program, first in ((PLACE, ()), (COMPARE, ('--workload',))):
            r = run(program, *first, at(spec), '--platform', 'dgx_a100')
            check(r.returncode == 2 and '--work flop or --work seconds' in r.stderr and not r.stdout,
                  f'{spec} on dgx_a100: units do not match: {r.returncode} {r.stderr}')
            stated = run(program, *first, at(spec), '--platform', 'dgx_a100', '--work', 'flop', '--budget', '100moves')
            check(stated.returncode == 0, f'{spec} in FLOP on dgx_a100: {stated.stderr}')
    for program, first in ((PLACE, ()), (COMPARE, ('--workload',))):
        r = run(program, *first, at('layers.txt'), '--platform', 'dgx_a100', '--work', 'flop')
        check(r.returncode == 2 and 'is in seconds' in r.stderr, f'a profile in seconds has no FLOP: {r.stderr}')
        for words in ('weft::', 'io::', 'reader{'):
            for name in FILES:
                r = run(program, *first, at(name), '--platform', at('native.json'))
                check(words not in r.stderr + r.stdout, f'{name}: advice for C++ on a command line: {r.stderr}{r.stdout}')


with tempfile.TemporaryDirectory() as scratch:
    main(scratch)
print(f'{len(failures)} failed' if failures else 'all passed')
sys.exit(bool(failures))
