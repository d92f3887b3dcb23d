#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs the `place` program as a user would: place.py path/to/place"""
import json, os, re, tempfile

from program import check, finish, refused, run


def placed(*arguments):
    r = run(*arguments)
    check(r.returncode == 0 and not r.stderr, f'{arguments} runs quietly: {r.returncode} {r.stderr[:300]}')
    return r.stdout


def counts(summary):
    match = re.search(r'^([\d,]+) ops?, (\d+) devices?', summary, re.M)
    return (match[1], match[2]) if match else None


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
    help_text = placed('--help')
    for word in ('zoo:bert_large', 'pcie_4gpu', '--memory-share', 'ONNX', 'Examples'):
        check(word in help_text, f'--help says {word}')
    refused(because='model is required')
    refused('zoo:mnist_conv', because='--platform is required')
    refused('zoo:mnist', '--platform', 'dgx_a100', because="no network 'mnist'")
    refused('zoo:mnist_conv', '--platform', 'dgx_a101', because="no platform 'dgx_a101'")
    refused('zoo:mnist_conv', '--platform', 'none/such.json', because='no such file')
    refused('none.onnx', '--platform', 'dgx_a100', because='no such file')
    refused('zoo:mnist_conv@3', '--batch', '4', '--platform', 'dgx_a100', because='has a batch size already')
    refused(*net[:3], '--budget', 'much', because='no budget')
    refused(*net, '--html', path('no/such/report.html'), because='cannot be opened')
    refused(*net, '-o', path('placed.txt'), because='.pbtxt')
    refused(*net, '--memory-share', '2', because='--memory-share')
    refused(*net, '--times', 'x', because='model files')
    refused(*net, '--train', 'adam', because='training step already')

    refused('zoo:mnist_conv', '--platfrom', 'dgx_a100', because="unknown option '--platfrom'")
    check(placed('--version').startswith('place (weft '), '--version')
    check(placed('zoo:mnist_conv', '--platform', 'preset:workstation_2gpu', *few).split('\n', 1)[1] ==
          placed(*net).split('\n', 1)[1], 'a preset has two names')

    # The same command prints the same; every output is what it says it is
    outputs = ('-o', path('net.onnx'), '--plan', path('plan.json'), '--html', path('net.html'), '--trace', path('t.json'))
    first = placed(*net, *outputs)
    check(re.sub(r'^\w+ written .*\n', '', first, flags=re.M) == placed(*net), 'the same command prints the same')
    check('Step time' in first and 'Speed-up' in first and 'framework default' in first, 'the summary has its parts')
    check('Not valid' not in first, 'the run keeps to the execution model')
    check(all(len(line) <= 80 or 'written to' in line for line in first.splitlines()), 'the summary has at most 80 columns')
    with open(path('plan.json')) as f:
        check(json.load(f)['format'] == 'weft.plan', 'a plan is written')
    with open(path('t.json')) as f:
        check(json.load(f)['traceEvents'], 'a trace is written')
    with open(path('net.html')) as f:
        check(f.read().startswith('<!doctype html>'), 'a page is written')

    # A model that was written reads back, as ONNX and as GraphDef in both forms, with devices
    again = placed(path('net.onnx'), '--platform', 'workstation_2gpu', *few)
    check(counts(again) == counts(first), f'ONNX: {counts(again)} and not {counts(first)}')
    for form in ('pb', 'pbtxt'):
        placed(*net, '-o', path('net.' + form))
        again = placed(path('net.' + form), '--platform', 'workstation_2gpu', *few, '-o', path('again.' + form))
        check(counts(again) == counts(first), f'{form}: {counts(again)} and not {counts(first)}')
    refused(path('net.onnx'), '--platform', 'workstation_2gpu', '-o', path('x.json'), because='use --plan for the plan')
    refused(path('net.pb'), '--platform', 'workstation_2gpu', '-o', path('x.onnx'), because='.pb or .pbtxt')
    refused(path('net.pb'), '--platform', 'workstation_2gpu', '--shape', 'nothing=1x2', because='no input of the graph')
    refused(path('net.onnx'), '--platform', 'workstation_2gpu', '--shape', 'x=1x2', because='--shape is for TensorFlow graphs')
    with open(path('again.pbtxt')) as f:
        devices = set(re.findall(r'device: "([^"]*)"', f.read()))
    check(devices and devices <= {'/device:CPU:0', '/device:GPU:0', '/device:GPU:1'}, f'devices of a GraphDef: {devices}')
    check('training step' in placed('zoo:mnist_conv:inference', '--platform', 'workstation_2gpu', '--train', *few),
          'a forward graph becomes a training step')
    costs = write('costs.pbtxt', 'node { name: "a" id: 1 compute_cost: 5 output_info { size: 4 } }\nnode { name: "b" id: 2 compute_cost: 7 '
                                 'input_info { preceding_node: 1 } }\n')
    refused(costs, '--platform', 'dgx_a100', *few, '-o', path('costs.out'), because='-o writes ONNX models')
    refused(path('net.onnx'), '--platform', 'dgx_a100', '--times', costs, because='--times is for TensorFlow graphs')
    for objective in ('memory', 'period'):
        check('Step time' in placed(*net, '--objective', objective), f'objective {objective}')
    check('Result       period of' in placed(*net, '--objective', 'period'), 'the period comes first')

    # Measured times
    profile = {'format': 'weft.profile', 'version': 1,
               'entries': [{'machine': 'gpu', 'op': 'conv1/Conv2D', 'threads': 1, 'affinity': 'packed', 'seconds': [2]}]}
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
    check('does not fit' in r.stderr and 'no number of devices like card would do' in r.stderr, f'says what lacks: {r.stderr[:300]}')
    check(not os.path.exists(path('not.onnx')), 'no model without a plan')

    # What is best for an objective must fit as well
    devices = [{'kind': 'cpu', 'speed': 1e12, 'memory': 1e9, 'memory_bandwidth': 1e11},
               {'kind': 'gpu', 'speed': 1e13, 'memory': 4e7, 'memory_bandwidth': 1e12}]
    tight = {'format': 'weft.platform', 'version': 1, 'devices': devices, 'links': {'uniform': {'bandwidth': 1e10}}}
    for objective in ('makespan', 'period', 'memory'):
        out = placed('zoo:resnet50_cifar10@64', '--platform', write('tight.json', json.dumps(tight)), *few,
                     '--objective', objective)
        shares = [float(s) for s in re.findall(r'B +([0-9.]+) %$', out, re.MULTILINE)] # of the devices
        check('Not valid' not in out and shares and max(shares) <= 100, f'objective {objective} fits: {out[:900]}')

    # Broken files: one line each
    refused(write('empty', ''), '--platform', 'dgx_a100', because='empty')
    refused(write('text.txt', 'hello\n'), '--platform', 'dgx_a100', because='not a model')
    refused(write('cut.json', '{"format": "weft.workload", "version": 1, "ops": ['), '--platform', 'dgx_a100', because='cut.json')
    with open(path('net.onnx'), 'rb') as f:
        whole = f.read()
    with open(path('cut.onnx'), 'wb') as f:
        f.write(whole[:len(whole) // 2])
    refused(path('cut.onnx'), '--platform', 'dgx_a100', because='cut.onnx')
    refused(write('cycle.pbtxt', 'node { name: "a" op: "Add" input: "b" }\nnode { name: "b" op: "Add" input: "a" }\n'),
            '--platform', 'dgx_a100', because='cycle')
    refused(path('plan.json'), '--platform', 'dgx_a100', because='plan')


with tempfile.TemporaryDirectory() as folder:
    main(folder)
finish()
