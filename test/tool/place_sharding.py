#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs `place --sharding` as a user would, and reads what it writes for runtimes: place_sharding.py path/to/place"""
import copy, json, math, os, re, tempfile

from program import check, finish, refused, run


class PartitionSpec(tuple):
    """Stands in for JAX's: per dimension the mesh axis that splits it, or None."""
    def __new__(cls, *axes):
        return super().__new__(cls, axes)


class Replicate:
    """Stands in for DTensor's placement of the same name."""


class Shard:
    def __init__(self, dim):
        self.dim = dim


def evaluate(text, *names):
    return eval(text, {'__builtins__': {}, **{n.__name__: n for n in names}})


def numbers_of(options):
    """Options and their numbers in a command line; None for those without one."""
    return {name: int(value) if value else None for name, value in re.findall(r'--([\w-]+)(?: (\d+))?', options)}


def problems(doc):
    """What is wrong with the file, in itself."""
    axes = doc['mesh']['axes']
    names, shape = [a['name'] for a in axes], [a['size'] for a in axes]
    size = dict(zip(names, shape))
    devices = doc['mesh']['devices']
    if math.prod(shape) != len(devices) or len(set(devices)) != len(devices):
        yield f'{shape} of {devices}'
    jax, torch = doc['jax'], doc['pytorch']
    if (jax['mesh']['axis_names'], jax['mesh']['axis_shapes']) != (names, shape):
        yield f'mesh of JAX: {jax["mesh"]}'
    if (torch['device_mesh']['mesh_dim_names'], torch['device_mesh']['mesh_shape']) != (names, shape):
        yield f'mesh of PyTorch: {torch["device_mesh"]}'
    shared = [p['name'] for p in doc['parameters'] if 'owner' not in p and 'parts' not in p]
    all_names = [p['name'] for p in doc['parameters']]
    if any(p.get('owner', 0) >= shape[0] for p in doc['parameters']):
        yield 'an owner beyond the mesh'
    if len(set(all_names)) != len(all_names):
        yield 'two parameters have one name'
    if not shared == list(jax['partition_specs']) == list(torch['placements']):
        yield 'not all have the same parameters'
        return
    for p in doc['parameters']:
        name, spec = p['name'], p['spec']
        if 'parts' in p: # in sizes that the runtimes below have no words for
            dim = [i for i, axis in enumerate(spec) if axis]
            parts = p['parts']
            if len(dim) != 1 or len(parts) != size[spec[dim[0]]] or sum(parts) != p['shape'][dim[0]] or \
                    max(parts) != parts[0] or parts == [parts[0]] * len(parts):
                yield f'{name}: {p["shape"]} in {parts}'
        if 'owner' in p or 'parts' in p:
            continue
        if list(evaluate(jax['partition_specs'][name], PartitionSpec)) != spec:
            yield f'{name}: {jax["partition_specs"][name]} and not {spec}'
        placements = evaluate(torch['placements'][name], Replicate, Shard)
        expected = [None] * len(spec)
        for axis, placement in zip(names, placements):
            if isinstance(placement, Shard):
                if placement.dim >= len(spec) or expected[placement.dim]:
                    yield f'{name}: {torch["placements"][name]}'
                    break
                expected[placement.dim] = axis
        if expected != spec or len(placements) != len(names):
            yield f'{name}: {torch["placements"][name]} and not {spec}'
        if p['shape'] is None:
            if spec:
                yield f'{name}: dimensions of an unknown shape'
            continue
        if len(spec) != len(p['shape']) or any(a and extent % size[a] for a, extent in zip(spec, p['shape'])):
            yield f'{name}: {p["shape"]} cannot be split as {spec}'
        if p['bytes'] % math.prod(p['shape']):
            yield f'{name}: {p["bytes"]} bytes of {p["shape"]}'
    data, tensor = size.get('data', 1) * size.get('data_shard', 1), size.get('tensor', 1)
    if 'unequal_parts' in doc and not any('parts' in p for p in doc['parameters']):
        yield 'no parts are unequal'
    if ('vllm' in doc) + ('megatron' in doc) + ('unequal_parts' in doc) != 1 or \
            ('deepspeed' in doc) != ('megatron' in doc):
        yield 'it is trained, or it is not'
    if 'vllm' in doc:
        options = numbers_of(doc['vllm']['arguments'])
        if options['tensor-parallel-size'] * options.get('data-parallel-size', 1) != len(devices):
            yield f'vLLM: {options}'
    if 'megatron' in doc:
        options = numbers_of(doc['megatron']['arguments'])
        left = doc['megatron']['world_size'] // options['tensor-model-parallel-size']
        if doc['megatron']['world_size'] != len(devices) or left != data or \
                options['micro-batch-size'] * left != options['global-batch-size'] or \
                options['global-batch-size'] != doc['batch'] or \
                options.get('expert-model-parallel-size', 1) != (1 if shared == all_names else data) or \
                ('use-distributed-optimizer' in options) != (doc['zero_stage'] > 0):
            yield f'Megatron: {options}'
        config = doc['deepspeed']
        if config['train_micro_batch_size_per_gpu'] * data != config['train_batch_size'] or \
                config['train_batch_size'] != doc['batch'] or \
                config['zero_optimization']['stage'] != doc['zero_stage'] or \
                config.get('tensor_parallel', {}).get('autotp_size', 1) != tensor:
            yield f'DeepSpeed: {config}'


