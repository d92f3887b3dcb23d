#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Compares the answers of two builds of `place` on some sixty questions.

  compare_place.py OLD NEW [--jobs N]

OLD and NEW are programs, such as one that was built before a change and kept. Searches have a budget in moves, so that
the same program always gives the same answer. A line for each question that the two answer differently, with the step
times of both, and a summary. Exit status 1 if NEW has a slower step, or an error where OLD has none.
"""
import argparse
import concurrent.futures
import re
import subprocess
import sys

NETWORKS = ['resnet50@256', 'bert_base@32', 'gpt2_small@8x1024', 'lstm@64', 'inception_v3@64', 'ptb_lstm@20',
            'vit_b_16@64', 'mnist_conv@128', 'switch_base@8x512', 'gpt2_medium@16x512']
PLATFORMS = ['dgx_a100', 'pcie_4gpu', 'p3_8xlarge', 'hgx_a100_4gpu', 'workstation_2gpu', 'dgx_h100']
WAYS = ['data=4', 'data=4,whole', 'data=2,sharded', 'data=4,fully-sharded', 'tensor=2', 'tensor=3', 'tensor=4',
        'data=2,tensor=2', 'data=2,tensor=2,sharded', 'pipeline=2', 'pipeline=4,micro-batches=8', 'pipeline=2,data=2',
        'pipeline=2,turns=2', 'pipeline=2,tensor=2', 'accumulate=4', 'none']
OTHERS = [['zoo:gpt2_xl@8x1024', '--platform', 'dgx_a100', '--recompute', 'auto'],
          ['zoo:llama2_7b@1x512:decode', '--platform', 'dgx_h100', '--dtype', 'bf16'],
          ['zoo:llama2_7b@1x16384:inference', '--platform', 'dgx_h100', '--dtype', 'bf16'],
          ['zoo:llama2_7b@8x2048', '--platform', 'dgx_a100', '--dtype', 'bf16', '--recompute', 'auto'],
          ['zoo:llama3_8b@8x4096', '--platform', 'dgx_h100', '--dtype', 'bf16']]
UNITS = {'s': 1, 'ms': 1e-3, 'µs': 1e-6, 'min': 60}


def questions():
    for i, network in enumerate(NETWORKS):
        for j, platform in enumerate(PLATFORMS):
            if (i + j) % 2 == 0:
                yield ['zoo:' + network, '--platform', platform]
    for way in WAYS:
        yield ['zoo:gpt2_small@16x256', '--platform', 'hgx_a100_4gpu', '--parallel', way]
        yield ['zoo:resnet50@64:inference', '--platform', 'pcie_4gpu', '--parallel', way]
    yield from OTHERS


def answer(program, question):
    r = subprocess.run([program, *question, '--budget', '50moves'], capture_output=True, text=True)
    return r.returncode, r.stdout, r.stderr


def seconds(found):
    """The step time of an answer; None if there is no plan."""
    match = re.search(r'Step time +([\d.]+) (\w+|µs)', found[1])
    return float(match.group(1)) * UNITS[match.group(2)] if match else None


def shown(found):
    time = seconds(found)
    return f'{time * 1e3:.4g} ms' if time is not None else (found[2].strip().split('\n') or [''])[0][:100]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('old')
    parser.add_argument('new')
    parser.add_argument('--jobs', type=int, default=2)
    args = parser.parse_args()
    asked = list(questions())
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        old = list(pool.map(lambda q: answer(args.old, q), asked))
        new = list(pool.map(lambda q: answer(args.new, q), asked))
    same = slower = faster = 0
    for question, a, b in zip(asked, old, new):
        if a == b:
            same += 1
            continue
        before, after = seconds(a), seconds(b)
        worse = before is not None and (after is None or after > before * 1.0001)
        better = after is not None and (before is None or after < before * 0.9999)
        slower += worse
        faster += better
        verdict = 'slower' if worse else 'faster' if better else 'other text'
        print(f'{verdict:10}  {" ".join(question)}: {shown(a)}; {shown(b)}')
    print(f'{len(asked)} questions: {same} answered with the same words, {faster} faster, {slower} slower')
    return 1 if slower else 0


if __name__ == '__main__':
    sys.exit(main())
