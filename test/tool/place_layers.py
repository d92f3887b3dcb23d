#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs `place --by-layer` as a user would, and reads what it writes for runtimes: place_layers.py path/to/place"""
import ast, json, os, re, tempfile

from program import check, finish, refused, run

GPT2 = ('zoo:gpt2_small:inference', '--platform', 'pcie_4gpu', '--by-layer', '--objective', 'period', '--kernels',
        'separate')


def main(folder):
    def path(name):
        return os.path.join(folder, name)

    def read(name):
        with open(path(name)) as f:
            return f.read()

    def placed(*arguments):
        r = run(*arguments)
        check(r.returncode == 0 and not r.stderr, f'{arguments} runs quietly: {r.returncode} {r.stderr[:300]}')
        return re.sub(r'\s+', ' ', r.stdout)

    # All formats of one placement
    formats = ('device_map', 'llama.cpp', 'deepspeed', 'megatron', 'tensorflow')
    text = placed(*GPT2, '--plan', path('plan.json'), *(x for f in formats for x in ('--export', f'{f}={path(f)}')))
    check('best split between layers' in text and 'period of' in text, f'what was done: {text[:600]}')
    plan = json.loads(read('plan.json'))
    where = dict(zip((op['name'] if isinstance(op, dict) else op for op in plan['ops']), plan['placement']))
    devices = [d['name'] if isinstance(d, dict) else d for d in plan['devices']]
    gpus = [i for i, name in enumerate(devices) if not name.startswith('cpu')]

    def device_of(scope):
        found = {d for name, d in where.items() if name.startswith(scope + '/')}
        check(len(found) == 1, f'{scope} is on one device: {found}')
        return found.pop()

    parts = [device_of('embeddings'), *(device_of(f'layer_{i}') for i in range(12)), device_of('head')]
    check(len(set(parts)) > 1, f'more than one device is used: {parts}')
    stages = [d for i, d in enumerate(parts) if i == 0 or d != parts[i - 1]]
    check(len(stages) == len(set(stages)), f'each device has one run of layers: {parts}')
    device_map = json.loads(read('device_map'))
    check([device_map[f'layer_{i}'] for i in range(12)] == [gpus.index(d) for d in parts[1:13]], f'{device_map}')
    scopes = json.loads(read('tensorflow'))
    check(all(scopes[f'layer_{i}'] == f'/device:GPU:{device_map[f"layer_{i}"]}' for i in range(12)), f'{scopes}')
    module = ast.parse(read('deepspeed'))
    borders = next(ast.literal_eval(n.value) for n in ast.walk(module) if isinstance(n, ast.Assign)
                   and getattr(n.targets[0], 'id', '') == 'PARTS')
    check([stages[sum(i >= b for b in borders) - 1] for i in range(14)] == parts, f'{borders} of {parts}')
    layout = re.sub(r'(.)\*(\d+)', lambda m: m[1] * int(m[2]), re.search("layout '(.*)'", read('megatron'))[1])
    check([d for d, s in zip(stages, layout.split('|')) for _ in s] == parts, f'{layout} of {parts}')
    shares = [int(x) for x in re.search(r'--tensor-split (\S+)', read('llama.cpp'))[1].split(',')]
    check(sum(shares) == 13 and '--n-gpu-layers 13' in read('llama.cpp'), read('llama.cpp'))

    # vLLM, whose stages have layers
    placed(*GPT2, '--export', f'vllm={path("vllm")}')
    counts = [int(x) for x in re.search(r'PARTITION=(\S+)', read('vllm'))[1].split(',')]
    check(sum(counts) == 12 and min(counts) > 0, read('vllm'))

    # Devices by name, in their order; and a plan that can be run again
    text = placed('zoo:resnet50:inference', '--platform', 'pcie_4gpu',
                  f'--by-layer={devices[gpus[2]]},{devices[gpus[0]]}',
                  '--objective', 'period', '--plan', path('resnet.json'))
    used = json.loads(read('resnet.json'))['placement']
    check(set(used) - {0} == {gpus[2], gpus[0]}, f'the devices that were named: {set(used)}')
    placed('zoo:resnet50:inference', '--platform', 'pcie_4gpu', '--from-plan', path('resnet.json'))
    check('only as many are used as memory needs'
          in placed('zoo:resnet50:inference', '--platform', 'pcie_4gpu', '--by-layer'),
          'one step alone')

    # All devices that are named, where that makes the period no longer
    sixteen = [f'node{i // 4}/gpu{i % 4}' for i in range(16)]
    with open(path('sixteen.json'), 'w') as f:
        json.dump({'format': 'weft.platform', 'version': 1, 'links': {'uniform': {'bandwidth': 1e11}},
                   'devices': [{'name': n, 'kind': 'gpu', 'speed': 1e12, 'memory': 1e12, 'memory_bandwidth': 1e15}
                               for n in sixteen]}, f)
    with open(path('forty.json'), 'w') as f:
        json.dump({'format': 'weft.workload', 'version': 1,
                   'ops': [{'name': f'layer_{i}/MatMul', 'type': 'MatMul', 'work': 1e11, 'outputs': [1000],
                            'inputs': [i - 1] if i else []} for i in range(40)]}, f)
    forty = (path('forty.json'), '--platform', path('sixteen.json'), '--peak-rates', '--objective', 'period')
    text = placed(*forty, '--by-layer=' + ','.join(sixteen), '--plan', path('all.json'))
    check(len(set(json.loads(read('all.json'))['placement'])) == 16 and 'period of 300 ms' in text,
          f'all of 16: {text[:300]}')

    # Pinned ops are where they are pinned to, whatever the layer
    placed(*forty, '--by-layer', '--pin', 'layer_0/*=node3/gpu3', '--plan', path('pinned.json'))
    plan = json.loads(read('pinned.json'))
    check(plan['devices'][plan['placement'][0]] == 'node3/gpu3', 'a layer on a device')

    # Without a CPU, the op that needs one is the reason, not memory
    r = run('zoo:gpt2_small', '--platform', path('sixteen.json'), '--by-layer', '--kernels', 'separate')
    check(r.returncode == 1 and 'does not fit' in r.stderr and
          'allows only cpu and the platform has no such device' in r.stderr and
          'memory' not in r.stderr, f'no CPU: {r.stderr[:300]}')

    # A period counts the memory of the steps in flight
    train = ('zoo:gpt2_medium@2x1024', '--platform', 'p3_8xlarge', '--by-layer', '--objective', 'period', '--kernels',
             'separate')
    text = placed(*train)
    check('steps that are in flight at once' in text and 'does not suffice' not in text,
          f'steps in flight: {text[-600:]}')
    r = run(*train[:3], '--by-layer=gpu0,gpu1,gpu2,gpu3', *train[4:], '--memory-share', '0.5')
    check(r.returncode == 1 and 'for the steps that are in flight at once' in r.stderr and
          'it fits with --objective makespan' in r.stderr, f'not enough: {r.stderr[:400]}')

    # Ops that are computed again belong to their layer
    placed('zoo:gpt2_small@4x256:inference', '--train', 'adam', '--recompute', 'blocks', '--by-layer',
           '--platform', 'dgx_a100', '--export', f'megatron={path("again")}')
    check('--num-layers 12' in read('again'), read('again'))

    # What cannot be
    refused(*GPT2[:3], '--export', 'vllm=x', because='needs --by-layer')
    for shared in ('tensor=4', 'data=2,tensor=2', 'data'):
        refused(*GPT2[:3], '--parallel', shared, '--export', 'vllm=x', because='--sharding FILE writes how, with')
    refused(*GPT2, '--export', 'triton=x', because='formats are device_map, vllm, llama.cpp')
    refused(*GPT2, '--export', 'vllm', because='FORMAT=FILE')
    refused(*GPT2[:3], '--by-layer=gpu9', because="'gpu9' is no device")
    refused(*GPT2[:4], '--objective', 'memory', because='makespan or period')
    for option in (('--budget', '3'), ('--jobs', '2'), ('--seed', '1')):
        refused(*GPT2, *option, because=f'{option[0]} has no effect: --by-layer tries all cuts')
    check('no effect' not in placed(*GPT2, '--seed', '1', '--uncertainty', '0.1'), 'a seed is for samples, too')
    two_nodes = ('zoo:gpt2_small:inference', '--platform', 'dgx_a100_x2', '--by-layer=node0/gpu0,node1/gpu0',
                 '--kernels', 'separate', '--objective',
                 'period', '--export')
    refused(*two_nodes, f'device_map={path("nodes")}', because='devices of one node')
    check('then \'node1\' with CUDA_VISIBLE_DEVICES=0' in placed(*two_nodes, f'megatron={path("nodes")}'),
          'several nodes')
    refused('zoo:gnmt:inference', *GPT2[1:], '--export', f'vllm={path("two")}', because='one stack of layers')
    refused('zoo:lstm:inference', *GPT2[1:], '--export', f'device_map={path("none")}', because='do not tell its layers')
    check(not os.path.exists(path('two')) or not read('two'), 'nothing is written')
    r = run('zoo:gpt2_xl', '--platform', 'workstation_2gpu', '--by-layer', '--memory-share', '0.01')
    check(r.returncode == 1 and 'no split of its 48 layers' in r.stderr, f'too little memory: {r.stderr[:300]}')


with tempfile.TemporaryDirectory() as folder:
    main(folder)
finish()