def bytes_per_device(doc, place=0):
    """Of the devices at a place along the mesh's first axis."""
    size = {a['name']: a['size'] for a in doc['mesh']['axes']}

    def held(p):
        if 'parts' in p:
            return p['bytes'] // sum(p['parts']) * p['parts'][place]
        return p['bytes'] // math.prod(size[a] for a in p['spec'] if a)

    return sum(held(p) for p in doc['parameters'] if p.get('owner', place) == place)


def resident_bytes(page):
    """Of each device, by the report's table of devices."""
    table = page.split('<h2 id="devices">')[1].split('</table>')[0]
    column = [re.sub('<.*?>', '', t) for t in re.findall('<th scope="col".*?</th>', table)].index('Resident')
    rows = re.findall('<tr><th scope="row">(.*?)</th>(.*?)</tr>', table)
    return {name: float(re.findall("<td.*?</td>", cells)[column - 1].split('"')[3]) for name, cells in rows}


def check_that_it_can_fail(doc):
    """Each of these changes is a mistake that `problems` has to find."""
    split = next(p['name'] for p in doc['parameters'] if any(p['spec']))
    number = [p['name'] for p in doc['parameters']].index(split)
    dim = next(i for i, a in enumerate(doc['parameters'][number]['spec']) if a)

    def changed(change):
        other = copy.deepcopy(doc)
        change(other)
        return list(problems(other))

    def set_spec(d, spec):
        d['parameters'][number]['spec'] = spec

    mistakes = {
        'a device less': lambda d: d['mesh']['devices'].pop(),
        'a device twice': lambda d: d['mesh']['devices'].__setitem__(1, d['mesh']['devices'][0]),
        'another axis': lambda d: d['jax']['mesh'].update(axis_names=['x']),
        'another mesh': lambda d: d['pytorch']['device_mesh'].update(mesh_shape=[2]),
        'whole for JAX': lambda d: d['jax']['partition_specs'].update({split: 'PartitionSpec()'}),
        'whole for PyTorch': lambda d: d['pytorch']['placements'].update({split: '[Replicate()]'}),
        'another dimension': lambda d: d['pytorch']['placements'].update({split: f'[Shard({dim + 1})]'}),
        'another spec': lambda d: set_spec(d, [None] * len(d['parameters'][number]['spec'])),
        'a shape that cannot be divided': lambda d: d['parameters'][number]['shape'].__setitem__(dim, 3),
        'a parameter less': lambda d: d['parameters'].pop(),
        'other options': lambda d: d['vllm'].update(arguments='--tensor-parallel-size 3'),
    }
    for what, change in mistakes.items():
        check(changed(change), f'the checker finds {what}')


