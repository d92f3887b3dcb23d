#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs the `place` program as a user would: place.py path/to/place"""
import hashlib, json, os, re, tempfile

from program import check, check_help, finish, refused, run


def placed(*arguments):
    r = run(*arguments)
    check(r.returncode == 0 and not r.stderr, f'{arguments} runs quietly: {r.returncode} {r.stderr[:300]}')
    return r.stdout


def flat(text):
    """On one line, as notes are wrapped."""
    return re.sub(r'\s+', ' ', text)


def counts(summary):
    match = re.search(r'^([\d,]+) ops?, (\d+) devices?', summary, re.M)
    return (match[1], match[2]) if match else None


def graph_of_fetch(write):
    """A GraphDef of two products of one input; what it takes depends on what is fetched and on the input's shape."""
    def node(name, op, *inputs, size=None):
        dims = f"dim {{ size: {size} }} dim {{ size: 1000 }}"
        shape = f"attr {{ key: 'shape' value {{ shape {{ {dims} }} }} }}" if size else ''
        return f"node {{ name: '{name}' op: '{op}' {' '.join(f'input: {i!r}' for i in inputs)} {shape} }}\n"
    return write('fetch_two.pbtxt', node('x', 'Placeholder', size=-1) + node('w', 'VariableV2', size=1000) +
                 ''.join(node(name, 'MatMul', 'x', 'w') for name in 'abc'))


def frozen_parameters():
    """--freeze, of a bundled network's own training step and of one that --train makes."""
    options = ('--platform', 'workstation_2gpu', '--budget', '50moves')
    llama = 'zoo:llama2_7b+layers=2+hidden=256+heads=4+vocabulary=1000+lora=4@2x64'
    freeze = ('--freeze', '*,!lora_*')

    def resident(*arguments):
        text = placed(*arguments, *options, '--pin', '*=gpu0', '--parallel', 'none')
        amount, unit = re.search(r'^  gpu0 +\S+ +[\d.]+ % +\d+ +([\d.]+) (\w+)', text, re.M).groups()
        return float(amount) * {'B': 1, 'KiB': 2**10, 'MiB': 2**20, 'GiB': 2**30}[unit]

    tensors, lora = 2 * 6 + 3, 2 * 4 # embeddings, last norm and head; of the rest six a layer
    trained = 2 * 2 * 4 * (256 + 256) # numbers
    for step in ((llama,), (llama + ':inference', '--train', 'adam')):
        text = flat(placed(*step, *options, *freeze))
        check(re.search(rf'frozen: {tensors} of {tensors + lora} parameters, .* no gradient', text), f'a note: {text}')
        whole, part, narrow = (resident(*step, *more) for more in ((), freeze, (*freeze, '--dtype', 'bf16')))
        single = whole / 3 # of parameters, without Adam's state
        check(abs(part - single - 8 * trained) < 0.005 * part, f'{step}: {part} of {single}')
        check(abs(narrow - single / 2 - 12 * trained) < 0.005 * narrow, f'{step} in 16 bits: {narrow} of {single}')
        refused(*step, *options, '--freeze', '*,!adapter*', because="no parameter is called 'adapter*'; write patterns")
        refused(*step, *options, '--freeze', '*', because='leaves nothing to train')
        refused(*step, *options, '--freeze', '', because='a pattern is empty')
    apart = flat(placed(llama, '--platform', 'hgx_a100_4gpu', *options[2:], *freeze, '--parallel', 'data=2'))
    check(f'{4 * trained / 2**10:.1f} KiB of gradients all-reduced' in apart, f'only what is trained: {apart}')
    refused(llama + ':inference', *options, *freeze, because='give --train, or leave --freeze out')


def splits_of_files(folder):
    """A network that is written to a file is split like itself, and so is the training step that is made of it."""
    options = ('--platform', 'dgx_a100', '--budget', '200moves')

    def best(model, *more):
        text = placed(model, *options, '--parallel', 'tensor=8', *more)
        amount, unit = re.search(r'^ +([\d.]+) (ms|µs) .* 8 × (?:tensor|data)', text, re.M).groups()
        return float(amount) * (1e3 if unit == 'ms' else 1)

    for network in ('gpt2_small@8x128:inference', 'resnet50@32:inference'):
        own = (f'zoo:{network}', '--kernels', 'separate')
        files = [os.path.join(folder, name) for name in ('split.onnx', 'split.pb')]
        for file in files:
            placed(*own, '--platform', 'dgx_a100', '--budget', '1moves', '-o', file)
        for more in ((), ('--train', 'adam')):
            wanted = best(*own, *more)
            for file in files:
                got = best(file, *more)
                check(abs(got - wanted) <= 0.01 * wanted, f'{network} {more} of {file}: {got} µs, not {wanted}')


def batches_of_programs(folder):
    """Programs that say all extents may have another batch, and are shared like others if nothing is in the way."""
    def program(name, text):
        with open(os.path.join(folder, name), 'w') as f:
            f.write('func.func @main(' + text + '\n}\n')
        return f.name

    w, x, y = 'tensor<16x4xf32>', 'tensor<8x16xf32>', 'tensor<8x4xf32>'
    product = f'%0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : ({x}, {w}) -> {y}\n'
    layer = program('layer.mlir', f'%w: {w}, %x: {x}) -> {y} {{\n{product} return %0 : {y}')
    step = program('step.mlir', f'%w: {w}, %x: {x}) -> {w} {{\n{product}'
                                f'%1 = stablehlo.dot_general %x, %0, contracting_dims = [0] x [0] : ({x}, {y}) -> {w}\n'
                                f'%2 = stablehlo.subtract %w, %1 : {w}\n return %2 : {w}')
    trained = program('trained.mlir',
                      f'%w: {w} {{tf.aliasing_output = 0 : i32}}, %x: {x}) -> {w} {{\n{product}'
                      f'%1 = stablehlo.dot_general %x, %0, contracting_dims = [0] x [0] : ({x}, {y}) -> {w}\n'
                      f'%2 = stablehlo.subtract %w, %1 : {w}\n return %2 : {w}')
    half = 'tensor<4x16xf32>'
    cut = program('cut.mlir', f'%x: {x}) -> {half} {{\n%0 = stablehlo.slice %x [0:4, 0:16] : ({x}) -> {half}\n'
                              f'return %0 : {half}')
    few = ('--platform', 'dgx_a100', '--budget', '10moves', '--parameters', '1')
    check('4 of 8 samples each' in flat(placed(layer, *few, '--parallel', 'data=2')), 'half of a fixed batch')
    check('32 of 64 samples each' in flat(placed(layer, *few, '--parallel', 'data=2', '--batch', '64')),
          'another batch')
    check('the batch is taken to be 8' in flat(placed(layer, *few)), 'the batch that is taken')
    refused(step, *few, '--parallel', 'data=2', because='adds up over the batch, as for a gradient')
    check('256 B of gradients all-reduced' in flat(placed(trained, *few, '--parallel', 'data=2,whole')),
          'a step that changes its parameter')
    refused(trained, *few, '--parallel', 'pipeline=2', because='which of its ops are of the backward pass is not known')
    check('8 × tensor' in placed(step, *few, '--parallel', 'tensor=8'), 'ops of a step that cannot be replicated')
    refused(cut, *few[:4], '--parameters', '0', '--batch', '16', because="it is not known what op '0' makes of another")
    placed(cut, *few[:4], '--parameters', '0')


def parts_by_speed(folder):
    """Parts of a batch by speed where memory limits them, and the plans of these."""
    few = ('--budget', '10moves')
    step = re.compile(r'Step time +(\S+ \S+)')

    def platform(name, host, *gpus):
        """A file; each GPU has a name, a speed, and bytes of memory of its own or the device that has it."""
        devices = [{'name': 'host', 'kind': 'cpu', 'speed': 1e12, 'memory': host, 'memory_bandwidth': 1e11}]
        for gpu, speed, memory in gpus:
            devices.append({'name': gpu, 'kind': 'gpu', 'speed': speed, 'memory_bandwidth': 1e12,
                            'memory' if isinstance(memory, int) else 'memory_of': memory})
        with open(os.path.join(folder, name), 'w') as f:
            json.dump({'format': 'weft.platform', 'version': 1, 'devices': devices,
                       'links': {'uniform': {'bandwidth': 1e10}}}, f)
        return f.name

    # A processor and a GPU that share one memory
    one = platform('shared.json', 2**32, ('card', 1e13, 'host'))
    net = ('zoo:mnist_conv@256', '--platform', one, *few)
    summary = flat(placed(*net, '--overhead', '1GiB'))
    check('in the memory that host and card share' in summary and 'of its 3.00 GiB' in summary and
          'host and card share one memory; its peak is shown for each' in summary, f'one memory: {summary}')
    refused(*net, '--overhead', '4GiB', because='of the memory that host and card share')
    refused(*net, '--offload', 'auto', because='card works in that memory already')
    tight = flat(placed(*net[:2], platform('tight_shared.json', 120 * 2**20, ('card', 1e13, 'host')), *few))
    check(re.search(r'does not fit: needs [\d.]+ MiB of 120 MiB in the memory that host and card share', tight) and
          not re.search(r'MiB on (host|card)', tight), f'what does not fit: {tight}')
    tighter = platform('tighter_shared.json', 60 * 2**20, ('card', 1e13, 'host'))
    r = run(*net[:2], tighter, '--by-layer')
    check(r.returncode == 1 and 'in the memory that host and card share' in flat(r.stderr), f'by layer: {r.stderr}')

    # … and another GPU: what is short is the memory of a device that has no part of the batch
    batch = ('zoo:resnet50_cifar10@1024', '--platform')
    shared = platform('shared_and_own.json', 2**30, ('card', 1e13, 'host'), ('slow', 4e12, 24 * 2**30))
    plan = os.path.join(folder, 'shared_by_speed.json')
    found = placed(*batch, shared, *few, '--parallel', 'data', '--plan', plan)
    samples = [int(x) for x in re.search(r'on card to slow, (\d+) \+ (\d+) of 1024 samples', flat(found)).groups()]
    check(sum(samples) == 1024 and 0 < samples[0] < 707 and 'no more samples fit on card' in flat(found) and
          'Not valid' not in found, f'parts of which one is in the memory of another device: {found[:600]}')
    again = placed(*batch, shared, '--from-plan', plan)
    check(step.search(again)[1] == step.search(found)[1], f'and again: {again[:600]}')

    # The fastest device holds nothing
    gpus = ('gpu0', 2e13, 2**24), ('gpu1', 1e13, 24 * 2**30), ('gpu2', 6e12, 24 * 2**30)
    three = platform('three.json', 2**40, *gpus)
    plan = os.path.join(folder, 'without_fastest.json')
    found = placed(*batch, three, *few, '--parallel', 'data', '--plan', plan)
    check('data parallelism on gpu1 to gpu2' in flat(found) and 'no sample fits on gpu0' in flat(found),
          f'without the fastest: {found[:600]}')
    again = placed(*batch, three, '--from-plan', plan)
    check(step.search(again)[1] == step.search(found)[1], f'and again: {again[:600]}')
    refused(*batch, platform('two.json', 2**40, *gpus[:2]), *few, '--parallel', 'data',
            because='--parallel data: one device would get all samples; no sample fits on gpu0')
    refused(*batch, three, *few, '--parallel', 'data=3,by-speed=0+1024+0', because='at least two of them above 0')


