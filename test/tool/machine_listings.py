#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Gives the `machine` program lists as their tools write them, usual and odd ones, and holds what it makes of them
against figures worked out by hand: machine_listings.py path/to/machine"""
import json, os, sys, tempfile

from program import check, finish, run

MIB, GIB = 1 << 20, 1 << 30
GHZ = 1e9


def reach(platform, a, b):
    """Bytes/s between two devices on a way of fewest links, and of those the widest."""
    network = platform['links']['network']
    edge = {a: float('inf')}
    while b not in edge:
        step = {}
        for link in network['links']:
            for here, there in (link['between'], link['between'][::-1]):
                if here in edge and (there == b or there in network['switches']):
                    width = min(edge[here], link.get('bandwidth', float('inf')))
                    step[there] = max(step.get(there, 0), width)
        edge = step
    return edge[b]


class Listings:
    def __init__(self, folder):
        self.folder = folder
        self.count = {}

    def holds(self, kind, name, lists, *options, devices=None, speed={}, memory={}, bandwidth={}, switches=None,
              shared=(), notes=None, **more):
        """Makes a platform of lists and checks it; figures are by the name of the device or the pair of devices."""
        self.count[kind] = self.count.get(kind, 0) + 1
        files = []
        for i, text in enumerate(lists):
            files.append(os.path.join(self.folder, f'{i}.txt'))
            with open(files[-1], 'w', newline='') as f:
                f.write(text)
        r = run(*files, *options)
        check(r.returncode == 0, f'{kind}, {name}: {r.stderr.strip()}')
        if r.returncode != 0:
            return
        made = json.loads(r.stdout)
        found = {d['name']: d for d in made['devices']}
        names = [n for d in made['devices'] for n in ([d['name']] * d.get('count', 1))]
        what = f'{kind}, {name}'
        if devices is not None:
            check(names == devices, f'{what}: devices {names}, not {devices}')
        for key, values in (('speed', speed), ('memory', memory)):
            for d, value in values.items():
                got = found[d].get(key)
                check(got is not None and abs(got - value) <= 1e-6 * value,
                    f'{what}: {key} of {d} is {got}, not {value}')
        for (a, b), value in bandwidth.items():
            got = reach(made, a, b)
            check(abs(got - value) <= 1e-6 * value, f'{what}: {a} and {b} are joined by {got:g} bytes/s, not {value:g}')
        if switches is not None:
            got = made['links']['network']['switches']
            check(got == switches, f'{what}: switches {got}, not {switches}')
        for d in shared:
            check(found[d].get('memory_of') == 'cpu' and not found[d].get('memory'),
                f'{what}: {d} has memory of its own')
        for words in notes or ():
            check(words in r.stderr, f'{what}: "{words}" is not said in {r.stderr}')


def gpu_lists(of):
    def csv(name, text, *options, **expected):
        of.holds('--query-gpu', name, [text], *options, **expected)
        of.holds('--query-gpu with carriage returns', name, [text.replace('\n', '\r\n')], *options, **expected)

    a100 = 'NVIDIA A100-SXM4-80GB, 00000000:{:02X}:00.0, 81920 MiB, 400.00 W, 4, 16\n'
    csv('eight A100',
        'name, pci.bus_id, memory.total [MiB], power.limit [W], pcie.link.gen.max, pcie.link.width.max\n' +
        ''.join(a100.format(i) for i in range(8)), devices=[f'gpu{i}' for i in range(8)], speed={'gpu7': 156e12},
        memory={'gpu0': 80 * GIB}, bandwidth={('gpu0', 'gpu7'): 300e9})
    csv('no units', 'name, memory.total [MiB]\nNVIDIA GeForce RTX 3090, 24576\n', devices=['gpu0'],
        speed={'gpu0': 35.6e12},
        memory={'gpu0': 24 * GIB})
    csv('the name alone', 'name\nNVIDIA GeForce RTX 4070\n', speed={'gpu0': 29.1e12}, memory={'gpu0': 12 * GIB})
    csv('one name for cards of 8 and of 16 GB', 'name, memory.total [MiB]\nNVIDIA GeForce RTX 4060 Ti, 16380 MiB\n',
        memory={'gpu0': 16380 * MIB}, speed={'gpu0': 22.1e12})
    csv('MIG enabled', 'name, mig.mode.current, memory.total [MiB]\nNVIDIA A100-SXM4-40GB, Enabled, 40960 MiB\n',
        memory={'gpu0': 40 * GIB}, speed={'gpu0': 156e12})
    csv('MIG not there', 'name, mig.mode.current, memory.total [MiB]\nTesla T4, [N/A], 15360 MiB\n',
        memory={'gpu0': 15 * GIB}, speed={'gpu0': 8.1e12})
    csv('old cards of two kinds',
        'gpu_name, memory.total [MiB], power.limit [W]\nGeForce GTX 1080 Ti, 11178 MiB, 250.00 W\n'
        'Tesla K40m, 11441 MiB, 235.00 W\n', speed={'gpu0': 11.3e12, 'gpu1': 4.29e12}, memory={'gpu1': 11441 * MIB})
    csv('a slot of eight lanes', 'name, pcie.link.gen.max, pcie.link.width.max\nTesla T4, 3, 8\n', '--cpu', 'fp32:1',
        bandwidth={('cpu', 'gpu0'): 7.875e9})
    csv('a laptop whose limit is not known', 'name, power.limit [W], memory.total [MiB]\n'
        'NVIDIA GeForce RTX 3060, [N/A], 12288 MiB\n', speed={'gpu0': 12.7e12}, memory={'gpu0': 12 * GIB})
    csv('fields that nobody asked for',
        'timestamp, index, name, uuid, temperature.gpu, memory.total [MiB], compute_cap\n'
        '2025/11/01 10:00:00.000, 0, NVIDIA B200, GPU-1, 31, 183359 MiB, 10.0\n', memory={'gpu0': 183359 * MIB},
        speed={'gpu0': 1.125e15})
    csv('an error in place of the memory', 'name, memory.total [MiB]\nNVIDIA H200, [Unknown Error]\n',
        memory={'gpu0': 141 * GIB})
    lists = [None, 'Architecture: aarch64\nCPU(s): 12\nThread(s) per core: 1\nCore(s) per cluster: 4\nCluster(s): 3\n'
             'Vendor ID: ARM\nModel name: Cortex-A78AE\nCPU max MHz: 2201.6\nFlags: fp asimd\n',
                 'MemTotal: 64349788 kB\n']
    for none in ('[N/A]', 'N/A', '[Not Supported]', 'Not Supported'):
        for name, figures in (('NVIDIA GB10', ()), ('Orin (nvgpu)', ('--gpu', 'Orin (nvgpu)=fp32:5.3')),
                              ('NVIDIA Thor', ('--gpu', 'NVIDIA Thor=fp32:8,half:258,bandwidth:273,memory:128'))):
            lists[0] = f'index, name, memory.total [MiB], memory.free [MiB]\n0, {name}, {none}, {none}\n'
            of.holds('one memory', f'{name} {none}', lists, *figures, devices=['cpu', 'gpu0'], shared=['gpu0'],
                     memory={'cpu': 64349788 << 10}, speed={'cpu': 12 * 2.2016 * GHZ * 16},
                     bandwidth={('cpu', 'gpu0'): 204.8e9 if 'Orin' in name else 273e9})
    of.holds('one memory', 'a GPU whose memory is a NUMA node', [
        'name, memory.total [MiB]\nNVIDIA GH200 480GB, 97871 MiB\n', *lists[1:2], 'MemTotal: 600000000 kB\n',
        '\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \t0-71\t0\t\t1\n'],
        devices=['cpu', 'gpu0'], memory={'cpu': (600000000 << 10) - 97871 * MIB, 'gpu0': 97871 * MIB})
    uuid = '(UUID: GPU-01234567-89ab-cdef-0123-456789abcdef)'
    of.holds('-L', 'whole GPUs', [f'GPU 0: NVIDIA L4 {uuid}\nGPU 1: NVIDIA L4 {uuid}\n'], devices=['gpu0', 'gpu1'])
    of.holds('-L', 'slices and a whole GPU',
             [f'GPU 0: NVIDIA A100-SXM4-40GB {uuid}\n  MIG 3g.20gb     Device  0: (UUID: MIG-1)\n'
              f'  MIG 1g.5gb      Device  1: (UUID: MIG-2)\nGPU 1: NVIDIA A100-SXM4-40GB {uuid}\n'],
             devices=['gpu0', 'gpu1', 'gpu2'], memory={'gpu0': 20 * GIB, 'gpu1': 5 * GIB, 'gpu2': 40 * GIB},
             speed={'gpu1': 156e12 / 7})
    of.holds('-L', 'slices of an H100', [f'GPU 0: NVIDIA H100 80GB HBM3 {uuid}\n' +
                                         ''.join(f'  MIG 1g.10gb Device {i}: (UUID: MIG-{i})\n' for i in range(7))],
             devices=[f'gpu{i}' for i in range(7)], memory={'gpu6': 10 * GIB})


def matrices(of):
    def joined(name, gpu, header, rows, **expected):
        """A matrix with tabs and with blanks, after the names of its GPUs."""
        parts = header.split()
        gpus = sum(p.startswith('GPU') for p in parts)
        names = 'name, memory.total [MiB]\n' + gpus * f'{gpu}, 16384 MiB\n'
        for kind, apart in (('topo -m', '\t'), ('topo -m, pasted', '    ')):
            lines = ['' + apart + apart.join(parts) + apart + 'CPU Affinity' + apart + 'NUMA Affinity']
            lines += [apart.join([part, *row.split()]) for part, row in zip(parts, rows)]
            text = '\n'.join(lines) + '\n\nLegend:\n\n  X    = Self\n  SYS  = Connection traversing PCIe\n'
            of.holds(kind, name, [names, text], '--cpu', 'fp32:1,bandwidth:1000', **expected)
        coloured = text.replace('GPU0', '\x1b[4mGPU0', 1).replace('NUMA Affinity', 'NUMA Affinity\x1b[0m')
        of.holds('topo -m, underlined', name, [names, '$ nvidia-smi topo -m\n' + coloured], '--cpu',
            'fp32:1,bandwidth:1000',
                 **expected)

    def switched(n, links):
        return ' '.join(f'GPU{i}' for i in range(n)), [
            ' '.join('X' if a == b else links for b in range(n)) + ' 0-63 0' for a in range(n)]

    joined('eight H100 on switches', 'NVIDIA H100 80GB HBM3', *switched(8, 'NV18'), bandwidth={('gpu0', 'gpu7'): 450e9})
    joined('eight B200 on switches', 'NVIDIA B200', *switched(8, 'NV18'), bandwidth={('gpu3', 'gpu4'): 900e9})
    joined('four A100, four links for each pair', 'NVIDIA A100-SXM4-40GB', *switched(4, 'NV4'),
           bandwidth={('gpu0', 'gpu3'): 100e9})
    joined('two with a bridge', 'NVIDIA GeForce RTX 3090', *switched(2, 'NV4'), bandwidth={('gpu0', 'gpu1'): 56.25e9})
    joined('no NVLink, one host bridge', 'NVIDIA GeForce RTX 4090', *switched(2, 'PHB'), switches=['root0'],
           bandwidth={('gpu0', 'gpu1'): 31.5e9})
    joined('across sockets', 'NVIDIA L4', 'GPU0 GPU1', ['X SYS 0-15 0', 'SYS X 16-31 1'],
           switches=['sockets', 'root0', 'root1'], bandwidth={('gpu0', 'gpu1'): 21e9})
    joined('two host bridges of one NUMA node', 'NVIDIA L4', *switched(2, 'NODE'), switches=['root0'],
           bandwidth={('gpu0', 'gpu1'): 31.5e9})
    joined('one PCIe switch', 'NVIDIA L40S', *switched(4, 'PIX'), switches=['root0', 'pcie0'])
    joined('PCIe switches below one', 'NVIDIA L40S', 'GPU0 GPU1 GPU2 GPU3',
           ['X PIX PXB PXB 0-15 0', 'PIX X PXB PXB 0-15 0', 'PXB PXB X PIX 0-15 0', 'PXB PXB PIX X 0-15 0'],
           switches=['root0', 'pcie0', 'pcie1', 'pcie2'])
    joined('four NUMA nodes in a socket', 'NVIDIA L4', 'GPU0 GPU1 GPU2 GPU3',
           [' '.join('X' if a == b else 'SYS' for b in range(4)) + f' {16 * a}-{16 * a + 15} {a}' for a in range(4)],
           switches=['sockets', 'root0', 'root1', 'root2', 'root3'])
    joined('one GPU', 'NVIDIA L4', 'GPU0', ['X 0-7 N/A'], switches=['root0'], bandwidth={('cpu', 'gpu0'): 31.5e9})
    joined('network cards', 'NVIDIA A100-SXM4-80GB', 'GPU0 GPU1 mlx5_0 mlx5_1',
           ['X NV12 PXB SYS 0-15 0', 'NV12 X SYS PXB 16-31 1', 'PXB SYS X SYS', 'SYS PXB SYS X'],
           bandwidth={('gpu0', 'gpu1'): 300e9}, switches=['sockets', 'root0', 'root1'])
    cube = ['X NV1 NV1 NV2 SYS SYS NV2 SYS', 'NV1 X NV2 NV1 SYS SYS SYS NV2', 'NV1 NV2 X NV2 NV1 SYS SYS SYS',
            'NV2 NV1 NV2 X SYS NV1 SYS SYS', 'SYS SYS NV1 SYS X NV2 NV1 NV2', 'SYS SYS SYS NV1 NV2 X NV2 NV1',
            'NV2 SYS SYS SYS NV1 NV2 X NV1', 'SYS NV2 SYS SYS NV2 NV1 NV1 X']
    joined('the cube mesh of a DGX-1', 'Tesla V100-SXM2-32GB', switched(8, 'SYS')[0],
           [f'{row} {20 * (i // 4)}-{20 * (i // 4) + 19} {i // 4}' for i, row in enumerate(cube)],
           bandwidth={('gpu0', 'gpu3'): 50e9, ('gpu0', 'gpu1'): 25e9})


def processors(of):
    def fields(text):
        return [[part.strip() for part in line.split(':', 1)] for line in text.strip().splitlines()]

    def lscpu(name, text, speed, **expected):
        """As words, and as JSON of older versions (a list) and newer ones (a tree below the vendor)."""
        text = '\n'.join(line.strip() for line in text.strip().splitlines()) + '\n'
        flat = [{'field': key + ':', 'data': value} for key, value in fields(text)]
        at = next((i for i, f in enumerate(flat) if f['field'] in ('Vendor ID:', 'Model name:')), 0)
        tree = [*flat[:at], {**flat[at], 'children': flat[at + 1:]}]
        for kind, form in (('lscpu', text), ('lscpu -J, a list', json.dumps({'lscpu': flat})),
                           ('lscpu -J, a tree', json.dumps({'lscpu': tree}, indent=3))):
            of.holds(kind, name, [form, 'MemTotal:       263736000 kB\nMemFree: 1 kB\n'], devices=['cpu'],
                     speed={'cpu': speed}, memory={'cpu': 263736000 << 10}, **expected)

    def x86(cpus, threads, cores, sockets, vendor, family, model, name, more, flags='sse2 avx avx2 fma'):
        return (f'Architecture: x86_64\nCPU op-mode(s): 32-bit, 64-bit\nCPU(s): {cpus}\n'
                f'On-line CPU(s) list: 0-{cpus - 1}\n'
                f'Vendor ID: {vendor}\nModel name: {name}\nCPU family: {family}\nModel: {model}\n'
                f'Thread(s) per core: {threads}\nCore(s) per socket: {cores}\nSocket(s): {sockets}\n'
                f'{more}\nFlags: fpu {flags}\n')

    wide = 'sse2 avx avx2 fma avx512f avx512bw'
    lscpu('two sockets in four NUMA nodes each', x86(256, 2, 64, 2, 'AuthenticAMD', 23, 49,
        'AMD EPYC 7742 64-Core Processor',
          'CPU max MHz: 2250.0000\nNUMA node(s): 8\nNUMA node0 CPU(s): 0-15,128-143'), 128 * 2.25 * GHZ * 32)
    lscpu('AVX-512 in two cycles', x86(384, 2, 96, 2, 'AuthenticAMD', 25, 17, 'AMD EPYC 9654 96-Core Processor',
          'CPU max MHz: 3707.8120', wide), 192 * 3.707812 * GHZ * 32)
    lscpu('two units of AVX-512', x86(80, 2, 20, 2, 'GenuineIntel', 6, 85, 'Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz',
          'CPU max MHz: 3700.0000', wide), 40 * 2.4 * GHZ * 64)
    lscpu('large and efficient cores', x86(32, 2, 24, 1, 'GenuineIntel', 6, 183, '13th Gen Intel(R) Core(TM) i9-13900K',
          'CPU max MHz: 5800.0000'), (8 * 32 + 16 * 16) * 5.8 * GHZ)
    lscpu('efficient cores of a laptop', x86(22, 2, 16, 1, 'GenuineIntel', 6, 170, 'Intel(R) Core(TM) Ultra 7 155H',
          'CPU max MHz: 4800.0000'), (6 * 32 + 10 * 16) * 4.8 * GHZ)
    lscpu('efficient cores with as many units', x86(24, 1, 24, 1, 'GenuineIntel', 6, 198,
        'Intel(R) Core(TM) Ultra 9 285K',
          'CPU max MHz: 5700.0000'), 24 * 32 * 5.7 * GHZ)
    lscpu('a virtual machine', x86(8, 2, 4, 1, 'AuthenticAMD', 23, 49, 'AMD EPYC 7B12', 'BogoMIPS: 4499.99\n'
          'Hypervisor vendor: KVM\nVirtualization type: full'), 4 * 2.249995 * GHZ * 32)
    lscpu('Hygon', x86(64, 2, 32, 1, 'HygonGenuine', 24, 1, 'Hygon C86 7185 32-core Processor',
        'CPU max MHz: 2000.0000'),
          32 * 2 * GHZ * 16)

    def arm(cpus, *kinds, vendor='ARM'):
        text = (f'Architecture: aarch64\nCPU op-mode(s): 64-bit\nByte Order: Little Endian\nCPU(s): {cpus}\n'
                f'Vendor ID: {vendor}\n')
        for name, cores, sockets, mhz, flags in kinds:
            text += (f'Model name: {name}\nModel: 1\nThread(s) per core: 1\nCore(s) per socket: {cores}\n'
                     f'Socket(s): {sockets}\n'
                     f'Stepping: r0p1\nCPU max MHz: {mhz}\nCPU min MHz: 338.0000\nBogoMIPS: 2000.00\nFlags: {flags}\n')
        return text

    lscpu('Grace', arm(72, ('Neoverse-V2', 72, 1, 3402, 'fp asimd sve sve2')), 72 * 3.402 * GHZ * 32)
    lscpu('Altra', arm(80, ('Neoverse-N1', 80, 1, 3000, 'fp asimd')), 80 * 3 * GHZ * 16)
    lscpu('GB10', arm(20, ('Cortex-X925', 10, 1, 3900, 'fp asimd sve2'), ('Cortex-A725', 10, 1, 2808, 'fp asimd sve2')),
          (10 * 3.9 * 48 + 10 * 2.808 * 16) * GHZ)
    lscpu('RK3588', arm(8, ('Cortex-A55', 4, 1, 1800, 'fp asimd'), ('Cortex-A76', 2, 2, 2256, 'fp asimd')),
          (4 * 1.8 * 8 + 4 * 2.256 * 16) * GHZ)
    lscpu('Apple M1', arm(8, ('Icestorm-M1', 4, 1, 2064, 'fp asimd'), ('Firestorm-M1', 4, 1, 3204, 'fp asimd'),
                          vendor='Apple'), (4 * 2.064 * 16 + 4 * 3.204 * 32) * GHZ)
    lscpu('a Raspberry Pi', arm(4, ('Cortex-A76', 4, 1, 2400, 'fp asimd')), 4 * 2.4 * GHZ * 16)
    lscpu('POWER9', 'Architecture: ppc64le\nCPU(s): 160\nThread(s) per core: 4\nCore(s) per socket: 20\nSocket(s): 2\n'
          'Model: 2.2 (pvr 004e 1202)\nModel name: POWER9, altivec supported\nCPU max MHz: 3800.0000\n',
              40 * 3.8 * GHZ * 16)

    for name, kilobytes in (('a server', 2113468416), ('a laptop', 16302116), ('a board', 3884864), ('an odd one',
        1000001)):
        for text in (f'MemTotal:       {kilobytes} kB\nMemFree:        1 kB\n',
            f'MemTotal: {kilobytes} kB\r\nMemFree: 1 kB\r\n',
                     f'MemTotal:{kilobytes:15} kB\n'):
            of.holds('meminfo', name, [text], '--cpu', 'fp32:1', memory={'cpu': kilobytes << 10})


def topologies(of):
    def info(**infos):
        return ''.join(f'<info name="{name}" value="{value}"/>' for name, value in infos.items())

    def xml(name, packages, kinds='', after='', **expected):
        """Packages of cores, each of so many hardware threads, with 16 GiB."""
        unit = 0
        text = ('<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n'
                '<topology version="2.0">\n')
        text += ' <object type="Machine" os_index="0" gp_index="1">\n'
        for infos, cores in packages:
            text += f'  <object type="Package">{infos}\n   <object type="NUMANode" local_memory="{16 * GIB}"/>\n'
            for threads in cores:
                text += '   <object type="L2Cache"><object type="Core">'
                text += ''.join(f'<object type="PU" os_index="{unit + i}"/>' for i in range(threads))
                text += '</object></object>\n'
                unit += threads
            text += '  </object>\n'
        of.holds('lstopo --of xml', name, [text + after + ' </object>\n' + kinds + '</topology>\n'],
                 memory={'cpu': 16 * GIB * len(packages)}, **expected)

    def kind(cpuset, **infos):
        return f' <cpukind cpuset="{cpuset}">{info(**infos)}</cpukind>\n'

    def intel(number, model):
        return info(CPUVendor='GenuineIntel', CPUFamilyNumber=6, CPUModelNumber=number, CPUModel=model)

    raptor = intel(186, '13th Gen Intel(R) Core(TM) i7-1355U')
    hybrid = [2, 2] + 8 * [1]
    xml('kinds without clocks', [(raptor, hybrid)], kind('0xff0', CoreType='IntelAtom') + kind('0xf',
        CoreType='IntelCore'),
        speed={'cpu': 192 * 2 * GHZ})
    xml('kinds with clocks', [(raptor, hybrid)], kind('0x00000ff0', CoreType='IntelAtom', FrequencyMaxMHz=3700) +
        kind('0x0000000f', CoreType='IntelCore', FrequencyMaxMHz=5000), speed={'cpu': (64 * 5 + 128 * 3.7) * GHZ})
    xml('base clocks', [(raptor, hybrid)], kind('0xff0', CoreType='IntelAtom', FrequencyMaxMHz=3700,
        FrequencyBaseMHz=1200) +
        kind('0xf', CoreType='IntelCore', FrequencyMaxMHz=5000, FrequencyBaseMHz=1700), speed={'cpu': (64 * 1.7 +
        128 * 1.2) * GHZ})
    xml('the large cores first', [(raptor, hybrid)], kind('0xf', CoreType='IntelCore') + kind('0xff0',
        CoreType='IntelAtom'),
        speed={'cpu': 192 * 2 * GHZ})
    xml('three kinds', [(intel(151, '12th Gen Intel(R) Core(TM) i9-12900K'), [2] * 8 + [1] * 8)],
        kind('0xff0000', CoreType='IntelAtom', FrequencyMaxMHz=3900) + kind('0xf0ff', CoreType='IntelCore',
        FrequencyMaxMHz=5100) +
        kind('0x0f00', CoreType='IntelCore', FrequencyMaxMHz=5200),
        speed={'cpu': (6 * 32 * 5.1 + 2 * 32 * 5.2 + 8 * 16 * 3.9) * GHZ})
    xml('before there were kinds', [(raptor, hybrid)], speed={'cpu': 192 * 2 * GHZ})
    xml('efficient cores with as many units', [(intel(198, 'Intel(R) Core(TM) Ultra 5 245K'), [1] * 14)],
        kind('0xff', CoreType='IntelAtom', FrequencyMaxMHz=4600) + kind('0x3f00', CoreType='IntelCore',
        FrequencyMaxMHz=5200),
        speed={'cpu': (8 * 4.6 + 6 * 5.2) * 32 * GHZ})
    xml('nothing but efficient cores', [(intel(190, 'Intel(R) N100'), [1] * 4)],
        kind('0xf', CoreType='IntelAtom', FrequencyMaxMHz=3400), speed={'cpu': 4 * 3.4 * 16 * GHZ})
    xeon = intel(79, 'Intel(R) Xeon(R) CPU E5-2690 v4 @ 2.60GHz')
    xml('two sockets, the clock in the name', 2 * [(xeon, [2] * 14)], speed={'cpu': 28 * 2.6 * 32 * GHZ})
    xml('a set of several words', [(xeon, [2] * 30)], kind('0x0fffffff,0xffffffff', FrequencyMaxMHz=3000),
        speed={'cpu': 30 * 2.6 * 32 * GHZ})
    xml('Arm by its part', [(info(CPUImplementer='0x41', CPUPart='0xd4f', CPUArchitecture=8), [1] * 72)],
        kind('0xff,0xffffffff,0xffffffff', FrequencyMaxMHz=3402), speed={'cpu': 72 * 3.402 * 32 * GHZ})
    xml('Apple', [(info(CPUModel='Apple M1'), [1] * 8)], kind('0x0f', DarwinCompatible='apple,icestorm;ARM,v8',
        FrequencyMaxMHz=2064) +
        kind('0xf0', DarwinCompatible='apple,firestorm;ARM,v8', FrequencyMaxMHz=3204),
        speed={'cpu': (4 * 2.064 * 16 + 4 * 3.204 * 32) * GHZ})
    xml('a package for each cluster of cores', [
        (info(CPUImplementer='0x41', CPUPart=part, CPUArchitecture=8), cores * [1])
        for part, cores in (('0xd05', 4), ('0xd0b', 2), ('0xd0b', 2))],
        kind('0x0f', FrequencyMaxMHz=1800) + kind('0xf0', FrequencyMaxMHz=2256),
        speed={'cpu': (4 * 1.8 * 8 + 4 * 2.256 * 16) * GHZ})
    gpu = ('  <object type="Bridge" bridge_type="0-1"><object type="PCIDev">'
           '<object type="OSDev" name="nvml0" osdev_type="5">'
           + info(Backend='NVML', GPUVendor='NVIDIA Corporation', GPUModel='NVIDIA L4') +
               '</object></object></object>\n')
    xml('a GPU', [(xeon, [2] * 14)], after=gpu, devices=['cpu', 'gpu0'], speed={'gpu0': 60e12})
    gb10 = gpu.replace('NVIDIA L4', 'NVIDIA GB10').replace('</object></object>', info(CUDAGlobalMemorySize=120 << 20) +
        '</object></object>', 1)
    xml('a GPU that shares the memory', [(info(CPUImplementer='0x41', CPUPart='0xd85'), [1] * 20)], after=gb10,
        shared=['gpu0'])


def nodes(of):
    network = ('--network', '100Gbit/s')

    def both(name, gres, *options, sockets=2, cores=16, threads=2, megabytes=257000, **expected):
        """Two nodes, as scontrol (also on one line each), slurm.conf and sinfo list them."""
        cpus = sockets * cores * threads
        shown = ''.join(f'NodeName=n{i} Arch=x86_64 CoresPerSocket={cores} \n   CPUAlloc=0 CPUTot={cpus} CPULoad=0.01\n'
                        f'   AvailableFeatures=(null)\n   Gres={gres}\n'
                        f'   NodeAddr=n{i} NodeHostName=n{i} Version=23.02.6\n'
                        f'   OS=Linux 5.15.0-91-generic #101-Ubuntu SMP Tue Nov 14 13:30:08 UTC 2023 \n'
                        f'   RealMemory={megabytes} AllocMem=0 FreeMem=1 Sockets={sockets} Boards=1\n'
                        f'   State=IDLE ThreadsPerCore={threads} TmpDisk=0 Weight=1\n\n' for i in (1, 2))
        one_line = '\n'.join(' '.join(part.split()) for part in shown.strip().split('\n\n')) + '\n'
        conf = (f'# COMPUTE NODES\nNodeName=DEFAULT Sockets={sockets} CoresPerSocket={cores} ThreadsPerCore={threads}\n'
                f'NodeName=n[1-2] RealMemory={megabytes} Gres={gres} State=UNKNOWN\n')
        table = f'NODELIST S:C:T MEMORY GRES\n' + ''.join(
            f'n{i} {sockets}:{cores}:{threads} {megabytes} {gres}\n' for i in (1, 2))
        wide = f'NODELIST   SOCKETS  CORES  THREADS  MEMORY  GRES\n' + ''.join(
            f'n{i}   {sockets}   {cores}   {threads}   {megabytes}   {gres}\n' for i in (1, 2, 2)) # of two partitions
        for kind, text in (('scontrol show node', shown), ('scontrol show node -o', one_line), ('slurm.conf', conf),
                           ('sinfo -N -o', table), ('sinfo -N -O', wide)):
            of.holds(kind, name, [text], *network, *options, **expected)

    def gpus(n, cpu=False):
        return [f'n{i}/{d}' for i in (1, 2) for d in ([*(['cpu'] if cpu else []), *(f'gpu{k}' for k in range(n))])]

    both('typed', 'gpu:h100:4(S:0-1)', '--gpu', 'h100=H100 80GB HBM3', devices=gpus(4), speed={'n2/gpu3': 494.5e12})
    both('types that say all', 'gpu:nvidia_h100_80gb_hbm3:8', devices=gpus(8), bandwidth={('n1/gpu0',
        'n1/gpu7'): 450e9})
    both('no type', 'gpu:4', '--gpu', 'gpu=A100-SXM4-80GB', devices=gpus(4), speed={'n1/gpu0': 156e12})
    both('neither type nor number', 'gpu', '--gpu', 'gpu=fp32:60,bandwidth:900,memory:24', devices=gpus(1),
         speed={'n1/gpu0': 60e12}, memory={'n2/gpu0': 24 * GIB})
    both('no type, by socket', 'gpu:2(S:0)', '--gpu', 'gpu=Tesla T4', devices=gpus(2))
    both('a type without number', 'gpu:l4', devices=gpus(1), speed={'n1/gpu0': 60e12})
    both('two types', 'gpu:l4:1,gpu:l40s:2', devices=gpus(3), speed={'n1/gpu0': 60e12, 'n1/gpu2': 183e12})
    both('other resources', 'shard:8,gpu:l4:2,nic:1', devices=gpus(2))
    both('slices', 'gpu:a100_3g.20gb:2,gpu:a100_1g.5gb:1', devices=gpus(3), memory={'n1/gpu0': 20 * GIB,
        'n1/gpu2': 5 * GIB})
    both('processors', 'gpu:l4:1', '--cpu', 'fp32:2', devices=gpus(1, cpu=True), memory={'n1/cpu': 257000 * MIB})
    both('no GPUs', '(null)', '--cpu', 'fp32:2', devices=['n1/cpu', 'n2/cpu'], memory={'n2/cpu': 257000 * MIB})
    both('a memory that nobody set', '(null)', '--cpu', 'fp32:2,memory:64', megabytes=1, memory={'n1/cpu': 64 * GIB})


with tempfile.TemporaryDirectory() as folder:
    all_kinds = Listings(folder)
    for part in (gpu_lists, matrices, processors, topologies, nodes):
        part(all_kinds)
    few = {kind: n for kind, n in all_kinds.count.items() if n < 10 and kind not in ('-L',)}
    check(not few, f'ten listings of each kind: {few}')
    print(f'{sum(all_kinds.count.values())} listings')
finish()