def main(folder):
    def path(name):
        return os.path.join(folder, name)

    def sharding_of(*arguments):
        r = run(*arguments, '--budget', '10moves', '--sharding', path('s.json'), '--html', path('s.html'))
        check(r.returncode == 0 and not r.stderr, f'{arguments} runs quietly: {r.returncode} {r.stderr[:300]}')
        check('\nSharding\n' in r.stdout and 'sharding written to ' in r.stdout, f'the summary: {r.stdout[:2000]}')
        with open(path('s.json')) as f:
            doc = json.load(f)
        with open(path('s.html')) as f:
            page = f.read()
        check('<h2 id="sharding">' in page, 'the report has a section')
        found = list(problems(doc))
        check(not found, f'{arguments}: {found[:3]}')
        resident = resident_bytes(page)
        return doc, r.stdout, [resident[d] for d in doc['mesh']['devices']]

    machine = ('--platform', 'hgx_a100_4gpu')
    # Weights that fit only in parts: columns, then rows. Of inference, parameters are all that is resident.
    doc, text, resident = sharding_of('zoo:gpt2_medium@1x256:inference', *machine, '--parallel', 'tensor=4',
                                      '--memory-share', '0.01')
    check(resident == [bytes_per_device(doc, i) for i in range(4)],
          f'bytes of each device: {bytes_per_device(doc)}, {resident}')
    spec = {p['name']: p['spec'] for p in doc['parameters']}
    check(spec['layer_3/ffn/hidden/weights'] == [None, 'tensor'] and
          spec['layer_3/ffn/output/weights'] == ['tensor', None], f'columns, then rows: {spec}')
    check('vllm' in doc and 'layer_0 to layer_' in text and '[1024, 4096/4]' in text, f'the summary: {text}')
    check_that_it_can_fail(doc)

    # 32 heads on 3 devices
    doc, text, resident = sharding_of('zoo:llama2_7b+layers=2@1x64:inference', *machine, '--parallel', 'tensor=3',
                                      '--memory-share', '0.02', '--dtype', 'bf16')
    parts = {tuple(p['parts']) for p in doc['parameters'] if 'parts' in p}
    check('unequal_parts' in doc and (11, 11, 10) in parts, f'parts: {parts}')
    check(resident == [bytes_per_device(doc, i) for i in range(3)], f'bytes of each device: {resident}')
    check('some in unequal parts' in re.sub(r'\s+', ' ', text), f'the summary: {text}')

    doc, text, resident = sharding_of('zoo:gpt2_medium@4x256:inference', *machine, '--parallel', 'data=4')
    check(resident == [bytes_per_device(doc)] * 4 and not any(any(p['spec']) for p in doc['parameters']),
          'replicas have everything')
    check(re.search(r'\nSharding\n  4 × data .*\n\n', text), f'a line is enough: {text}')

    doc, text, resident = sharding_of('zoo:switch_base@8x64:inference', *machine, '--parallel',
                                      'data=4,whole,experts')
    check(resident == [bytes_per_device(doc, i) for i in range(4)] and
          {p.get('owner') for p in doc['parameters']} == {None, 0, 1, 2, 3}, 'each replica has experts of its own')
    check('each device has at most' in text and '--enable-expert-parallel' in doc['vllm']['arguments'], f'{text}')

    # Training: the optimiser's state is resident, too, and may be split otherwise
    net = 'zoo:resnet50_cifar10@64'
    for ways, axes in (('data=4,sharded', ['data']), ('data=4,fully-sharded', ['data']), ('data=2,whole', ['data']),
                       ('data=4,fully-sharded=2', ['data', 'data_shard']), ('data=2,tensor=2', ['data', 'tensor']),
                       ('data=2,tensor=2,sharded', ['data', 'tensor']),
                       ('data=2,tensor=2,fully-sharded', ['data', 'tensor']), ('tensor=2', ['tensor'])):
        doc, text, resident = sharding_of(net, *machine, '--parallel', ways)
        check([a['name'] for a in doc['mesh']['axes']] == axes and doc['batch'] == 64, f'{ways}: {doc["mesh"]}')
        check(all(bytes_per_device(doc) < r for r in resident), f'{ways}: {bytes_per_device(doc)}, {resident}')
        stage = 3 if 'fully' in ways else 2 if 'sharded' in ways else 0
        check(doc['zero_stage'] == stage, f'{ways}: ZeRO {doc["zero_stage"]}')
    again = ('--plan', path('plan.json'), '--parallel', 'data=2,tensor=2')
    first, _, _ = sharding_of(net, *machine, *again)
    r = run(net, *machine, '--from-plan', path('plan.json'), '--sharding', path('s.json'))
    with open(path('s.json')) as f:
        check(r.returncode == 0 and json.load(f) == first, f'a plan that is read again: {r.stderr[:300]}')
    check('BroadcastGradientArgs' in text or 'is not known how to split' not in text, f'what is not split: {text}')

    # A model file, with its shapes; the optimiser's state is no parameter
    def node(name, op, *inputs, size=None):
        shape = f"attr {{ key: 'shape' value {{ shape {{ dim {{ size: {size} }} dim {{ size: 1000 }} }} }} }}"
        inputs = ' '.join(f'input: {i!r}' for i in inputs)
        return f"node {{ name: '{name}' op: '{op}' {inputs} {shape if size else ''} }}\n"

    with open(path('net.pbtxt'), 'w') as f:
        f.write(node('x', 'Placeholder', size=-1) + node('w', 'VariableV2', size=1000) + node('y', 'MatMul', 'x', 'w'))
    doc, text, resident = sharding_of(path('net.pbtxt'), *machine, '--batch', '65536', '--train', 'adam', '--parallel',
                                      'data=4,whole')
    check(doc['parameters'] == [{'name': 'w', 'shape': [1000, 1000], 'bytes': 4000000, 'spec': [None, None]}],
          f'{doc["parameters"]}')
    check(doc['jax']['partition_specs'] == {'w': 'PartitionSpec(None, None)'}, f'{doc["jax"]}')
    check(resident == [3 * bytes_per_device(doc)] * 4, f'{resident}')

    # Nothing to write
    alone = run('zoo:mnist_conv@4', *machine, '--budget', '10moves', '--sharding', path('none.json'))
    check(alone.returncode == 0 and 'no sharding written: each op is on one device; --parallel data' in alone.stdout and
          not os.path.exists(path('none.json')), f'no sharding: {alone.stdout[-500:]}')
    doc, text, _ = sharding_of('zoo:gpt2_medium@32', *machine, '--dtype', 'bf16', '--parallel', 'tensor=4')
    check([a['name'] for a in doc['mesh']['axes']] == ['data'] and '4 × data' in text and
          '--tensor-model-parallel-size 1 ' in doc['megatron']['arguments'] and 'strategy: data parallelism,' in text,
          f'splits of the batch alone are data parallelism: {doc["mesh"]}, {doc["megatron"]}')
    refused(net, *machine, '--parallel', 'none', '--sharding', path('x.json'), because='give --parallel data')
    refused(net, *machine, '--pin', 'Conv2D=gpu1', '--sharding', path('x.json'), because='give --parallel data')
    refused(net, *machine, '--parallel', 'data', '--sharding', path('no/such/x.json'), because='cannot be opened')


with tempfile.TemporaryDirectory() as folder:
    main(folder)
finish()
