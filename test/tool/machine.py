#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs the `machine` program as a user would: machine.py path/to/machine path/to/its/samples"""
import json, os, re, sys, tempfile

from program import check, check_help, finish, refused, run


def main(folder):
    sample = {name.split('.')[0]: os.path.join(sys.argv[2], name) for name in os.listdir(sys.argv[2])}
    lists = [sample[name] for name in ('gpus', 'topo', 'lscpu', 'meminfo')]

    def write(name, text):
        path = os.path.join(folder, name)
        with open(path, 'w') as f:
            f.write(text)
        return path

    def made(*arguments):
        out = os.path.join(folder, 'made.json')
        r = run(*arguments, '-o', out)
        check(r.returncode == 0 and not r.stderr, f'{arguments} runs quietly: {r.returncode} {r.stderr[:300]}')
        with open(out) as f:
            return r.stdout, json.load(f)

    check_help()
    said, platform = made(*lists)
    check('9 devices written to' in said and 'by its data sheet' in said and '(assumed)' in said,
          f'it says what it did: {said}')
    devices = platform['devices']
    check([d['name'] for d in devices] == ['cpu'] + [f'gpu{i}' for i in range(8)], 'a host and eight GPUs')
    check(devices[1]['speed'] == 156e12 and devices[1]['narrow_speeds']['half'] == 312e12, 'rates of an A100')
    check(devices[1]['memory'] == 81920 << 20 and devices[0]['memory'] == 2113468416 << 10, 'memory')
    check('nvswitch' in platform['links']['network']['switches'], 'NVLinks to a switch')
    check('machine ' in platform['description'] and 'assumed' in platform['description'],
          'the file says how it was made')

    r = run(*lists)
    check(r.returncode == 0 and json.loads(r.stdout)['devices'] == devices and 'data sheet' in r.stderr,
          'to standard output')
    check(made(*lists, sample['nodes'], '--network', '200Gbit/s')[1]['devices'][9]['name'] == 'gpu02/cpu', 'two nodes')
    check(len(made(*lists, '--nodes', 'n[1-4]', '--network', '25GB/s')[1]['devices']) == 36,
          'four nodes that are alike')
    check(len(made(*lists, sample['nodes'], '--nodes', 'gpu02')[1]['devices']) == 9, 'one of two nodes')
    hwloc = write('node.xml', '<topology version="2.0"><object type="Machine" local_memory="1000"><object type="PU"/>'
                  '<info name="CPUModel" value="Some @ 2.0GHz"/></object></topology>')
    check(made(hwloc, '--cpu', 'fp32:1.5')[1]['devices'][0]['memory'] == 1000, 'hwloc alone')
    check(made(hwloc, *lists[:3])[1]['devices'][0]['speed'] == 9.216e12, 'lscpu knows more than hwloc')
    foo = write('foo.csv', 'name, memory.total [MiB]\nNVIDIA Foo, 1024 MiB\n')
    check(made(foo, '--gpu', 'NVIDIA Foo=fp32:60,half:120,bandwidth:900')[1]['devices'][0]['speed'] == 60e12,
          'given rates')

    pc = write('pc.txt', 'Architecture: x86_64\nCPU(s): 8\nThread(s) per core: 2\nCore(s) per socket: 4\nSocket(s): 1\n'
               'Model name: Foo\nFlags: sse2 avx avx2 fma\n')
    words, platform = made(pc)
    check(len(platform['notes']) == 2 and all(line in words for line in platform['notes']), 'guesses stand in the file')
    check('memory bandwidth' not in platform['description'], '… once')
    check(all(d['memory_bandwidth'] < 1e11 for d in platform['devices']), 'no processor is without a bandwidth')
    check('notes' not in made(pc, '--cpu', 'fp32:1,bandwidth:50')[1], 'what is given is no guess')
    slices = write('slices.txt', 'GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-1)\n  MIG 3g.20gb  Device  0: (UUID: MIG-1)\n'
                   '  MIG 3g.20gb  Device  1: (UUID: MIG-2)\n')
    check([d['memory'] for d in made(slices)[1]['devices']] == [20 << 30] * 2, 'slices of a GPU')

    given = made(*lists, '--gpu', 'a100-sxm4-80gb=memory:64,watts:300', '--cpu', 'watts:500')
    check(given[1]['devices'][1]['memory'] == 64 << 30 and given[1]['devices'][1]['active_watts'] == 300,
          'figures win over lists')
    check(given[1]['devices'][0]['active_watts'] == 500 and 'what it draws' not in given[0], 'power of the processors')
    check('cpu: nothing says what it draws' in said, 'whose energy does not count is said')
    threads = write('threads.txt', 'NODELIST CPUS MEMORY GRES\nn1 256 2051000 gpu:a100:8\n')
    check(made(*lists, threads)[1]['devices'][0]['speed'] == devices[0]['speed'], 'hardware threads are no cores')

    refused(because='file is required')
    refused(*lists, '-o', os.path.join(folder, 'none', 'made.json'), because='cannot be opened')
    refused(foo, because="no data sheet is known for the GPU 'NVIDIA Foo'")
    refused(foo, '--gpu', 'NVIDIA Foo=fp32', because="no data sheet is known for 'fp32'")
    refused(foo, '--gpu', 'NVIDIA Foo=fp31:2', because='write KEY:NUMBER with one of fp32')
    refused(foo, '--gpu', 'NVIDIA Foo=fp32:-2', because='is negative')
    refused(*lists, sample['nodes'], because='--network 200Gbit/s')
    refused(*lists, sample['nodes'], '--network', 'fast', because="'fast' is not a bandwidth")
    refused(*lists, sample['nodes'], '--nodes', 'gpu03', because="no node is called 'gpu03'")
    refused(*lists, '--network', '200Gbit/s', because='--network is between nodes, and the machine has one')
    refused(*lists, '--nodes', 'n1', '--network', '200Gbit/s', because='the machine has one')
    refused(*lists, '--gpu', 'A100-SXM4-80GB=nvlinks:2.5', because='nvlinks must be a whole number from 1 to 100')
    refused(*lists, '--gpu', 'A100-SXM4-80GB=pcie:7', because='pcie must be a whole number from 1 to 6')
    refused(*lists, '--gpu', 'A30=memory:20',
            because="the machine has none of that name; it has 'NVIDIA A100-SXM4-80GB'")
    refused(*lists, write('cpus.txt', 'NODELIST S:C:T\nn1 2:64:2\n'), because="but no node has those: 'n1' has none")
    refused(*lists, '--nodes', 'n[1-', because="a '[' without ']'")
    refused(*lists, sample['topo'], because='another file lists how GPUs are joined already')
    refused(write('text.txt', 'hello\n'), because='machine reads nvidia-smi')
    refused(os.path.join(folder, 'none.csv'), because='no such file')
    refused(sample['topo'], because='0 are listed by name')
    others = {'= ROCm System Management Interface =\n= Weight between two GPUs =\n     GPU0  GPU1\nGPU0  0   15\n':
              'it is rocm-smi --showtopo, the links of GPUs under ROCm',
              '     GPU0   GPU1\nGPU0 0      XGMI\nGPU1 XGMI   0\n': 'it is a matrix of rocm-smi',
              '+----+\n| NVIDIA-SMI 535.129.03  Driver Version: 535.129.03 |\n': 'it is the table of nvidia-smi',
              'processor\t: 0\nvendor_id\t: GenuineIntel\n': 'it is /proc/cpuinfo'}
    for text, what in others.items():
        refused(write('other.txt', text), because=what)
    advice(lists, sample, write, foo)


