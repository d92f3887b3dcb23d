#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Training steps of twelve networks (networks.py), each tuned by `run_model` and compared with the usual settings in
interleaved runs of one process, again if the middle half of the recommended setting's times spans more than a quarter
of their median: run_networks.py path/to/run_model [--folder FOLDER] [--rounds N] [NETWORK ...]

Needs python3-torch and python3-torchvision, and an idle machine. Prints tables as docs/concurrency.md has them; all
ratios are to the recommended setting, one op at a time on all cores. `eager` is the step in Python, on all cores."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
NETWORKS = ['lstm', 'gru', 'transformer', 'bert', 'dcgan', 'googlenet', 'resnet18', 'shufflenet', 'mobilenet_v3',
            'unet', 'gcn', 'two_towers']


def eager_ms(name, steps=12):
    """The median of a training step as one writes it in Python."""
    sys.path.insert(0, HERE)
    import networks
    import torch
    torch.set_num_threads(os.cpu_count())
    what = getattr(networks, name)()
    times = []
    for _ in range(steps):
        start = time.perf_counter()
        what['optimizer'].zero_grad(set_to_none=True)
        what['loss'](what['module'](*what['inputs'])).backward()
        what['optimizer'].step()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times[2:])


def python_with_torch():
    for python in (sys.executable, '/usr/bin/python3'):
        if not subprocess.run([python, '-c', 'import torch, torchvision'], capture_output=True).returncode:
            return python
    sys.exit('run_networks: no Python here has PyTorch and torchvision (Debian: python3-torchvision)')


def found(o, name):
    """What run_model found of a network, and the time of the same step in Python."""
    python, archive = python_with_torch(), os.path.join(o.folder, name + '.pt2')
    if not os.path.exists(archive):
        script = os.path.join(HERE, '..', '..', 'scripts', 'torch_step.py')
        subprocess.run([python, script, os.path.join(HERE, 'networks.py') + ':' + name, '-o', archive], check=True,
                       stdout=subprocess.DEVNULL)
    result = os.path.join(o.folder, name + '.json')
    for _ in range(3):
        subprocess.run([o.run_model, archive, '--all', '--rounds', str(o.rounds), '--json', result], check=True,
                       stdout=subprocess.DEVNULL)
        with open(result) as f:
            j = json.load(f)
        if j['spread'] < 0.25:
            break
    j['eager_ms'] = float(subprocess.run([python, __file__, '--eager', name], check=True, capture_output=True,
                                         text=True).stdout)
    return j


def ratio_of(j, kind):
    return next(s['ratio_to_recommended'] for s in j['settings'] if s['kind'] == kind)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('run_model', nargs='?')
    parser.add_argument('networks', nargs='*', default=NETWORKS)
    parser.add_argument('--folder', default='.', help='where programs and results are kept')
    parser.add_argument('--rounds', type=int, default=15)
    parser.add_argument('--eager', help=argparse.SUPPRESS)
    o = parser.parse_args()
    if o.eager:
        print(eager_ms(o.eager))
        return
    if not o.run_model:
        parser.error('give the path of run_model')
    rows, strategies = {}, ('S1', 'S1 to S2', 'S1 to S3', 'S1 to S4')
    print('| network | ops | recommended (ms) | eager | one thread | best uniform | S1 | S2 | S3 | S4 | chosen '
          '| which | prediction off by | tuning (steps) | spread |')
    print('|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|--:|--:|--:|', flush=True)
    for name in o.networks:
        j = rows[name] = found(o, name)
        by_hand = j['ratio_to_recommended'] / j['ratio_to_best_uniform']
        j['off'] = abs(j['predicted_ms'] / j['chosen_ms'] - 1)
        print(f'| `{name}` | {j["ops"]:,} | {j["recommended_ms"]:.1f} | {j["eager_ms"] / j["recommended_ms"]:.2f} '
              f'| {j["one_thread_ms"] / j["recommended_ms"]:.2f} | {by_hand:.3f} | '
              + ' | '.join(f'{ratio_of(j, s):.3f}' for s in strategies)
              + f' | **{j["ratio_to_recommended"]:.3f}** | {j["chosen"]["setting"]} | {100 * j["off"]:.0f} % '
              f'| {j["tuning_steps"]:.0f} | {100 * j["spread"]:.0f} % |', flush=True)
        if j['max_difference'] > 0:
            print(f'{name}: differs by {j["max_difference"]:.1e} from one op at a time', file=sys.stderr)
    decided = [j['off'] for j in rows.values() if j['chosen_ms'] != j['recommended_ms']]
    ratios = [j['ratio_to_recommended'] for j in rows.values()]
    print(f'\nmean {statistics.mean(ratios):.3f}, best {min(ratios):.3f}, worst {max(ratios):.3f}; to the best uniform '
          f'setting {statistics.mean(j["ratio_to_best_uniform"] for j in rows.values()):.3f}; prediction off by '
          f'{100 * statistics.median(decided or [0]):.1f} % in the median where another setting than that was chosen')


if __name__ == '__main__':
    main()
