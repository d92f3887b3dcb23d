#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs the `machine` program as a user would: machine.py path/to/machine path/to/its/samples"""
import json, os, sys, tempfile

from program import check, finish, refused, run


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

    refused(because='files is required')
    refused(*lists, '-o', os.path.join(folder, 'none', 'made.json'), because='cannot be opened')
    refused(foo, because="no data sheet is known for the GPU 'NVIDIA Foo'")
    refused(foo, '--gpu', 'NVIDIA Foo=fp32', because="no data sheet is known for 'fp32'")
    refused(foo, '--gpu', 'NVIDIA Foo=fp31:2', because='write KEY:NUMBER with one of fp32')
    refused(foo, '--gpu', 'NVIDIA Foo=fp32:-2', because='is negative')
    refused(*lists, sample['nodes'], because='--network 200Gbit/s')
    refused(*lists, sample['nodes'], '--network', 'fast', because="'fast' is no bandwidth")
    refused(*lists, sample['nodes'], '--nodes', 'gpu03', because="no node is called 'gpu03'")
    refused(*lists, '--network', '200Gbit/s', because='--network is between nodes, and the machine has one')
    refused(*lists, '--nodes', 'n1', '--network', '200Gbit/s', because='the machine has one')
    refused(*lists, '--gpu', 'A100-SXM4-80GB=nvlinks:2.5', because='nvlinks must be a whole number from 1 to 100')
    refused(*lists, '--gpu', 'A100-SXM4-80GB=pcie:7', because='pcie must be a whole number from 1 to 6')
    refused(*lists, '--gpu', 'A30=memory:20',
            because="the machine has none that is called so; it has 'NVIDIA A100-SXM4-80GB'")
    refused(*lists, write('cpus.txt', 'NODELIST S:C:T\nn1 2:64:2\n'), because="but no node has those: 'n1' has none")
    refused(*lists, '--nodes', 'n[1-', because="a '[' without ']'")
    refused(*lists, sample['topo'], because='another file lists how GPUs are joined already')
    refused(write('text.txt', 'hello\n'), because='machine reads nvidia-smi')
    refused(os.path.join(folder, 'none.csv'), because='no such file')
    refused(sample['topo'], because='0 are listed by name')
    others = {'= ROCm System Management Interface =\n= Weight between two GPUs =\n     GPU0  GPU1\nGPU0  0   15\n':
              'it is rocm-smi --showtopo, how GPUs of ROCm are joined',
              '     GPU0   GPU1\nGPU0 0      XGMI\nGPU1 XGMI   0\n': 'it is a matrix of rocm-smi',
              '+----+\n| NVIDIA-SMI 535.129.03  Driver Version: 535.129.03 |\n': 'it is the table of nvidia-smi',
              'processor\t: 0\nvendor_id\t: GenuineIntel\n': 'it is /proc/cpuinfo'}
    for text, what in others.items():
        refused(write('other.txt', text), because=what)


with tempfile.TemporaryDirectory() as folder:
    main(folder)
finish()