def main(folder):
    def path(name):
        return os.path.join(folder, name)

    def write(name, text):
        with open(path(name), 'w') as f:
            f.write(text)
        return path(name)

    few = ('--budget', '1000moves')
    net = ('zoo:mnist_conv', '--platform', 'workstation_2gpu', *few)

    # Help and wrong arguments
    check_help()
    help_text = placed('--help', 'all')
    for word in ('zoo:bert_large', 'pcie_4gpu', '--memory-share', 'ONNX', 'Examples'):
        check(word in help_text, f'--help says {word}')
    refused(because='model is required')
    refused('zoo:mnist_conv', because='--platform is required')
    refused('zoo:mnist_conv', '--platform', because='--platform needs a value: NAME|FILE')
    refused(*net, '--in-place', 'a' * 60000, because='--in-place')
    fixed = write('fixed.pbtxt', "node { name: 'x' op: 'Placeholder' attr { key: 'shape' value { shape { "
                  "dim { size: 4 } } } } attr { key: 'dtype' value { type: DT_FLOAT } } }\n"
                  "node { name: 'y' op: 'Relu' input: 'x' }\n")
    refused(fixed, '--platform', 'dgx_a100', '--batch', '8',
            because='the batch cannot be chosen: no extent is left open')
    refused(fixed, '--platform', 'dgx_a100', '--fuse', because='--fuse has no effect')
    refused('zoo:mnist', '--platform', 'dgx_a100', because="no network 'mnist'")
    refused('zoo:mnist_conv', '--platform', 'dgx_a101', because="no platform 'dgx_a101'")
    refused('zoo:mnist_conv', '--platform', 'none/such.json', because='no such file')
    refused('none.onnx', '--platform', 'dgx_a100', because='no such file')
    refused('zoo:mnist_conv@3', '--batch', '4', '--platform', 'dgx_a100', because='has a batch size already')
    refused(*net[:3], '--budget', 'much', because='not a budget')
    refused(*net, '--html', path('no/such/report.html'), because='cannot be opened')
    refused('none.onnx', *net[1:], '--plan', path('no/such/plan.json'), because='cannot be opened') # before all else
    refused(*net, '-o', path('placed.txt'), because='.pbtxt')
    refused(*net, '--memory-share', '2', because='--memory-share: 2 is not from 0.01 to 1 ')
    refused(*net, '--times', 'x', because=' takes --batch, --kernels, --attention and --profile')
    refused(*net, '--train', 'adam', because='training step already')

    for wrong in ('--platfrom', '--plat=dgx_a100'):
        refused('zoo:mnist_conv', wrong, because=f"unknown option '{wrong}'; did you mean --platform?")
    refused(*net, '--zzz', because="unknown option '--zzz' (place --help all")
    refused('zoo:mnist_conv', 'dgx_a100', because="--platform is required; 'dgx_a100' follows no option")
    refused('mnist_conv@8', *net[1:], because='there is no such file; the bundled network is zoo:mnist_conv@8')
    check(placed('--version').startswith('place (weft '), '--version')
    check(placed('zoo:mnist_conv', '--platform', 'preset:workstation_2gpu', *few).split('\n', 1)[1] ==
          placed(*net).split('\n', 1)[1], 'a preset has two names')

    # The same command prints the same; every output is what it says it is
    outputs = ('-o', path('net.onnx'), '--plan', path('plan.json'), '--html', path('net.html'), '--trace',
               path('t.json'))
    whole = ('--parallel', 'none')
    first = placed(*net, *outputs, *whole)
    check(re.sub(r'^\w+ written .*\n', '', first, flags=re.M) == placed(*net, *whole),
          'the same command prints the same')
    check('Step time' in first and 'Speed-up' in first and 'framework default' in first, 'the summary has its parts')
    check('Not valid' not in first, 'the run keeps to the execution model')
    check(all(len(line) <= 80 or 'written to' in line for line in first.splitlines()),
          'the summary has at most 80 columns')
    with open(path('plan.json')) as f:
        check(json.load(f)['format'] == 'weft.plan', 'a plan is written')
    with open(path('t.json')) as f:
        check(json.load(f)['traceEvents'], 'a trace is written')
    with open(path('net.html')) as f:
        page = f.read()
    check(page.startswith('<!doctype html>'), 'a page is written')
    check('<code>place ' in page and '--plan' in page, 'the page says which command made it')
    check('docs/' not in page, 'the page names no file that its reader does not have')

    # A model that was written reads back, as ONNX and as GraphDef in both forms, with devices
    again = placed(path('net.onnx'), '--platform', 'workstation_2gpu', *few)
    check(counts(again) == counts(first), f'ONNX: {counts(again)} and not {counts(first)}')
    for form in ('pb', 'pbtxt'):
        placed(*net, '-o', path('net.' + form))
        again = placed(path('net.' + form), '--platform', 'workstation_2gpu', *few, '-o', path('again.' + form))
        check(counts(again) == counts(first), f'{form}: {counts(again)} and not {counts(first)}')
    refused(path('net.onnx'), '--platform', 'workstation_2gpu', '-o', path('x.json'), because='use --plan for the plan')
    refused(path('net.pb'), '--platform', 'workstation_2gpu', '-o', path('x.onnx'), because='.pb or .pbtxt')
    refused(path('net.pb'), '--platform', 'workstation_2gpu', '--shape', 'nothing=1x2',
            because='neither an input of the graph')
    refused(path('net.onnx'), '--platform', 'workstation_2gpu', '--shape', 'x=1x2',
            because='--shape is for TensorFlow graphs')
    with open(path('again.pbtxt')) as f:
        devices = set(re.findall(r'device: "([^"]*)"', f.read()))
    check(devices and devices <= {'/device:CPU:0', '/device:GPU:0', '/device:GPU:1'},
          f'devices of a GraphDef: {devices}')
    check('training step' in placed('zoo:mnist_conv:inference', '--platform', 'workstation_2gpu', '--train', *few),
          'a forward graph becomes a training step')
    costs = write('costs.pbtxt',
                  'node { name: "a" id: 1 compute_cost: 5 output_info { size: 4 } }\n'
                  'node { name: "b" id: 2 compute_cost: 7 input_info { preceding_node: 1 } }\n')
    refused(costs, '--platform', 'dgx_a100', *few, '-o', path('costs.out'), because='-o writes ONNX models')
    refused(path('net.onnx'), '--platform', 'dgx_a100', '--times', costs, because='--times is for TensorFlow graphs')
    for objective in ('memory', 'period'):
        check('Step time' in placed(*net, '--objective', objective), f'objective {objective}')
    check('Result       period of' in placed(*net, '--objective', 'period'), 'the period comes first')

    # Chains of ops as kernels: fewer ops, less time, and each op of the file gets the device of its kernel
    forward = ('zoo:mnist_conv:inference', '--platform', 'workstation_2gpu', '--parallel', 'none', *few)
    pbtxt, plan = path('kernels.pbtxt'), path('kernels.json')
    each = placed(*forward, '-o', path('ops.pbtxt'))
    kernels = placed(*forward, '--fuse', '-o', pbtxt, '--plan', plan)
    check(int(counts(kernels)[0]) < int(counts(each)[0]) and f'{counts(each)[0]} ops run as {counts(kernels)[0]}' in
          flat(kernels), f'{counts(each)} ops and {counts(kernels)} kernels')
    with open(pbtxt) as f, open(path('ops.pbtxt')) as g:
        placed_nodes = [x.count('device: "/') for x in (f.read(), g.read())]
    check(placed_nodes[0] == placed_nodes[1] >= int(counts(each)[0]), f'nodes with devices: {placed_nodes}')
    again = placed(forward[0], '--platform', 'workstation_2gpu', '--from-plan', plan)
    check(counts(again) == counts(kernels), 'a plan knows that it was made for kernels')
    refused(*forward, '--fuse', '--pin', 'Relu=cpu', because='--pin names ops as the model has them')
    refused(*forward[:3], '--fuse', '--parallel', 'tensor=2', because='leave --fuse out')
    refused(path('net.onnx'), '--platform', 'workstation_2gpu', '--fuse', '--split', path('stages'),
            because='--fuse joins them')

    # Memory: narrower numbers take less and are faster, and what does not fit is told a batch that would
    separate = ('--kernels', 'separate')  # so that much is kept
    gpt = ('zoo:gpt2_small@1x64:inference', '--platform', 'workstation_1gpu', '--budget', '100moves', *separate)

    def pair_with(name, **memory):
        devices = [{'name': kind, 'kind': kind, 'speed': speed, **memory}
                   for kind, speed in (('cpu', 1e11), ('gpu', 1e13))]
        return write(name, json.dumps({'format': 'weft.platform', 'version': 1, 'devices': devices,
                                       'links': {'uniform': {'bandwidth': 1e10}}}))

    def peak(text):
        number, unit = re.search(r'Peak memory +([\d.,]+) (\w+)', text).groups()
        return float(number.replace(',', '')) * {'KiB': 1, 'MiB': 1024, 'GiB': 1048576}[unit]
    single = placed(*gpt)
    half = placed(*gpt, '--dtype', 'bf16')
    check('--least-gain 0 takes it' in flat(half), f'a small gain is told: {half[-800:]}')
    gains = placed(*gpt, '--dtype', 'bf16', '--least-gain', '0')
    check('--least-gain' not in gains and peak(gains) != peak(half), 'a small gain is taken')
    check(0.45 < peak(half) / peak(single) < 0.55, f'half of the memory: {peak(half)} of {peak(single)}')
    four, eight = (placed(*gpt, '--dtype', f'int{n}-weights') for n in (4, 8))
    check(peak(four) < 0.35 * peak(single), 'weights of 4 bits')
    check('weights of 4.5 bits with their scales' in flat(four), 'scales count')
    check('weights of 8.5 bits with their scales' in flat(eight), 'weights of 8 bits')
    check('weights of 4.8 bits' in flat(placed(*gpt, '--dtype', 'int4-weights=4.8')), 'bits per weight are given')
    for wrong in ('int4', 'int4-weights=', 'int4-weights=3', 'int4-weights=4.5x', 'int8-weights=17', 'fp16=4'):
        refused(*gpt, '--dtype', wrong, because='as in int')
    check('numbers are taken to be bf16' in flat(half), 'the format is said')
    cached = placed(*gpt, '--dtype', 'fp16', '--kv-cache', 'context=8192,heads=12,size=64')
    check(peak(cached) > peak(half) + 50 * 1024, 'a cache of 288 MiB, of which the host may have some')
    trained = ('zoo:gpt2_small@8x256:inference', '--train', 'adam', *gpt[1:])
    frozen_parameters()
    check(peak(placed(*trained, '--recompute', 'blocks')) < 0.8 * peak(placed(*trained)), 'blocks are recomputed')
    refused(*gpt, '--recompute', 'blocks', because='--recompute is for training steps; --train adds')
    refused(*gpt, '--recompute', 'auto', because='--recompute is for training steps; --train adds')
    refused(*trained, '--recompute', 'auto', '--max-batch', because='leave --by-layer, --max-batch')
    check('run again' not in flat(placed(*trained, '--recompute', 'auto')), 'nothing is run again where all fits')
    blocks = []
    for memory in (3.5e9, 3.2e9):
        host_and_gpu = write('host_and_gpu.json', json.dumps({
            'format': 'weft.platform', 'version': 1, 'links': {'uniform': {'bandwidth': 1e10}},
            'devices': [{'name': 'cpu', 'kind': 'cpu', 'speed': 1e11, 'memory': 3e7},
                        {'name': 'gpu', 'kind': 'gpu', 'speed': 1e13, 'memory': memory}]}))
        text = placed(*trained[:3], '--platform', host_and_gpu, '--budget', '50moves', '--recompute', 'auto',
                      '--parallel', 'none', *separate)
        blocks += re.findall(r'of the first (\d+) blocks are run again', flat(text))
    check(len(blocks) == 2 and 0 < int(blocks[0]) < int(blocks[1]) <= 12, f'as few blocks as fit: {blocks}')
    step_time = re.compile(r'Step time +(\S+ \S+)')
    tight = ('zoo:gpt2_small@8x256', '--platform', 'workstation_1gpu', '--memory-share', '0.2', *separate)
    for shared in ('none', 'auto'):
        text = placed(*tight, '--budget', '50moves', '--recompute', 'auto', '--parallel', shared, '--plan',
                      path('again.json'))
        transfers = re.search(r'([\d,]+) transfers?;', text)[1]
        check('run again' in flat(text) and int(transfers.replace(',', '')) < 50,
              f'recomputation rather than hundreds of hand-overs: {transfers} transfers')
        again = placed(*tight[:3], *separate, '--from-plan', path('again.json'))
        check(step_time.search(again)[1] == step_time.search(text)[1], 'the plan has what its own step runs again')
    text = flat(placed(*tight, '--budget', '50moves', '--recompute', 'blocks=1', '--parallel', 'auto'))
    check(re.search(r'idle, taken', text) and
          re.search(r'not taken: each op on one device, \d+\.\d % faster on paper: it hands \d+ tensors over', text),
          f'what hand-overs make slower is told: {text}')
    offloading = ('--budget', '50moves', '--offload', 'auto', *separate)
    steps = {}
    ample = write('ample.json', json.dumps({
        'format': 'weft.platform', 'version': 1, 'links': {'uniform': {'bandwidth': 1e10}},
        'devices': [{'name': 'cpu', 'kind': 'cpu', 'speed': 1e11, 'memory': 6e10},
                    {'name': 'gpu', 'kind': 'gpu', 'speed': 1e13, 'memory': 2.5e9}]}))
    for host, memory in ((6e10, 6e9), (6e10, 2.5e9), (1e9, 2.5e9)):
        beside_host = write('beside_host.json', json.dumps({
            'format': 'weft.platform', 'version': 1, 'links': {'uniform': {'bandwidth': 1e10}},
            'devices': [{'name': 'cpu', 'kind': 'cpu', 'speed': 1e11, 'memory': host},
                        {'name': 'gpu', 'kind': 'gpu', 'speed': 1e13, 'memory': memory}]}))
        if host < 6e9:
            found = run(*trained[:3], '--platform', beside_host, *offloading)
            check(found.returncode == 1 and 'no plan was found' in found.stderr, 'the memory of the host counts')
            continue
        steps[memory] = flat(placed(*trained[:3], '--platform', beside_host, *offloading))
    check('no tensors have to wait on the host' in steps[6e9], 'nothing is sent where all fits')
    sent = re.search(r'(\d+) tensors, ([\d.]+) GiB in all, wait on the host .* without this finds ([\d.]+) ms',
                     steps[2.5e9])
    check(sent and 1.3 < float(sent[2]) < 3, f'what does not fit is sent: {steps[2.5e9][-900:]}')
    ms = [float(re.search(r'Step time +([\d.]+) ms', text)[1]) for text in steps.values()]
    check(ms[0] <= ms[1] < 0.8 * float(sent[3]), f'it is faster than running ops on the host: {ms}')
    placed(*trained[:3], '--platform', ample, *offloading, '--plan', path('sent.json'))
    again = flat(placed(*trained[:1], '--platform', ample, '--from-plan', path('sent.json'), *separate))
    check('tensors wait on the host' in again and f'Step time {ms[1]:.3g} ms' in again,
          f'a plan that sends is read again: {again[-900:]}')
    placed(*trained[:3], '--platform', pair_with('most.json', memory=9e9), *offloading, '--plan', path('kept.json'))
    placed(*trained[:1], '--platform', path('most.json'), '--from-plan', path('kept.json'), *separate)
    placed(*trained[:3], '--platform', ample, *offloading, '--contention', 'none')
    slow = write('slow.json', json.dumps({'format': 'weft.profile', 'version': 1, 'entries': [
        {'machine': kind, 'op': 'layer_0/attention/Softmax', 'threads': 1, 'affinity': 'packed', 'seconds': [9]}
        for kind in ('gpu', 'cpu')]}))
    measured = flat(placed(*trained[:3], '--platform', ample, *offloading, '--recompute', 'auto', '--profile', slow))
    told = [float(x) for x in re.findall(r'(?:step takes|alone|finds) ([\d.]+) ms', measured)]
    check(len(told) >= 2 and all(9000 < x < 30000 for x in told), f'measured times are those it judges by: {told}')
    refused(*trained, '--offload', '3:4', because='write auto or none')
    refused(*trained, '--offload', '999999:4:5', because='there is no such tensor')
    refused(*trained, '--recompute', 'blocks=none', because='is not an extent')
    refused(*trained, '--recompute', 'layers', because='write attention, blocks, blocks=N or auto')
    check('of the first 3 blocks are run again' in flat(placed(*trained, '--recompute', 'blocks=3')), 'three blocks')
    check('run again' in flat(placed('zoo:gpt2_small@8x256', *gpt[1:], '--recompute', 'attention')),
          'attentions with dropout, in a step with gradients')
    beside_host = pair_with('less.json', memory=2.5e9)
    both = flat(placed(*trained[:3], '--platform', beside_host, *offloading, '--recompute', 'auto'))
    check('with recomputation alone' in both and float(re.search(r'Step time +([\d.]+) ms', both)[1]) < ms[1],
          f'recomputation and offloading together: {both[-900:]}')
    refused(*trained[:1], '--platform', beside_host, *offloading, because='trains nothing')
    refused(*trained[:3], '--platform', 'workstation_2gpu', *offloading, because='several accelerators')
    refused(*trained, '--offload', 'auto', '--max-batch', because='leave --by-layer, --max-batch')
    refused(*trained, '--offload', 'auto', '--parallel', 'data', because='give --parallel none')
    refused(*trained, '--dtype', 'int8', because='use bf16 or fp16')
    refused(*gpt, '--kv-cache', 'context=9', because='are needed')
    refused(*net, '--kv-cache', 'context=9,heads=1,size=1', because='no attention was found')
    refused(*gpt, '--overhead', '2x', because="--overhead")
    refused(*gpt, '--overhead', '2', because="'2' has no unit; give one, as in 2GiB")
    refused(*gpt, '--overhead', '2000GiB', because='--overhead: 1.95 TiB of every accelerator leaves nothing of')
    refused(*gpt, '--by-layer', '--max-batch', because='--by-layer cuts between layers')
    small_gpu = write('small_gpu.json', json.dumps({
        'format': 'weft.platform', 'version': 1, 'links': {'uniform': {'bandwidth': 1e10}},
        'devices': [{'name': 'cpu', 'kind': 'cpu', 'speed': 1e11},
                    {'name': 'gpu', 'kind': 'gpu', 'speed': 1e13, 'memory': 3.5e8}]}))
    small = ('zoo:gpt2_small@1x64:inference', '--platform', small_gpu, '--budget', '100moves')
    spilled = flat(placed(*small))
    check('no room for them: all ops need' in spilled and 'try --dtype bf16 or fp16' in spilled,
          f'16 bits would fit: {spilled[-900:]}')
    check('no room for them' not in flat(placed(*small, '--dtype', 'bf16')), 'in 16 bits nothing is spilled')
    endless = pair_with('endless.json')
    check(peak(placed('zoo:gpt2_small@1x64:inference', '--platform', endless, '--budget', '100moves', '--overhead',
                      '0.1')) > 0,
          'memory without limit stays so')
    none = pair_with('tiny.json', memory=100)
    found = run('zoo:mnist_conv:inference', '--platform', none, '--budget', '100moves', '--max-batch')
    check(found.returncode == 1 and 'with a batch of 1' in found.stderr, f'not even one fits: {found.stderr}')
    cache = ('--kv-cache', 'context=1024,heads=12,size=64')
    check('of 16 sequences' in flat(placed('zoo:gpt2_small@16x64:inference', *gpt[1:], *cache)),
          'the batch of the name')
    refused('zoo:gpt2_small@16x64:inference', *gpt[1:], '--kv-cache', cache[1] + ',batch=4', because='a batch of 16')
    refused(*gpt, '--max-batch', '--batch', '3', because='leave --batch')
    tight = pair_with('tight.json', memory=60000000)
    wide = ('zoo:mnist_conv:inference', '--platform', tight, '--budget', '100moves')
    def batch_of(summary):
        first = summary.split('\n')[0]
        told = re.search(r'with a batch of (\d+) on ', first)
        check(told and f'Result batch of {told[1]}, the largest that fits' in flat(summary) and
              'samples/s' in summary.split('Step time')[0], f'the first line has the batch: {summary[:400]}')
        return int(told[1]) if told else 0

    best = placed(*wide, '--max-batch=all')
    on_gpu = placed(*wide, '--max-batch')
    check(0 < batch_of(on_gpu) <= batch_of(best), 'the host has memory of its own')
    slow_host = [{'name': 'cpu', 'kind': 'cpu', 'speed': 1e9, 'memory': 1000000000},
                 {'name': 'gpu', 'kind': 'gpu', 'speed': 1e13, 'memory': 60000000}]
    host = write('slow_host.json', json.dumps({'format': 'weft.platform', 'version': 1, 'devices': slow_host,
                                               'links': {'uniform': {'bandwidth': 1e10}}}))
    spilled = placed(wide[0], '--platform', host, '--budget', '100moves', '--max-batch=all')
    kept = placed(wide[0], '--platform', host, '--budget', '100moves', '--max-batch')
    check(batch_of(spilled) > 2 * batch_of(kept) and 'with a batch of' in spilled.split('Step time')[0],
          f'host memory counts only if asked: {spilled[:400]} {kept[:400]}')
    refused(*wide, '--max-batch=host', because='write --max-batch for what fits')
    found = run(*wide, '--batch', '100000', '--parallel', 'none') # in micro-batches it fits
    told = re.search(r'it fits with --batch (\d+)', found.stderr)
    check(found.returncode == 1 and told, f'a smaller batch is told: {found.stderr}')
    # A proof is at hand: nothing is searched for.
    huge = run('zoo:resnet50@1000000', '--platform', 'workstation_2gpu', '--parallel', 'none', *few)
    check(huge.returncode == 1 and 'does not fit on workstation_2gpu: ' in huge.stderr and 'needs' in huge.stderr,
          f'what cannot fit: {huge.stderr}')
    if told:
        whole = (*wide, '--parallel', 'none', '--batch')
        check(peak(placed(*whole, told[1])) == peak(best), 'it is the one that --max-batch finds')
        check(run(*whole, int(told[1]) + 1).returncode == 1, 'one more does not fit')
        check(run(*whole, told[1], '--overhead', '0.5').returncode == 1, 'half of the memory is not enough')

    # One device: what it cannot hold at once it does in micro-batches, rather than on the host
    small_gpu = write('small_gpu.json', json.dumps({
        'format': 'weft.platform', 'version': 1, 'links': {'uniform': {'bandwidth': 1e10}},
        'devices': [{'name': 'cpu', 'kind': 'cpu', 'speed': 1e11, 'memory': 6e9},
                    {'name': 'gpu', 'kind': 'gpu', 'speed': 1e13, 'memory': 1.2e8}]}))
    batch = ('zoo:mnist_conv@512', '--platform', small_gpu)
    text = placed(*batch, '--budget', '100moves', '--parallel', 'auto', '--plan', path('accumulated.json'))
    check('4 micro-batches of 128 samples' in flat(text) and 'gradient accumulation' in text, text[-800:])
    again = placed(*batch, '--from-plan', path('accumulated.json'))
    check(counts(again) == counts(text) and peak(again) == peak(text), 'the plan makes it again')
    check('8 micro-batches of 64 samples' in flat(placed(*batch, '--parallel', 'accumulate=8')), 'as many as asked for')
    check('4 micro-batches' in flat(placed(*batch, '--parallel', 'accumulate')), 'as few as fit')
    check('micro-batches' not in placed('zoo:mnist_conv@512', '--platform', 'workstation_1gpu', '--budget', '100moves'),
          'what fits is done at once')
    refused(*batch, '--parallel', 'accumulate=5', because='cannot be split into 5 micro-batches')
    refused(*batch, '--parallel', 'accumulate=0', because='at least 1')
    refused(*batch, '--parallel', 'accumulate', '--sharding', path('none.json'), because='one device shares none')
    small_host = write('small_host.json', json.dumps({
        'format': 'weft.platform', 'version': 1, 'links': {'uniform': {'bandwidth': 1e10}},
        'devices': [{'name': 'cpu', 'kind': 'cpu', 'speed': 1e11, 'memory': 3e6},
                    {'name': 'gpu', 'kind': 'gpu', 'speed': 1e13, 'memory': 1.2e8}]}))
    found = run(*batch[:2], small_host, '--budget', '100moves', '--parallel', 'none')
    check(found.returncode == 1 and re.search(r'with --dtype bf16: ', found.stderr) and
          re.search(r'with --parallel auto: it fits, and a step takes [\d.]+ ms', found.stderr),
          f'what would help: {found.stderr}')

    tiny = pair_with('tiny.json', memory=2e6)
    help_with = {}
    for given in ('--parallel', 'auto'), ('--parallel', 'none', '--dtype', 'fp32'):
        found = run(*batch[:2], tiny, '--budget', '100moves', *given)
        help_with[given[1]] = re.findall(r'^  with (--[^:]+): ', found.stderr, re.M)
        check(found.returncode == 1, f'{given} is not enough: {found.stdout[:300]}')
    check('--dtype bf16' in help_with['none'] and '--parallel auto' in help_with['none'] and
          not {'--parallel auto', '--offload auto'} & {*help_with['auto']}, f'what is not refused: {help_with}')

    # Energy, on two devices that say what they draw: a slow one that takes 20 J and 4 s per op, a fast one 100 J, 1 s
    def machine(known=True):
        slow = {'name': 'slow', 'kind': 'gpu', 'speed': 2.5e11, 'memory': 1e12, 'memory_bandwidth': 1e15}
        fast = {'name': 'fast', 'kind': 'gpu', 'speed': 1e12, 'memory': 1e12, 'memory_bandwidth': 1e15}
        for device, active in (slow, 5), (fast, 100):
            device.update({'active_watts': active} if known else {})
        return write('two.json', json.dumps({'format': 'weft.platform', 'version': 1, 'devices': [slow, fast],
                                             'links': {'uniform': {'bandwidth': 1e9}}}))

    two_ops = write('two_ops.json', json.dumps({'format': 'weft.workload', 'version': 1,
                                                'ops': [{'name': n, 'type': 'MatMul', 'work': 1e12} for n in 'ab']}))
    on_two = (two_ops, '--platform', machine(), '--peak-rates', *few)
    least = placed(*on_two, '--objective', 'energy')
    check('Result       energy of 40 J a step' in least and 'Step time    8.00 s' in least,
          f'least energy: {least[:400]}')
    in_time = placed(*on_two, '--objective', 'energy', '--deadline', '5')
    check('energy of 120 J a step' in in_time and 'Step time    4.00 s' in in_time,
          f'least energy in 5 s: {in_time[:400]}')
    r = run(*on_two, '--objective', 'energy', '--deadline', '1.5')
    check('  with ' not in r.stderr, f'less memory does not make a step faster: {r.stderr}')
    check(r.returncode == 1 and 'it may take 1500 ms, and the fastest that was found takes 2000 ms' in r.stderr,
          f'nothing in time: {r.stderr[:300]}')
    fronts = placed(*on_two, '--pareto', '--html', path('front.html'))
    check('3 trade-offs, from 2000 ms with 200 J to 8000 ms with' in fronts and 'Step time    2.00 s' in fronts,
          f'trade-offs: {fronts[:400]}')
    with open(path('front.html')) as f:
        check(f.read().count('<circle') == 3, 'the report draws them')
    check('Step time    8.00 s' in placed(*on_two, '--pareto', '--objective', 'energy'),
          'trade-offs, and the least energy')
    refused(two_ops, '--platform', machine(known=False), '--peak-rates', '--objective', 'energy',
            because='does not say what power its devices draw')
    refused(*on_two, '--deadline', '5', because='--deadline needs --objective energy')

    # Ops where they are pinned to: by type, name and pattern, also when a plan is run again
    def where(*arguments):
        out = placed(*net, *arguments, '--plan', path('pinned.json'))
        with open(path('pinned.json')) as f:
            plan = json.load(f)
        return flat(out), {op: plan['devices'][d] for op, d in zip(plan['ops'], plan['placement'])}

    said, on = where('--pin', 'Conv2D=gpu1,fc2/*=cpu', '--pin', 'fc1/MatMul=gpu0|gpu1')
    check(on['conv1/Conv2D'] == on['conv2/Conv2D'] == 'gpu1' and on['fc2/MatMul'] == 'cpu' and
          on['fc1/MatMul'] in ('gpu0', 'gpu1') and all(d == 'cpu' for op, d in on.items() if 'fc2/' in op),
          f'pinned: { {op: d for op, d in on.items() if "Conv2D" in op or "fc" in op} }')
    check("2 ops are pinned to gpu1 by 'Conv2D'" in said and 'Not valid' not in said, f'notes of pins: {said[-600:]}')
    again = placed('zoo:mnist_conv', '--platform', 'workstation_2gpu', '--from-plan', path('pinned.json'))
    check("2 ops are pinned to gpu1 by 'Conv2D'" in flat(again), 'a plan knows its pins')
    for objective in ('period', 'memory'):
        said, on = where('--pin', 'Conv2D=gpu1', '--objective', objective)
        check(on['conv1/Conv2D'] == on['conv2/Conv2D'] == 'gpu1', f'pinned, objective {objective}')
    refused(*net, '--pin', 'Conv2=gpu1', because="pin 'Conv2=gpu1': matches no op")
    refused(*net, '--pin', 'Conv2D=gpu2', because="'gpu2' is neither a device of the platform nor a kind of device")
    refused(*net, '--pin', 'Conv2D', because='write OPS=DEVICE')
    refused(*net, '--pin', 'Conv2D=gpu1,conv1/*=gpu0', because="is pinned to gpu0, and to gpu1 by 'Conv2D'")
    refused(*net, '--pin', 'input=gpu1', because='runs on cpu only')
    small = ('zoo:gpt2_medium@16', '--platform', pair_with('small.json', memory=2e9), '--budget', '10moves')
    found = run(*small, '--pin', 'layer_0/*=gpu')
    check(found.returncode == 1 and 'kind8' not in found.stderr, f'no names of kinds: {found.stderr}')

    # Shared links: a tensor goes to two devices that can take nothing else, over the one way out of the first
    shared = write('shared.json', json.dumps({
        'format': 'weft.platform', 'version': 1,
        'devices': [{'name': 'host', 'kind': 'cpu', 'speed': 1e12, 'memory': 1e12, 'memory_bandwidth': 1e15},
                    *({'name': f'gpu{i}', 'kind': 'gpu', 'speed': 1e12, 'memory': 1e12, 'memory_bandwidth': 1e15}
                      for i in range(2))],
        'links': {'network': {'switches': ['hub'],
                              'links': [{'between': [d, 'hub'], 'bandwidth': 1e9}
                                        for d in ('host', 'gpu0', 'gpu1')]}}}))
    forked = write('forked.json', json.dumps({
        'format': 'weft.workload', 'version': 1,
        'ops': [{'name': 'a', 'type': 'MatMul', 'work': 1e12, 'outputs': [10**9], 'kinds': ['cpu']},
                *({'name': n, 'type': 'MatMul', 'work': 10e12, 'kinds': ['gpu'], 'inputs': ['a']} for n in 'bc')]}))
    for how, seconds in (('none', '12.0'), ('port', '13.0'), ('fair', '13.0')):
        told = placed(forked, '--platform', shared, '--peak-rates', *few, '--contention', how)
        check(f'Step time    {seconds} s' in told and 'Not valid' not in told, f'--contention {how}: {told[:300]}')
    # … of which the platform knows, if it says how its devices are joined; and a transfer may take a second to start
    check('Step time    13.0 s' in placed(forked, '--platform', shared, '--peak-rates', *few),
          'without --contention: fair')
    check('share links' in flat(placed(forked, '--platform', shared, '--peak-rates', *few, '--objective', 'period')),
          'the period is that of links that are not shared, and says so')
    check('share' not in placed(*on_two), 'a link per pair is no network')
    with open(shared) as f:
        powered = json.load(f)
    for d in powered['devices']:
        d['idle_watts'] = d['active_watts'] = 1
    powered = write('powered.json', json.dumps(powered))
    # Four ops of a group, which hold 20 bytes at a time, and 70 if all that they make is reserved
    chain = write('chain.json', json.dumps({
        'format': 'weft.workload', 'version': 1,
        'ops': [{'name': f'op{i}', 'type': 'MatMul', 'work': 1e12, 'outputs': [10], 'group': 'g',
                 **({'inputs': [f'op{i - 1}']} if i else {})} for i in range(4)]}))
    little = write('little.json', json.dumps({
        'format': 'weft.platform', 'version': 1,
        'devices': [{'name': 'cpu', 'kind': 'cpu', 'speed': 1e11, 'memory_bandwidth': 1e15, 'idle_watts': 1,
                     'active_watts': 1},
                    {'name': 'gpu', 'kind': 'gpu', 'speed': 1e12, 'memory': 100, 'memory_bandwidth': 1e15,
                     'idle_watts': 1, 'active_watts': 1}],
        'links': {'uniform': {'latency': 0, 'bandwidth': 1e9}}}))
    for objective in ('makespan', 'energy', 'period', 'memory'):
        told = flat(placed(chain, '--platform', little, '--peak-rates', *few, '--objective', objective,
                           '--memory-share', '0.5', '--contention', 'none'))
        check('Step time 4.00 s' in told and 'bound of 40' not in told and '50 B' in told and
              'plans may use 50 %' in told, f'half of the memory, {objective}: {told[:600]}')
        check(objective != 'period' or 'period of 4000 ms' in told, f'half of the memory: {told[:300]}')
    for how, joules in (('none', 36), ('fair', 39)):
        told = placed(forked, '--platform', powered, '--peak-rates', *few, '--objective', 'energy', '--contention', how)
        check(f'energy of {joules} J a step' in told and 'Not valid' not in told, f'energy, {how}: {told[:300]}')
    with open(shared) as f:
        slow = json.load(f)
    slow['devices'][0]['send_overhead'] = 1
    slow = write('slow.json', json.dumps(slow))
    check('Step time    14.0 s' in placed(forked, '--platform', slow, '--peak-rates', *few, '--contention', 'none'),
          'starting the two transfers takes a second each')
    check('each device sends one tensor at a time' in flat(placed(*net, '--contention', 'port')), 'the network is told')
    check('slack' in placed(*net, '--contention', 'fair', '--uncertainty', '0.2'), 'samples on the network')
    refused(*on_two, '--contention', 'fair', '--objective', 'period',
            because='--contention needs --objective makespan or energy')
    refused(*on_two, '--contention', 'some', because='--contention')

    refused(*on_two, '--pareto', '--objective', 'period', because='--pareto is of step time and energy')
    # Uncertain times
    check('ncertain' not in first, 'nothing is said of uncertainty that was not asked for')
    uncertain = placed(*net, '--uncertainty', '0.2', '--html', path('uncertain.html'))
    check('lognormal with sigma 0.2' in flat(uncertain) and 'with probability 95 %' in flat(uncertain),
          'the spread is told')
    check('Most often critical' in uncertain, 'and the ops that it depends on')
    told = uncertain.replace(f'report written to {path("uncertain.html")}\n', '')
    check(placed(*net, '--uncertainty', '0.2') == told,
          'the same command draws the same samples')
    with open(path('uncertain.html')) as f:
        check('id="uncertainty"' in f.read(), 'the page has them, too')
    refused(*net, '--uncertainty', '-0.1', because='--uncertainty')
    refused(*net, '--uncertainty', 'much', because='--uncertainty')

    # Plans are read again: every report has the figures that it had, to the last digit
    def plan_in(name):
        with open(path(name)) as f:
            return json.load(f)

    def bytes_in(name):
        with open(path(name), 'rb') as f:
            return f.read()

    def replayed(name, *command):
        """Writes a plan and takes it again without a repeated option; what both wrote."""
        model = command[:3]
        once = placed(*command, *few, '--plan', path(f'{name}.json'), '--trace', path(f'{name}.1'))
        again = placed(*model, '--from-plan', path(f'{name}.json'), '--plan', path(f'{name}.again.json'),
                       '--trace', path(f'{name}.2'), '--html', path(f'{name}.html'))
        before, after = plan_in(f'{name}.json'), plan_in(f'{name}.again.json')
        check(before == after, f'{name}: the plan is written as it was read')
        check(bytes_in(f'{name}.1') == bytes_in(f'{name}.2'), f'{name}: the run is the same')
        def figures(text):
            return [line for line in text.splitlines()
                    if re.match('  (Step time|Peak memory|Critical)|.*B .* (%|–)$', line)]
        check(figures(once) and figures(once) == figures(again), f'{name}: the figures are the same')
        check('was expected to take' not in flat(again) and 'Not valid' not in again, f'{name}: nothing else came out')
        check(name in bytes_in(f'{name}.html').decode(), f'{name}: the page says which plan it is of')
        return before, again

    onnx_net = (path('net.onnx'), '--platform', 'workstation_2gpu')
    made, _ = replayed('bundled', 'zoo:mnist_conv:inference', '--platform', 'workstation_2gpu', '--batch', '64',
                       '--train')
    check(made['origin']['options'] == {'batch': ['64'], 'contention': ['fair'], 'train': ['']}
          and made['origin']['model']['name'] == 'zoo:mnist_conv:inference'
          and 'sha256' not in made['origin']['model'], f'what a bundled network was made with: {made["origin"]}')
    made, _ = replayed('file', *onnx_net, '--contention', 'fair', '--peak-rates', '--memory-share', '0.9')
    origin = made['origin']
    check(origin['model']
          == {'name': 'net.onnx', 'format': 'ONNX', 'sha256': hashlib.sha256(bytes_in('net.onnx')).hexdigest()},
          f'the digest is that of the bytes: {origin["model"]}')
    check(origin['options'] == {'contention': ['fair'], 'memory-share': ['0.9'], 'peak-rates': ['true']},
          f'options: {origin}')
    check(made['devices'][0] and len(made['ops']) == len(made['placement']) == len(set(made['ops'])), 'ops have names')
    check(origin['objective'] == {'name': 'makespan', 'value': origin['step_seconds'], 'unit': 's'} and origin['notes'],
          f'the objective: {origin["objective"]}')
    for objective, unit in (('period', 's'), ('memory', "of a device's memory")):
        made, told = replayed(objective, *onnx_net, '--objective', objective)
        check(made['origin']['objective']['unit'] == unit, f'{objective}: {made["origin"]["objective"]}')
        check(('Result       period of' in told) == (objective == 'period'), f'{objective} is told: {told[:300]}')
    made, told = replayed('energy', two_ops, '--platform', machine(), '--peak-rates', '--objective', 'energy',
                          '--deadline', '5')
    check(made['origin']['objective'] == {'name': 'energy', 'value': 120, 'unit': 'J'} and 'energy of 120 J' in told,
          f'energy: {made["origin"]["objective"]}')
    replayed('conditions', graph_of_fetch(write), '--platform', 'workstation_2gpu', '--fetch', 'a,b', '--shape',
             'x=64x1000')

    # … by other programs' files, too: ops and devices are found by name
    def changed(name, change):
        plan = plan_in('file.json')
        change(plan)
        return write(name, json.dumps(plan))

    def old(plan):
        for key in ('origin', 'ops', 'devices'):
            del plan[key]
    same = (*onnx_net, '--contention', 'fair', '--peak-rates')
    told = placed(*same, '--from-plan', changed('old.json', old), '--plan', path('old.again.json'))
    check('taken by their numbers' in flat(told)
          and plan_in('old.again.json')['origin']['step_seconds'] == origin['step_seconds'],
          'a plan without names is still read')

    def backwards(plan):
        n, k = len(plan['ops']) - 1, len(plan['devices']) - 1
        plan['ops'].reverse()
        plan['devices'].reverse()
        plan['placement'] = [k - d for d in reversed(plan['placement'])]
        plan['order'] = [n - step for step in plan['order'] if isinstance(step, int)]
    placed(*onnx_net, '--from-plan', changed('backwards.json', backwards), '--plan', path('forwards.json'))
    check(plan_in('forwards.json')['placement'] == plan_in('file.json')['placement'] and
          plan_in('forwards.json')['origin']['step_seconds'] == origin['step_seconds'], 'names count, not numbers')

    with open(path('touched.onnx'), 'wb') as f:
        f.write(bytes_in('net.onnx') + b'\x28\x00') # the model's version is said to be 0
    touched = hashlib.sha256(bytes_in('touched.onnx')).hexdigest()
    told = flat(placed(path('touched.onnx'), *onnx_net[1:], '--from-plan', path('file.json')))
    check(f"made for 'net.onnx' (SHA-256 {origin['model']['sha256']}), and this is 'touched.onnx' (SHA-256 {touched}); "
          'their ops have the same names' in told, f'another file of the same ops: {told}')

    def renamed(plan):
        plan['ops'][:4] = ['w', 'x', 'y', 'z']
    refused(path('touched.onnx'), *onnx_net[1:], '--from-plan', changed('renamed.json', renamed),
            because="'w', 'x', 'y', ...")
    refused(path('touched.onnx'), *onnx_net[1:], '--from-plan', path('renamed.json'), because=f'(SHA-256 {touched})')
    refused('zoo:dcgan', *onnx_net[1:], '--from-plan', path('file.json'), because='ops are not in the plan')
    refused(onnx_net[0], '--platform', machine(), '--from-plan', path('file.json'),
            because='the platform has none of that name')
    told = flat(placed(*onnx_net, '--peak-rates', '--contention', 'none', '--from-plan', path('file.json')))
    check('--contention none is given; the plan was made with --contention fair' in told,
          f'other options are told: {told}')

    def stuck(plan):
        plan['order'].reverse()
    refused(*onnx_net, '--from-plan', changed('stuck.json', stuck), because='the plan breaks a rule')

    def unknown(plan):
        plan['origin']['options']['colour'] = ['red']
    refused(*onnx_net, '--from-plan', changed('unknown.json', unknown),
            because='--colour red, an option that this program')

    def wrong(plan):
        plan['origin']['options']['memory-share'] = ['7']
    refused(*onnx_net, '--from-plan', changed('wrong.json', wrong), because='it was made with --memory-share 7')

    def aim(plan):
        plan['origin']['objective']['name'] = 'beauty'
    refused(*onnx_net, '--from-plan', changed('aim.json', aim), because="'beauty' is not an objective")
    for option in (('--budget', '3'), ('--objective', 'period'), ('--pareto',), ('--jobs', '2')):
        refused(*onnx_net, *option, '--from-plan', path('file.json'), because=f'{option[0]} is for searches')
    refused(*onnx_net, '--from-plan', path('none.json'), because='no such file')
    refused(*onnx_net, '--from-plan', path('t.json'), because="the key 'format' is missing")

    on_small = {'format': 'weft.platform', 'version': 1, 'links': {'uniform': {'bandwidth': 1e9}},
                'devices': [{'name': 'a', 'kind': 'gpu', 'speed': 1e12, 'memory': 1e6, 'memory_bandwidth': 1e12}]}
    two = write('two_large.json', json.dumps({'format': 'weft.workload', 'version': 1, 'ops': [
        {'name': n, 'type': 'MatMul', 'work': 1e12, 'resident_bytes': 10**6} for n in 'ab']}))
    full = write('full.json', json.dumps({'format': 'weft.plan', 'version': 1, 'placement': [0, 0]}))
    r = run(two, '--platform', write('one_small.json', json.dumps(on_small)), '--from-plan', full)
    check(r.returncode == 1 and 'Not valid' in r.stdout,
          f'a plan that does not fit is told: {r.returncode} {r.stdout[:300]}')

    # An ONNX model is cut into stages, which fit together
    told = placed(*onnx_net, *few, '--plan', path('cut.json'), '--split', path('cut'))
    manifest = json.loads(bytes_in('cut/manifest.json'))
    stages = manifest['stages']
    check(re.search(rf'^{len(stages)} stages? written to ', told, re.M), f'stages are written: {told[-200:]}')
    check(sorted(os.listdir(path('cut'))) == ['manifest.json'] + [x['file'] for x in stages], 'a file per stage')
    check(manifest['format'] == 'weft.split' and manifest['model'] == {
        'name': 'net.onnx', 'sha256': hashlib.sha256(bytes_in('net.onnx')).hexdigest()},
          f'of which model: {manifest["model"]}')
    check(sum(x['nodes'] for x in stages) == len(plan_in('cut.json')['ops']), 'every node is in a stage')
    check({x['device'] for x in stages}
          == {plan_in('cut.json')['devices'][d] for d in plan_in('cut.json')['placement']},
          'stages of all devices of the plan')
    for k, stage in enumerate(stages):
        for x in stage['inputs']:
            made = [o for o in stages[x['from']]['outputs']
                    if o['name'] == x['name']] if x['from'] is not None else None
            check(x['from'] is None or (x['from'] < k and k in made[0]['to'] and k in stages[x['from']]['feeds']),
                  f'stage {k} is fed by an earlier one: {x}')
        check(0 <= stage['start'] <= stage['finish'] <= plan_in('cut.json')['origin']['step_seconds']
              and stage['seconds'] >= 0,
              f'times of stage {k}')
        check(counts(placed(path('cut/' + stage['file']), *onnx_net[1:], *few))[0]
              == str(stage['nodes'] + stage['copied_nodes']),
              f'stage {k} is a model')
    placed(*onnx_net, '--from-plan', path('cut.json'), '--split', path('cut again'))
    check(all(bytes_in('cut/' + f) == bytes_in('cut again/' + f) for f in os.listdir(path('cut'))),
          'the same stages of a plan')
    refused(*net, '--split', path('cut'), because='--split cuts ONNX models')
    refused(*onnx_net, *few, '--split', path('net.onnx'), because='the folder cannot be made')

    def field(number, content):
        return bytes([number << 3 | 2, len(content)]) + content
    weights = (b'\x08\x02\x10\x01' + field(8, b'w') + field(13, field(1, b'location') + field(2, b'w.bin'))
               + b'\x70\x01')
    outside = (field(1, field(1, b'x') + field(1, b'w') + field(2, b'y') + field(4, b'Add')) + field(2, b'g')
               + field(5, weights) +
               field(11, field(1, b'x') + field(2, field(1, b'\x08\x01' + field(2, field(1, b'\x08\x02'))))) +
               field(12, field(1, b'y') + field(2, field(1, b'\x08\x01' + field(2, field(1, b'\x08\x02'))))))
    os.makedirs(path('in/side'))
    with open(path('in/outside.onnx'), 'wb') as f:
        f.write(b'\x08\x08' + field(7, outside) + field(8, b'\x10\x11'))
    for where, way in (('in', b'\x05w.bin'), ('.', b'\x08in/w.bin')):
        placed(path('in/outside.onnx'), *onnx_net[1:], *few, '--split', path(where))
        check(way in bytes_in(where + '/stage_00.onnx'), f'weights in another file are found from {where}')
    refused(path('in/outside.onnx'), *onnx_net[1:], *few, '--split', path('in/side'),
            because='ONNX lets a model name files of its own folder only')

    # Measured times
    profile = {'format': 'weft.profile', 'version': 1,
               'entries': [{'machine': 'gpu', 'op': 'conv1/Conv2D', 'threads': 1, 'affinity': 'packed',
                            'seconds': [2]}]}
    slow = placed(*net, '--profile', write('profile.json', json.dumps(profile)))
    check('1 of ' in slow and re.search(r'Step time +2\.', slow), 'a measured op takes its time')
    profile['entries'][0]['machine'] = 'elsewhere'
    refused(*net, '--profile', write('elsewhere.json', json.dumps(profile)), because='has no time for any op')

    # What does not fit
    devices = [{'kind': 'cpu', 'speed': 1e12, 'memory': 2e6, 'memory_bandwidth': 1e11},
               {'name': 'card', 'kind': 'gpu', 'speed': 1e13, 'memory': 3e7, 'memory_bandwidth': 1e12}]
    small = {'format': 'weft.platform', 'version': 1, 'devices': devices, 'links': {'uniform': {'bandwidth': 1e10}}}
    r = run('zoo:mnist_conv', '--platform', write('small.json', json.dumps(small)), *few, '-o', path('not.onnx'))
    check(r.returncode == 1 and not r.stdout, f'what does not fit: exit code {r.returncode}')
    check('does not fit' in r.stderr and 'no number of devices like card would be enough' in r.stderr,
          f'says what lacks: {r.stderr[:300]}')
    check(not os.path.exists(path('not.onnx')), 'no model without a plan')

    # What of the platform is a guess is told first
    devices = [{'name': 'host', 'kind': 'cpu', 'speed': 1e12},
               {'name': 'card', 'kind': 'gpu', 'speed': 1e13, 'memory_bandwidth': 1e12}]
    guessed = {'format': 'weft.platform', 'version': 1, 'notes': ['host: 1 TFLOP/s at best'], 'devices': devices,
               'links': {'uniform': {'bandwidth': 1e10}}}
    first = placed('zoo:mnist_conv', '--platform', write('guessed.json', json.dumps(guessed)), *few).split('\n\n')[0]
    check('a guess: host: 1 TFLOP/s at best' in first, f'a note of the platform: {first}')
    check('a guess: host has no memory_bandwidth, unlike others' in flat(first), f'a device without limit: {first}')

    # Several devices that share a batch
    split = ('zoo:resnet50_cifar10@1024', '--platform', 'hgx_a100_4gpu', '--budget', '10moves')
    auto = placed(*split)
    check('strategy: data parallelism on gpu0 to gpu3, 256 of 1024 samples each' in flat(auto), f'auto: {auto[:600]}')
    ways = [w for w in auto.split('Ways to share the work\n')[1].split('\n\n')[0].split('\n')[1:] if w[:51].strip()]
    names = [w[51:] for w in ways]
    check({'4 × data', '4 × data, sharded updates', '4 × data, fully sharded', '2 × data', '4 × tensor', '2 × tensor',
           '2 × data, 2 × tensor', 'each op on one device'} == {n for n in names if 'pipeline' not in n},
          f'ways: {names}')
    check('takes at least' in flat(auto), f'a bound for each op on one device: {ways}')
    check('faster than one of them from a batch of' in flat(auto), f'says when it pays: {auto[-600:]}')
    rates = [float(w.split()[2]) for w in ways if w.split()[0] != '–']
    check(rates == sorted(rates, reverse=True) and rates[0] > 1.5 * rates[-1], f'the fastest first: {rates}')
    alone = placed(*split, '--parallel', 'none')
    check('Ways to share' not in alone and 'data_0' not in alone, 'no split')
    two = placed(*split, '--parallel', 'data=2', '--plan', path('two.json'), '--html', path('two.html'))
    check('512 of 1024 samples each' in flat(two), f'two replicas: {two[:600]}')
    with open(path('two.json')) as file:
        plan = json.load(file)
    check(any(name.startswith('data_1/') for name in plan['ops']), 'the plan has the ops of replicas')
    with open(path('two.html')) as file:
        check('Ways to share the work' in file.read(), 'the report compares ways')
    again = placed(*split[:3], '--from-plan', path('two.json'))
    step = re.compile(r'Step time +(\S+ \S+)')
    check(step.search(again)[1].rstrip(',') == step.search(two)[1].rstrip(','), f'again: {again[:600]}')
    inference = placed('zoo:resnet50_cifar10@1024:inference', *split[1:])
    check('data parallelism' in inference and 'so there are no gradients to reduce' in flat(inference),
          f'inference is split: {inference[:400]}')
    check('several devices may also split the batch' in
          flat(placed(*split, '--plan', path('own.json'))), 'a plan of the own ops says so')
    graph = placed(*split, '--launches', 'graph')
    ms = re.compile(r'Step time +([0-9.]+) ms')
    check(float(ms.search(graph)[1]) < float(ms.search(auto)[1]), f'launched as a graph: {graph[:300]}')
    experts = ('zoo:switch_base@8x32', '--platform', 'hgx_a100_4gpu', '--budget', '10moves')
    shared = placed(*experts, '--parallel', 'data=4,sharded,experts', '--plan', path('experts.json'))
    check('each of 8 experts on one of them' in flat(shared) and 'Not valid' not in shared, f'experts: {shared[:600]}')
    again = placed(*experts[:3], '--from-plan', path('experts.json'))
    check(step.search(again)[1] == step.search(shared)[1], f'experts again: {again[:600]}')
    check(', experts' in placed(*experts, '--parallel', 'data=4'), 'experts are tried')
    unlike = json.dumps({**guessed, 'devices': [*devices, {**devices[1], 'name': 'slow', 'speed': 4e12}], 'notes': []})
    mixed = ('zoo:resnet50_cifar10@1024', '--platform', write('unlike.json', unlike), '--budget', '10moves')
    parts = placed(*mixed, '--parallel', 'data', '--plan', path('by_speed.json'))
    examples = [int(x) for x in re.search(r'on card to slow, (\d+) \+ (\d+) of 1024 samples', flat(parts)).groups()]
    check(sum(examples) == 1024 and examples[0] > 1.5 * examples[1], f'parts by speed: {examples}')
    again = placed(*mixed[:3], '--from-plan', path('by_speed.json'))
    check(step.search(again)[1] == step.search(parts)[1], f'by speed again: {again[:600]}')
    def with_memory(name, card, slow): # in KiB
        kinds = [(devices[0], {}), (devices[1], {'memory': int(1024 * card)}),
                 (devices[1], {'memory': int(1024 * slow), 'name': 'slow', 'speed': 4e12})]
        return write(name, json.dumps({**guessed, 'devices': [{**d, **more} for d, more in kinds], 'notes': []}))
    held = placed(mixed[0], '--platform', with_memory('full.json', 0.7 * peak(parts), 2 * peak(parts)), *mixed[3:],
                  '--parallel', 'data=2,by-speed')
    fewer = [int(x) for x in re.search(r'on card to slow, (\d+) \+ (\d+) of 1024 samples', flat(held)).groups()]
    check(sum(fewer) == 1024 and 0 < fewer[0] < examples[0] and 'no more samples fit on card' in flat(held) and
          'Not valid' not in held, f'parts by speed and memory: {fewer}, {held[:600]}')
    refused(mixed[0], '--platform', with_memory('tight.json', 0.4 * peak(parts), 0.4 * peak(parts)), *mixed[3:],
            '--parallel', 'data=2,by-speed,whole', because='give a smaller batch')
    refused(*split, '--parallel', 'data=4,whole,by-speed', because='no accelerators that differ')
    refused(*mixed, '--parallel', 'data=2,by-speed=24+1001', because='does not add up to the 1024 samples')
    refused(*mixed, '--parallel', 'data=2,by-speed=24', because='N numbers of samples')
    for updates in ('sharded', 'fully-sharded'):
        refused('zoo:gpt2_small@4:inference', *split[1:], '--parallel', f'data=4,{updates}',
                because='nothing is updated')
    refused(*split, '--parallel', 'data=4,experts', because='there are no experts')
    refused(*split, '--parallel', 'data=4,experts,tensor=2', because='write nothing')
    refused(*split, '--parallel', 'tensors', because='write auto, data, tensor or context')
    refused(*split, '--parallel', 'data=1', because='at least 2')
    refused(*split, '--parallel', 'data=x', because='data=')
    refused(*split, '--parallel', 'data', '-o', path('x.onnx'), because='leave --pin')
    refused(*split, '--parallel', 'data=3', because='cannot be split among 3 devices')
    refused(*split, '--parallel', 'data=9', because='there are only 4 devices that are alike, not 9')
    refused('zoo:mnist_conv@1', *split[1:], '--parallel', 'data', because='a batch of 1')
    stages = ('zoo:gpt2_small@16x64', '--platform', 'hgx_a100_4gpu', '--budget', '10moves')
    way = 'pipeline=2,data=2,micro-batches=4'
    piped = placed(*stages, '--parallel', way, '--plan', path('piped.json'), '--html', path('piped.html'),
                   '--schedule', path('piped.csv'), '--export', f"megatron={path('megatron.txt')}",
                   '--export', f"vllm={path('vllm.sh')}", '--export', f"deepspeed={path('deepspeed.py')}")
    check('strategy: pipeline of 2 stages on gpu0 to gpu3, 4 micro-batches of 2 samples for each of 2 replicas' in
          flat(piped) and 'Not valid' not in piped, f'pipeline: {piped[:600]}')
    check('4 micro-batches, ' in piped and '2 × data, 2 × pipeline' in piped, f'the table: {piped}')
    with open(path('piped.csv')) as file:
        ranks = [line.split(',') for line in file.read().split()]
    check(len(ranks) == 2 and [x for x in ranks[1] if 'F' in x] == [f'1F{k}' for k in range(4)], f'schedule: {ranks}')
    with open(path('megatron.txt')) as file:
        text = file.read()
    check('--pipeline-model-parallel-size 2 ' in text and '--micro-batch-size 2 --global-batch-size 16' in text, text)
    with open(path('vllm.sh')) as file:
        check('--pipeline-parallel-size 2 --data-parallel-size 2' in file.read(), 'vLLM: replicas')
    check('"gradient_accumulation_steps": 4' in flat(piped), 'DeepSpeed: micro-batches')
    with open(path('piped.html')) as file:
        check('micro_3/stage_1/backward' in file.read(), 'the report has the passes')
    again = placed(*stages[:3], '--from-plan', path('piped.json'))
    check(step.search(again)[1] == step.search(piped)[1], f'pipeline again: {again[:600]}')
    for shape in ('pipeline=4,turns=2', 'pipeline=2,tensor=2', 'pipeline=1,data=4,micro-batches=2,sharded'):
        check('Not valid' not in placed(*stages, '--parallel', shape), shape)
    check('2 × pipeline' in placed('zoo:gpt2_small@16x64:inference', *stages[1:], '--parallel', 'pipeline=2'),
          'a pipeline of forward passes')
    refused(*stages, '--parallel', 'pipeline=8', because='there are only 4 devices that are alike, not 8')
    refused(*stages, '--parallel', 'pipeline=2,micro-batches=3', because='cannot be split into 3 micro-batches')
    refused('zoo:gpt2_small@1000000x64', *stages[1:], '--parallel', 'pipeline=2,micro-batches=1000000',
            because='of which at most 1000000 are simulated: give fewer micro-batches')
    refused(*stages, '--parallel', 'pipeline=2,depth=3', because='write pipeline=K')
    refused(*stages, '--parallel', 'pipeline=0', because='at least 1')
    refused(*stages, '--parallel', 'pipeline=2', '--sharding', path('s.json'), because='share none')
    refused(*stages, '--parallel', 'pipeline=2', '--export', f"llama.cpp={path('l')}", because='says nothing of stages')
    refused(*stages, '--parallel', 'data=2', '--schedule', path('s.csv'), because='order of a pipeline')
    refused('zoo:mnist_conv@64', *stages[1:], '--parallel', 'pipeline=4,turns=4', because='cannot be cut into 16')
    alike = ('zoo:gpt2_medium@1x256:inference', '--platform', 'hgx_a100_4gpu', '--budget', '10moves')
    tensor = placed(*alike, '--parallel', 'tensor=4', '--plan', path('tensor.json'))
    check(re.search(r'strategy: \d+ of \d+ ops split among', flat(tensor)) and '4 × tensor' in tensor and
          'Not valid' not in tensor, f'splits of ops: {tensor[:600]}')
    again = placed(*alike[:3], '--from-plan', path('tensor.json'))
    check(step.search(again)[1] == step.search(tensor)[1], f'splits again: {again[:600]}')
    refused(*alike, '--parallel', 'tensor=4,sharded', because='write nothing')
    mixed = placed(*split, '--parallel', 'data=2,tensor=2', '--plan', path('mixed.json'))
    check('among the 2 devices of each of 2 replicas' in flat(mixed) and 'Not valid' not in mixed,
          f'both: {mixed[:600]}')
    again = placed(*split[:3], '--from-plan', path('mixed.json'))
    check(step.search(again)[1] == step.search(mixed)[1], f'both again: {again[:600]}')
    refused(*split, '--parallel', 'data=2,tensor=3', because='there are only 4 devices that are alike, not 6')

    # Devices that work together are those that are joined, whatever their numbers
    def joined(name, *pairs):
        names = ['cpu', 'gpu0', 'gpu1', 'gpu2', 'gpu3']
        cables = [{'between': [d, 'hub'], 'latency': 1e-5, 'bandwidth': 5e9} for d in names]
        cables += [{'between': [f'gpu{d}' for d in p], 'latency': 1e-6, 'bandwidth': 1e11} for p in pairs]
        return write(name, json.dumps({
            'format': 'weft.platform', 'version': 1, 'links': {'network': {'switches': ['hub'], 'links': cables}},
            'devices': [{'name': d, 'kind': d[:3], 'speed': 1e12 if d == 'cpu' else 1e13} for d in names]}))
    in_order, mixed_up = joined('in_order.json', (0, 1), (2, 3)), joined('mixed_up.json', (0, 2), (3, 1))
    for way in ('data=2', 'data=4', 'tensor=2', 'data=2,tensor=2', 'pipeline=2,data=2', 'pipeline=2,tensor=2'):
        runs = [placed('zoo:gpt2_small@8x64', '--platform', p, '--budget', '10moves', '--parallel', way)
                for p in (in_order, mixed_up)]
        check(step.search(runs[0])[1] == step.search(runs[1])[1], f'{way} among joined devices: {runs[1][:400]}')
        check('gpu0, gpu2' in flat(runs[1]), f'{way}: devices are named in order: {runs[1][:400]}')
    refused(*split[:1], '--platform', 'workstation_1gpu', '--parallel', 'data', because='no two devices')
    one = {'format': 'weft.workload', 'version': 1, 'ops': [{'name': 'op', 'type': 'MatMul', 'work': 1e12}]}
    refused(write('one.json', json.dumps(one)), *split[1:], '--parallel', 'data', because='not known')
    refused(path('one.json'), *split[1:], '--parallel', 'tensor',
            because='known of bundled networks, and of ONNX, PyTorch, StableHLO and TensorFlow models')

    # What is best for an objective must fit as well
    devices = [{'kind': 'cpu', 'speed': 1e12, 'memory': 1e9, 'memory_bandwidth': 1e11},
               {'kind': 'gpu', 'speed': 1e13, 'memory': 4e7, 'memory_bandwidth': 1e12}]
    tight = {'format': 'weft.platform', 'version': 1, 'devices': devices, 'links': {'uniform': {'bandwidth': 1e10}}}
    for objective in ('makespan', 'period', 'memory'):
        out = placed('zoo:resnet50_cifar10@64', '--platform', write('tight.json', json.dumps(tight)), *few,
                     '--objective', objective)
        shares = [float(s) for s in re.findall(r'B +([0-9.]+) %$', out, re.MULTILINE)] # of the devices
        check('Not valid' not in out and shares and max(shares) <= 100, f'objective {objective} fits: {out[:900]}')

    # Baselines against plans made by hand: four ops of 1 s on a GPU and 10 s on the CPU, one after the other, each with
    # 200 MB that stay and 100 MB for the next, over links of 1 GB/s
    def chain(first_kinds=None, scope=''):
        ops = [{'name': f'{scope.format(k)}op', 'type': 'MatMul', 'work': 1e12, 'resident_bytes': 200_000_000,
                'outputs': [100_000_000], 'inputs': [k - 1] if k else []} for k in range(4)]
        if first_kinds:
            ops[0]['kinds'] = first_kinds
        return write('chain.json', json.dumps({'format': 'weft.workload', 'version': 1, 'ops': ops}))

    def workstation(memory):
        host = {'name': 'host', 'kind': 'cpu', 'speed': 1e11, 'memory': 1e12, 'memory_bandwidth': 1e15}
        card = {'name': 'card', 'kind': 'gpu', 'speed': 1e12, 'memory': memory, 'memory_bandwidth': 1e15, 'count': 2}
        return write('workstation.json', json.dumps({'format': 'weft.platform', 'version': 1, 'devices': [host, card],
                                                     'links': {'uniform': {'bandwidth': 1e9}}}))

    def baselines(model, memory=1e12):
        summary = placed(model, '--platform', workstation(memory), '--peak-rates', *few)
        text = re.search(r'Speed-up +(.*?)\n  Peak', summary, re.S)[1]
        return re.sub(r'\s*\n\s+(?=[\d–])', '\n', text).replace('\n               ', ' ').splitlines()

    plain = baselines(chain())
    check(plain == ['1.00 × framework default (first accelerator) (4.00 s)',
                    '1.02 × blocks of equal work, as its names show no layers (4.10 s)'], f'baselines: {plain}')
    layers = baselines(chain(scope='h{}/'))
    check(layers[1] == '1.02 × equal blocks of layers (4.10 s)', f'blocks of layers: {layers}')
    fed = baselines(chain(['cpu'], 'h{}/'))
    check(fed[0].endswith('framework default (first accelerator) (13.1 s)') and
          fed[1].endswith('equal blocks of layers (13.2 s)') and
          fed[2].endswith('everything on host (40.0 s)'), f'the first op on the CPU: {fed}')
    tight = baselines(chain(scope='h{}/'), 700_000_000)
    check(tight[0].endswith('equal blocks of layers (4.10 s)') and '×' not in tight[1] and
          tight[1].startswith('–  framework default (first accelerator): does not fit: needs'),
          f'one card is too small: {tight}')

    hosts = [{'kind': 'cpu', 'speed': 1e12, 'memory': 1e12, 'memory_bandwidth': 1e15, 'count': 2}]
    hosts = write('hosts.json', json.dumps({'format': 'weft.platform', 'version': 1, 'devices': hosts,
                                            'links': {'uniform': {'bandwidth': 1e9}}}))
    check('framework default (first device)' in placed(chain(), '--platform', hosts, '--peak-rates', *few),
          'a platform without accelerators has no first one')
    fixed = json.dumps({'format': 'weft.workload', 'version': 1,
                        'ops': [{'name': 'op', 'type': 'MatMul', 'work': 1e12, 'kinds': ['cpu']}]})
    check('first accelerator' not in placed(write('fixed.json', fixed), '--platform', workstation(1e12), *few),
          'nothing runs on accelerators if no op may')

    # What a step of a GraphDef fetches
    def node(name, op, *inputs, attributes=''):
        return f"node {{ name: '{name}' op: '{op}' {' '.join(f'input: {i!r}' for i in inputs)} {attributes} }}\n"

    shape = "attr {{ key: 'shape' value {{ shape {{ dim {{ size: {} }} dim {{ size: 1000 }} }} }} }}"
    graph = write('graph.pbtxt', node('x', 'Placeholder', attributes=shape.format(-1)) +
                  node('w', 'VariableV2', attributes=shape.format(1000)) + node('random', 'Const') +
                  node('w/Assign', 'Assign', 'w', 'random') + node('init', 'NoOp', '^w/Assign') +
                  node('y', 'MatMul', 'x', 'w') + node('loss', 'Mean', 'y', 'random') +
                  node('gradient', 'MatMul', 'x', 'y') +
                  node('train', 'ApplyGradientDescent', 'w', 'random', 'gradient'))
    on = ('--platform', 'workstation_2gpu', *few)

    def fetched(*arguments):
        return counts(placed(graph, *on, *arguments))[0]

    check(fetched() == '7' and '2 of 9 nodes only initialise' in placed(graph, *on), 'a step without initialisers')
    check(fetched('--fetch', '*') == '9', 'everything is fetched')
    check(fetched('--fetch', '^train') == '6', 'a training step alone')
    check(fetched('--fetch', 'y:0,loss') == fetched('--fetch', 'y', '--fetch', 'loss') == '5', 'two are fetched')
    check(counts(placed('--fetch', 'y', graph, *on))[0] == '3', 'a model after --fetch is the model')
    refused(graph, *on, '--fetch', 'trains', because="there is no node 'trains'; there is 'train'")
    refused('zoo:mnist_conv', *on, '--fetch', 'x', because='--fetch')
    refused(path('net.onnx'), *on, '--fetch', 'x', because='--fetch is for TensorFlow graphs')
    refused(graph, *on, '--dim', 'n=4', because=' takes --batch, --shape, --fetch, --trips')

    # Sizes that nobody said are told with the step time
    def message(number, *parts):
        content = b''.join(x if isinstance(x, bytes) else x.encode() for x in parts)
        size = len(content)
        return bytes([number * 8 + 2, *([size] if size < 128 else [size % 128 + 128, size // 128])]) + content

    extents = message(1, message(2, 'n')) + message(1, message(2, 'sequence')) + message(1, b'\x08\x40')
    of_type = message(2, message(1, b'\x08\x01', message(2, extents)))
    with open(path('open.onnx'), 'wb') as f:
        f.write(b'\x08\x08' + message(7, message(1, message(1, 'x'), message(2, 'y'), message(4, 'Relu')),
                                      message(11, message(1, 'x'), of_type), message(12, message(1, 'y'))) +
                message(8, b'\x10\x0d'))
    fixed = message(2, message(1, b'\x08\x01', message(2, message(1, b'\x08\x04'))))
    with open(path('found.onnx'), 'wb') as f:
        f.write(b'\x08\x08' + message(7, message(1, message(1, 'x'), message(2, 'at'), message(4, 'NonZero')),
                                      message(11, message(1, 'x'), fixed), message(12, message(1, 'at'))) +
                message(8, b'\x10\x0d'))
    for given, told in (((), 'batch = 1 (--batch N), sequence = 1 (--dim sequence=N)'),
                        (('--batch', '8'), 'sequence = 1 (--dim sequence=N)'),
                        (('--batch', '8', '--dim', 'sequence=128'), '')):
        summary = flat(placed(path('open.onnx'), *on, *given))
        check(f'; assuming {told} ' in summary if told else 'assuming' not in summary,
              f'sizes that nobody said, {told}: {summary}')
    for given, told in (((), 'at.1 = 1 (of NonZero; --dim at.1=N)'), (('--dim', 'at.1=7'), '')):
        summary = flat(placed(path('found.onnx'), *on, *given))
        check(f'; assuming {told} ' in summary if told else 'assuming' not in summary,
              f'sizes that data decide, {told}: {summary}')
    with open(path('found_more.onnx'), 'wb') as f:
        nodes = [message(1, message(1, f'x{k}'), message(2, f'at{k}'), message(4, 'NonZero')) for k in range(5)]
        inputs = [message(11, message(1, f'x{k}'), fixed) for k in range(5)]
        f.write(b'\x08\x08' + message(7, *nodes, *inputs, message(12, message(1, 'at0'))) + message(8, b'\x10\x0d'))
    for given, told in (((), '5 extents such as at0.1 = 1 (of NonZero; --dim NonZero=N for all of them)'),
                        (('--dim', 'at3.1=7'), 'at0.1 = 1 (of NonZero; --dim at0.1=N), at1.1 = 1'),
                        (('--dim', 'NonZero=7'), '')):
        summary = flat(placed(path('found_more.onnx'), *on, *given))
        check(f'; assuming {told}' in summary if told else 'assuming' not in summary,
              f'many sizes that data decide, {told}: {summary}')
    placed(graph, *on, '-o', path('fetched.pbtxt'))
    with open(path('fetched.pbtxt')) as f:
        written = f.read()
    check(written.count('node {') == 9, 'all nodes are written')
    device = {re.search(r"name: '(.*?)'", line)[1]: re.findall(r'device: "(.*?)"', line)
              for line in written.splitlines()}
    check(device['w/Assign'] == device['w'] != [] and device['init'] == [],
          f'an initialiser goes with its variable: {device}')

    # Times of a run with an unknown or another batch size
    def times_of_y(output):
        return write('times.pbtxt', "node { name: 'y' id: 1 compute_cost: 500 output_info { " + output + ' } }\n')

    silent = times_of_y('size: -1')
    refused(graph, *on, '--times', silent, because='give the batch of that run')
    check('batch 64 is taken' in flat(placed(graph, *on, '--times', silent, '--batch', '64')),
          'a batch size is assumed')
    told = times_of_y('shape { dim { size: 64 } dim { size: 1000 } }')
    refused(graph, *on, '--times', told, '--batch', '32', because='give batch 64')
    check('batch 64 is taken' not in flat(placed(graph, *on, '--times', told, '--batch', '64')),
          'the file tells the batch size')

    # What a period takes for granted
    check('gradients are of older ones' in flat(placed(*net, '--objective', 'period')), 'a period of training steps')
    told = placed(*net, '--objective', 'period')
    check('periods found:' in told and 'no plan' not in told, f'periods are told apart from step times: {told}')
    check('gradients are of older ones' not in flat(placed('zoo:mnist_conv:inference', *on, '--objective', 'period')),
          'a period of inference')
    check('if the model is a training step' not in flat(placed(*net)), 'a step time takes nothing for granted')

    # Broken files: one line each
    refused(write('empty', ''), '--platform', 'dgx_a100', because='empty')
    refused(write('text.txt', 'hello\n'), '--platform', 'dgx_a100', because='not a model')
    refused(write('cut.json', '{"format": "weft.workload", "version": 1, "ops": ['), '--platform', 'dgx_a100',
            because='cut.json')
    with open(path('net.onnx'), 'rb') as f:
        whole = f.read()
    with open(path('cut.onnx'), 'wb') as f:
        f.write(whole[:len(whole) // 2])
    refused(path('cut.onnx'), '--platform', 'dgx_a100', because='cut.onnx')
    refused(write('cycle.pbtxt', 'node { name: "a" op: "Add" input: "b" }\nnode { name: "b" op: "Add" input: "a" }\n'),
            '--platform', 'dgx_a100', because='cycle')
    refused(path('plan.json'), '--platform', 'dgx_a100', because='plan')


with tempfile.TemporaryDirectory() as folder:
    parts_by_speed(folder)
    splits_of_files(folder)
    batches_of_programs(folder)
    main(folder)
finish()
