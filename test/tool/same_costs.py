#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Holds `compare` and `place` against each other, and against times worked out by hand, for a small file of each
format: same_costs.py path/to/compare path/to/place"""
import csv, io, json, os, re, subprocess, sys, tempfile
from random import Random

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
def native(*types):
    """Two ops of these types, one after the other: on the CPU 1 s of work, on the GPU 10 s."""
    ops = [{'name': 'a', 'kinds': ['cpu'], 'work': 1e12, 'outputs': [10**6]},
           {'name': 'b', 'kinds': ['gpu'], 'work': 1e14, 'inputs': ['a']}]
    return json.dumps({'format': 'weft.workload', 'version': 1,
                       'ops': [op | ({'type': t} if t else {}) for op, t in zip(ops, types)]})


STUDY = json.dumps({'maxSizePerFPGA': 100, 'maxFPGAs': 1, 'maxCPUs': 1,
                    'edges': [{'sourceId': 0, 'destId': 1, 'cost': 1}],
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

MACHINE = json.dumps({'format': 'weft.platform', 'version': 1,
                      'links': {'uniform': {'latency': 1e-3, 'bandwidth': 1e9}},
                      'devices': [{'kind': 'cpu', 'speed': 1e12, 'memory_bandwidth': 1e11},
                                  {'kind': 'gpu', 'speed': 1e13, 'memory_bandwidth': 1e12}]})


def with_rates(platform, *rates):
    document = json.loads(platform)
    for device, what in zip(document['devices'], rates):
        device['rates'] = what
    return json.dumps(document)


REACHED, MIXED = with_rates(MACHINE, 'reached', 'reached'), with_rates(MACHINE, 'reached', 'peak')
UNITS = json.dumps({'format': 'weft.platform', 'version': 1, 'links': {'uniform': {'latency': 1, 'bandwidth': 5}},
                    'devices': [{'kind': 'cpu', 'speed': 2}, {'kind': 'gpu', 'speed': 6}]})
CSV_DEVICES = 'Id,RAM,ops,rates,type\n0,100,10,5,CPU\n1,100,20,,GPU\n'
LARGE_DEVICES = 'Id,RAM,ops,rates,type\n0,1000000000000,10000000000,1000000000,CPU\n1,1000000000000,20000000000,,GPU\n'
CALL, GAP, FILL = 1e-6, 1e-6, 4e-6  # what an op costs beside its work on a CPU, an op and a product on an accelerator
LAUNCH = 5e-6  # what a host takes to launch an op, which takes no less (docs/costs.md)
LINK = 1e-3 + 1e6 / 1e9  # what a tensor of 1 MB takes from device to device of `machine`
SHARED_LINK = 1e-3 + 1e6 / (0.75 * 1e9)  # the same where transfers reach a share of the bandwidth, as ops of types do
COPY = 5e-6  # what a copy to another accelerator keeps its sender

FILES = {'fork.stg': STG, 'pair.hdag': HYPERDAG, 'pair.dot': DOT, 'pair.csv': CSV, 'layers.txt': PIPEDREAM,
         'tasks.json': WFFORMAT,
         'native.json': NATIVE, 'typeless.json': native('', ''),
         'unknown.json': native('POTRF', 'my_op'), 'partly.json': native('', 'MatMul'),
         'elementwise.json': native('Relu', 'Add'), 'reached.json': REACHED, 'mixed.json': MIXED,
         'study.json': STUDY, 'product.pbtxt': GRAPH_DEF, 'costs.pbtxt': COST_GRAPH,
         'product.onnx': onnx_product(512, 256, 1024), 'machine.json': MACHINE, 'units.json': UNITS,
         'devices.csv': CSV_DEVICES, 'large.csv': LARGE_DEVICES}

product_flop, product_bytes = 2 * 512 * 256 * 1024, 4 * (512 * 256 + 256 * 1024 + 512 * 1024)


def product_seconds(flop, speed, bandwidth, beside, moved=0):
    """Arithmetic or operands, whichever takes longer, and what is read again: a byte for each 600 FLOP."""
    return max(flop / (0.9 * speed), moved / (0.7 * bandwidth)) + flop / 600 / (0.7 * bandwidth) + beside


product = max(product_seconds(product_flop, 1e13, 1e12, FILL, product_bytes), LAUNCH)

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
    ('native.json', 'machine.json', (), product_seconds(7e9, 1e12, 1e11, CALL) + SHARED_LINK +
     product_seconds(7e10, 1e13, 1e12, FILL)),
    ('native.json', 'machine.json', ('--peak-rates',), 7e9 / 1e12 + (1e-3 + 1e6 / 1e9) + 7e10 / 1e13),
    # Work without a type is believed, and of a type that nobody knows it is that of an op that is called.
    ('typeless.json', 'machine.json', (), 1 + LINK + 10),
    ('typeless.json', 'machine.json', ('--peak-rates',), 1 + LINK + 10),
    ('typeless.json', 'reached.json', (), 1 + LINK + 10),
    ('unknown.json', 'machine.json', (), 1 + CALL + SHARED_LINK + 10 + GAP),
    ('partly.json', 'machine.json', (), 1 + SHARED_LINK + product_seconds(1e14, 1e13, 1e12, FILL)),
    ('elementwise.json', 'machine.json', (), 10 + CALL + SHARED_LINK + 100 + GAP),
    # Nothing is taken off what was measured.
    ('elementwise.json', 'reached.json', (), 1 + LINK + 10),
    ('elementwise.json', 'mixed.json', (), 1 + LINK + 100 + GAP),
    ('native.json', 'reached.json', (), 7e9 / 1e12 + (1e-3 + 1e6 / 1e9) + 7e10 / 1e13),
    ('product.onnx', 'reached.json', (), max(product_flop / 1e13, product_bytes / 1e12)),
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

# What the notes say beside the times: what was believed, and in figures what efficiencies did.
NOTES = {
    ('typeless.json', 'machine.json'): '2 ops are without a type: work is taken as it stands, work / speed',
    ('unknown.json', 'machine.json'):
        'these shares (unknown types 100 %, memory bandwidth 70 %) and 1 to 5 µs per op make ops take 1 × their time '
        'at peak rates, each where it is fastest',
    ('partly.json', 'machine.json'):
        'these shares (matrix products 88.1 %, memory bandwidth 70 %) and 5 µs per op make ops take 1.13 × their time '
        'at peak rates, each where it is fastest 1 op is without a type',
    ('elementwise.json', 'machine.json'):
        'these shares (other ops 10 %, memory bandwidth 70 %) and 1 to 5 µs per op make ops take 10 × their time',
    ('elementwise.json', 'mixed.json'):
        'these shares (other ops 10 %, memory bandwidth 70 %) and 5 µs per op make ops take 10 × their time at peak '
        'rates, each where it is fastest speeds of 1 of 2 devices are taken to be what ops reach',
}

# What must not be divided by FLOP/s.
UNITS_UNKNOWN = ('fork.stg', 'pair.hdag', 'pair.dot', 'pair.csv')


def step_of_place(folder, spec, platform, options):
    """Seconds of the step, and the notes."""
    trace = os.path.join(folder, 'trace.json')
    r = run(PLACE, spec, '--platform', platform, *options, '--contention', 'none', '--parallel', 'none', '--least-gain',
            '0', '--budget', '2000moves', '--trace', trace)
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


def ranking(graph, platform):
    """The makespan of each strategy."""
    r = run(COMPARE, '--workload', graph, '--platform', platform, '--format', 'csv',
            '--partition', 'heft,cpop,peft,etf,dls,critical_path,hash')
    return {(x['partition'], x['schedule']): float(x['makespan']) for x in csv.DictReader(io.StringIO(r.stdout))}


def check_ranking(folder):
    """Random graphs without types in several formats, on several platforms: strategies are as good in each of them."""
    def write(name, text):
        path = os.path.join(folder, name)
        with open(path, 'w') as f:
            f.write(text)
        return path

    def platform(name, **more):
        return write(name, json.dumps({
            'format': 'weft.platform', 'version': 1, 'send_work': 10, 'links': {'uniform': {'bandwidth': 20}},
            'devices': [{'kind': 'cpu', 'speed': speed, 'memory': 10**9, **more} for speed in (10, 20, 40)]}))

    random, n = Random(1), 60
    inputs = [[]] + [sorted(random.sample(range(v), min(v, random.randint(1, 3)))) for v in range(1, n)]
    readers = [[v for v in range(n) if u in inputs[v]] for u in range(n)]
    inputs[n - 1] = sorted({*inputs[n - 1], *(u for u in range(n - 1) if not readers[u])}) # one op is last, as in STG
    readers = [[v for v in range(n) if u in inputs[v]] for u in range(n)]
    work, size = [random.randint(1, 100) for _ in range(n)], [random.randint(1, 100) for _ in range(n)]

    def in_json(name, outputs):
        return write(name, json.dumps({'format': 'weft.workload', 'version': 1, 'ops': [
            {'work': work[v], 'outputs': outputs(v), 'inputs': inputs[v]} for v in range(n)]}))

    def listed(ops):
        return ';'.join(map(str, ops))
    stg = write('random.stg', f'{n - 2}\n' + ''.join(
        f'{v} {work[v]} {len(inputs[v])} {" ".join(map(str, inputs[v]))}\n' for v in range(n)))
    table = write('random.csv', 'Id,outgoing,incoming,colocation,size,ops,RAM,constraint,name\n' + ''.join(
        f'{v},{listed(readers[v])},{listed(inputs[v])},,{size[v]},{work[v]},0,NO,op\n' for v in range(n)))
    devices = write('three.csv', 'Id,RAM,ops,rates,type\n0,1000000000,10,20;20,CPU\n1,1000000000,20,20,CPU\n'
                                 '2,1000000000,40,,CPU\n')
    plain = platform('plain.json')
    others = platform('own_rates.json', rates='reached'), platform('sheet.json', memory_bandwidth=1)
    times, tensors = (in_json('times.json', lambda v: [0] if readers[v] else []),
                      in_json('bytes.json', lambda v: [size[v]]))
    for graph, same, elsewhere in (stg, times, 'identical:3'), (table, tensors, devices):
        for on in (elsewhere, plain, *others):
            made = ranking(same, on)
            check(len(made) > 20 and made == ranking(graph, on), f'{same} and {graph} are not the same on {on}')
            check(on == 'identical:3' or made == ranking(same, plain), f'{same}: not the same on {on} as on {plain}')


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
            check(abs(compared - by_hand) <= 1e-9 * by_hand,
                  f'{what}: compare says {compared} s, by hand it is {by_hand} s')
        check(notes == same_notes, f'{what}: place notes "{notes}", compare "{same_notes}"')
        if not options:
            said = NOTES.get((spec, platform), '')
            check(said in notes, f'{what}: notes "{notes}", not "{said}"')
            check(('typical' in notes) == ('these shares' in notes), f'{what}: typical shares without figures: {notes}')
            check('reached' not in platform or f'speeds of {at(platform)} are taken to be what ops reach, and' in notes,
                  f'{what}: notes "{notes}"')
    check_ranking(folder)

    # A problem of the placement study brings its devices, on which compare solves it; place takes the ops alone.
    placed, notes = step_of_place(folder, at('study.json'), at('machine.json'), ())
    check(placed is not None and abs(placed - (0.004 + 1e-3 + 0.02)) < 1e-9,
          f'the ops of the study: {placed} s, {notes}')
    r = run(COMPARE, '--workload', at('study.json'), '--objective', 'latency', '--partition', 'best', '--schedule',
            'best',
            '--format', 'csv')
    check(float(next(csv.DictReader(io.StringIO(r.stdout)))['makespan']) == 4 + 1 + 20,
          f'the study in ms: {r.stdout}{r.stderr}')

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
                check(words not in r.stderr + r.stdout,
                      f'{name}: advice for C++ on a command line: {r.stderr}{r.stdout}')


with tempfile.TemporaryDirectory() as scratch:
    main(scratch)
print(f'{len(failures)} failed' if failures else 'all passed')
sys.exit(bool(failures))