def advice(lists, sample, write, foo):
    """What an error says to type works as it stands, beside what was typed or, if that was wrong, in its place."""
    t4 = write('t4.csv', 'name\nTesla T4\nTesla T4\n')
    nvlinks = write('nvlinks.txt', '\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV2\t0-3\nGPU1\tNV2\t X \t0-3\n')
    two_foo = write('two_foo.csv', 'name\nNVIDIA Foo\nNVIDIA Foo\n')

    def nodes(name, *resources):
        return write(name, 'NODELIST S:C:T MEMORY GRES\n' +
                     ''.join(f'n{i} 2:16:2 257000 {r}\n' for i, r in enumerate(resources)))

    network = ('--network', '100Gbit/s')
    cases = [  # (arguments that stay, those that the advice replaces)
        ([foo], []), ([two_foo], []), ([two_foo, nvlinks], []), ([t4, nvlinks], []),
        ([write('3090.csv', 'name, memory.total [MiB]\nNVIDIA RTX3090 3090, 24576 MiB\n')], []),
        ([write('mig.txt', 'GPU 0: NVIDIA Foo (UUID: GPU-1)\n  MIG 3g.20gb  Device  0: (UUID: MIG-1)\n')], []),
        ([two_foo, '--gpu', 'NVIDIA Foo=half:120'], []), ([two_foo, '--gpu', 'NVIDIA Foo=fp32:60'], []),
        ([two_foo, nvlinks, '--gpu', 'Foo=fp32:60,memory:24'], []), ([foo], ['--gpu', 'NVIDIA Foo=3090']),
        ([foo], ['--gpu', 'NVIDIA Foo=Bar']),
        ([nodes('untyped.txt', 'gpu:4', 'gpu:4'), *network], []), ([nodes('untyped1.txt', 'gpu')], []),
        ([write('untyped2.txt', 'NodeName=n[1-2] Sockets=2 CoresPerSocket=16 RealMemory=1000 Gres=gpu:2(S:0-1)\n'),
          *network], []),
        ([nodes('foo.txt', 'gpu:foo:2')], []), ([nodes('v100.txt', 'gpu:v100:8')], []),
        ([nodes('tesla.txt', 'gpu:tesla:2')], []), ([nodes('rtx.txt', 'gpu:rtx:1')], []),
        ([nodes('slices.txt', 'gpu:a100_1g.10gb:7')], []), ([nodes('slice.txt', 'gpu:a100_3g:2')], []),
        ([nodes('untyped3.txt', 'gpu:4'), sample['lscpu']], ['--gpu', 'gpu=A100']),
        ([*lists, sample['nodes']], []), (lists, network), ([sample['nodes'], *lists, '--nodes', 'gpu01'], network),
        ([nodes('many.txt', *200 * ['gpu:l4:8']), *network], []),
    ]
    seen = set()
    for stays, replaced in cases:
        r = run(*stays, *replaced)
        check(r.returncode == 2, f'{stays} {replaced} is refused: {r.stdout[:200]}')
        advised = re.findall(r"as in (--\S+) (?:'([^']*)'|([^\s',;]+))", r.stderr)
        seen.update(option for option, *_ in advised)
        for option, quoted, plain in advised:
            tries = [run(*a, option, quoted or plain) for a in ([*stays, *replaced], stays)]
            check(any(again.returncode == 0 for again in tries),
                  f'{option} {quoted or plain} works as advised for {stays}: {tries[0].stderr}')
        check(advised or 'leave it out' in r.stderr, f'the error says what to type: {r.stderr}')
        if 'leave it out' in r.stderr:
            check(run(*stays).returncode == 0, f'{stays} works without {replaced}')
    check(seen == {'--gpu', '--network', '--nodes'}, f'there is advice of each kind: {seen}')
    bare = write('bare.txt', 'Architecture: x86_64\nCPU(s): 4\nModel name: Foo\n')
    guessed = [foo, bare, '--gpu', 'NVIDIA Foo=fp32:60']
    advised = re.findall(r"as in (--\S+) (?:'([^']*)'|([^\s',;]+))", run(*guessed).stderr)
    check(len(advised) == 3, f'guesses say what to type: {advised}')
    r = run(*guessed, *(x for option, quoted, plain in advised for x in (option, quoted or plain)))
    check(r.returncode == 0 and 'notes' not in json.loads(r.stdout), f'… after which nothing is guessed: {r.stderr}')


with tempfile.TemporaryDirectory() as folder:
    main(folder)
finish()
