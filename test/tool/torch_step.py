#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Traces steps of small models with scripts/torch_step.py, which compares each with PyTorch's own run, and reads them
with `place`; `run_model` runs some of them, as PyTorch does: torch_step.py path/to/place [path/to/run_model].
Skipped where no Python has PyTorch."""
import json, os, re, subprocess, sys, tempfile, zipfile

PLACE = os.path.realpath(sys.argv[1])
RUN = os.path.realpath(sys.argv[2]) if len(sys.argv) > 2 else None
SCRIPT = os.path.join(os.path.dirname(os.path.realpath(__file__)), '..', '..', 'scripts', 'torch_step.py')
failures = []


def check(condition, what):
    if not condition:
        failures.append(what)
        print('FAILED:', what)


def has_torch(python):
    return os.path.exists(python) and not subprocess.run([python, '-c', 'import torch'], capture_output=True).returncode


PYTHON = next((p for p in (sys.executable, '/usr/bin/python3') if has_torch(p)), None)
if PYTHON is None:
    print('skipped: no Python here has PyTorch (Debian: python3-torch)')
    sys.exit(77)

MODELS = '''
import torch
from torch import nn

F = nn.functional
torch.manual_seed(1)


def step_of(net, x, loss=None, optimizer=None):
    return {"module": net, "inputs": (x,), "loss": loss, "optimizer": optimizer and optimizer(net.parameters())}


def classifier(optimizer):
    labels = torch.randint(10, (32,))
    net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
    return step_of(net, torch.randn(32, 64), lambda y: F.cross_entropy(y, labels), optimizer)


def adam(): return classifier(torch.optim.Adam)
def sgd(): return classifier(lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, weight_decay=1e-3, nesterov=True))
def adagrad(): return classifier(torch.optim.Adagrad)
def adadelta(): return classifier(torch.optim.Adadelta)
def nadam(): return classifier(torch.optim.NAdam)
def gradients(): return classifier(None)
def decaying(): return classifier(lambda p: torch.optim.Adagrad(p, lr_decay=0.5))


def forward():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(8, 4)

        def forward(self, x):
            y = self.a(x)
            return {"y": y, "parts": y.split(2, 1)}
    return step_of(Two().eval(), torch.randn(3, 8))


def convolutions():
    labels = torch.randint(10, (8,))
    net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.2),
                        nn.Conv2d(16, 32, 3), nn.BatchNorm2d(32), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                        nn.Linear(32, 10))
    return step_of(net, torch.randn(8, 3, 16, 16), lambda y: F.cross_entropy(y, labels), torch.optim.AdamW)


def recurrent():
    class Words(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.layers, self.out = nn.Embedding(50, 16), nn.LSTM(16, 16, 2), nn.Linear(16, 50)
            self.out.weight = nn.Parameter(self.words.weight.detach().clone())
            self.words.weight = self.out.weight  # one tensor under two names

        def forward(self, x): return self.out(self.layers(self.words(x))[0])
    x = torch.randint(50, (6, 4))
    return step_of(Words(), x, lambda y: F.cross_entropy(y.flatten(0, 1), x.flatten()), torch.optim.RMSprop)


def transformer():
    net = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 2, 64, batch_first=True), 2)
    return step_of(net, torch.randn(2, 5, 32), lambda y: y.square().mean(), torch.optim.Adam)


def masked():
    class Causal(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(8, 8)

        def forward(self, x):
            x.mul_(1.5)  # its own input
            scores = self.a(x) @ x.t()
            return scores.masked_fill(torch.ones(3, 3).triu(1).bool(), float("-inf")).softmax(-1) @ x, self.a.weight
    return step_of(Causal(), torch.randn(3, 8), lambda y: y[0].square().mean(),
                   lambda p: torch.optim.SGD(p, 0.1))


def counted_in_python():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.steps = nn.Linear(2, 2), 0

        def forward(self, x):
            self.steps += 1
            return torch.cat([self.a(x) * self.steps, torch.full((1, 2), float("inf"))])
    return step_of(Net(), torch.randn(1, 2))


class MyAdam(torch.optim.Adam): pass
def subclass(): return classifier(MyAdam)
def no_number(): return step_of(nn.Linear(2, 2), torch.randn(1, 2), lambda y: y)
def no_loss(): return {"module": nn.Linear(2, 2), "inputs": (), "optimizer": 1}
def no_tensors(): return {"module": nn.Linear(2, 2), "inputs": (1,)}
def misspelt(): return {"module": nn.Linear(2, 2), "inputs": (), "optimiser": 1}
def other(): return classifier(lambda p: torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], 0.1))
def branches():
    class Net(nn.Module):
        def forward(self, x): return x if x.sum() > 0 else -x
    return step_of(Net(), torch.randn(1, 2))
value = 3
'''

IMPORT = '''
import contextlib, importlib.util, io, json, sys
script = importlib.util.module_from_spec(importlib.util.spec_from_file_location("torch_step", sys.argv[1]))
script.__spec__.loader.exec_module(script)
'''

# Runs the script with several lists of arguments: each start of PyTorch takes a second.
SEVERAL = IMPORT + '''
answers = []
for job in json.loads(sys.argv[2]):
    out, code, why = io.StringIO(), 0, ""
    try:
        with contextlib.redirect_stdout(out):
            script.main(job)
    except SystemExit as e:
        code, why = (1, e.code) if isinstance(e.code, str) else (e.code or 0, "")
    answers.append([code, out.getvalue(), why])
print(json.dumps(answers))
'''

# The losses of three steps of PyTorch itself.
LOSSES = IMPORT + '''
losses = []
for function in sys.argv[2:]:
    reference = script.Reference(script.load(function))
    losses.append([reference.run()[0].item() for _ in range(3)])
print(json.dumps(losses))
'''

with tempfile.TemporaryDirectory() as folder:
    model = os.path.join(folder, 'models.py')
    with open(model, 'w') as f:
        f.write(MODELS)

    def trace(jobs):
        """What the script says to each list of arguments: code, output and errors."""
        done = subprocess.run([PYTHON, '-c', SEVERAL, SCRIPT, json.dumps(jobs)], capture_output=True, text=True)
        check(done.returncode == 0, f'the script ends early: {done.stderr}')
        return json.loads(done.stdout) if done.returncode == 0 else [[2, '', ''] for _ in jobs]

    def path_of(function):
        return os.path.join(folder, f'{function}.pt2')

    def job(function):
        return [f'{model}:{function}', '-o', path_of(function)]

    def program_of(path):
        return json.loads(zipfile.ZipFile(path).read('serialized_exported_program.json'))

    def placed(function):
        """The program, after `place` has read it."""
        code, output, errors = results[function]
        check(code == 0 and re.search(r'\.pt2: [\d,]+ ops, [\d,]+ parameters$', output.strip()),
              f'{function}: {output}{errors}')
        if code != 0:
            return None
        found = subprocess.run([PLACE, path_of(function), '--platform', 'workstation_1gpu', '--budget', '100moves'],
                               capture_output=True, text=True)
        check(found.returncode == 0, f'place {function}: {found.stderr}')
        check('without a rule' not in found.stdout, f'place {function} has no rule: {found.stdout}')
        return program_of(path_of(function))

    good = ('sgd', 'adagrad', 'adadelta', 'convolutions', 'recurrent', 'transformer', 'masked', 'adam', 'gradients',
            'forward')
    results = dict(zip(good, trace([job(f) for f in good])))
    programs = {function: placed(function) for function in good}
    program = programs['adam']
    if program is not None:
        graph, signature = program['graph_module']['graph'], program['graph_module']['signature']
        kinds = [next(iter(s)) for s in signature['input_specs']]
        check([kinds.count(k) for k in ('parameter', 'buffer', 'user_input')] == [4, 12, 1], f'inputs of adam: {kinds}')
        check([next(iter(s)) for s in signature['output_specs']] == ['loss_output', 'user_output'], 'results of adam')
        products = [n for n in graph['nodes'] if n['target'] in ('torch.ops.aten.mm.default',
                                                                 'torch.ops.aten.addmm.default')]
        check(len(products) == 2 + 3, f'{len(products)} products of adam')  # the input needs no gradient
        names = {t['name'] for n in graph['nodes'] for o in n['outputs'] for t in
                 ([o['as_tensor']] if 'as_tensor' in o else o.get('as_tensors', []))}
        check(names <= graph['tensor_values'].keys(), 'each result has a shape')

    def reduced(function, *arguments):
        """What replicas of the step add up, in words."""
        found = subprocess.run([PLACE, path_of(function), '--platform', 'dgx_a100', '--budget', '10moves', *arguments],
                               capture_output=True, text=True)
        check(found.returncode == 0, f'replicas of {function}: {found.stderr}')
        text = re.search(r'; (\S+ \S+ of gradients.*?) in \d', ' '.join(found.stdout.split()))
        return text and text[1]

    # As many bytes as the parameters have; statistics of batch norms stay with their replica.
    for function, parameters in ('adam', 9610), ('sgd', 9610), ('convolutions', 5514), ('transformer', 17088):
        if programs[function] is not None:
            wanted = f'{4 * parameters / 1024:.1f} KiB of gradients '
            for how, words in ('whole', 'all-reduced'), ('sharded', 'reduced and parameters gathered'):
                got = reduced(function, '--parallel', f'data=2,{how}')
                check(got == wanted + words, f'replicas of {function}: {got}, not {wanted + words}')

    program = programs['gradients']
    if program is not None:
        graph = program['graph_module']['graph']
        shapes = [[s['as_int'] for s in graph['tensor_values'][o['as_tensor']['name']]['sizes']]
                  for o in graph['outputs']]
        check(shapes == [[], [32, 10], [128, 64], [128], [10, 128], [10]], f'results of gradients: {shapes}')

    program = programs['forward']
    if program is not None:
        check(len(program['graph_module']['graph']['outputs']) == 3, 'results of forward')

    if RUN is not None:
        trained = ('adam', 'sgd', 'adagrad', 'adadelta', 'recurrent', 'masked')  # nothing in them is random
        done = subprocess.run([PYTHON, '-c', LOSSES, SCRIPT, *(f'{model}:{f}' for f in trained)], capture_output=True,
                              text=True)
        for function, expected in zip(trained, json.loads(done.stdout)):
            result, profile = os.path.join(folder, 'found.json'), os.path.join(folder, 'profile.json')
            for threads in '1', '2':
                found = subprocess.run([RUN, path_of(function), '--threads', threads, '--rounds', '2', '--json', result,
                                        '--profile', profile, '--emit'], capture_output=True, text=True)
                check(found.returncode == 0 and 'torch.set_num_threads(' in found.stdout,
                      f'{function} with {threads} threads: {found.stdout}{found.stderr}')
                if found.returncode:
                    continue
                with open(result) as f:
                    j = json.load(f)
                check(len(j['losses']) == 3 and all(abs(a - b) <= 1e-5 * abs(b) for a, b in zip(j['losses'], expected)),
                      f'{function} with {threads} threads: {j["losses"]}, PyTorch has {expected}')
                check(j['max_difference'] == 0, f'{function} with {threads} threads differs: {j["max_difference"]}')
                check(len(j['threads']) == j['ops'] and j['items'] <= j['ops'] and
                      all(1 <= v['threads'] <= int(threads) for v in j['threads']), f'{function}: threads of ops')
                check(all(j[k] > 0 for k in ('chosen_ms', 'recommended_ms', 'best_uniform_ms', 'predicted_ms',
                                             'peak_bytes')), f'{function}: {j}')
        html = os.path.join(folder, 'report.html')
        given = os.path.join(folder, 'x.pt')
        subprocess.run([PYTHON, '-c', f'import torch; torch.save(torch.ones(32, 64), {given!r}); '
                                      f'torch.save(torch.ones(2), {given + "2"!r})'], check=True)
        with zipfile.ZipFile(path_of('adam')) as z:
            signature = json.loads(z.read('serialized_exported_program.json'))['graph_module']['signature']
        name = next(s['user_input']['arg']['as_tensor']['name'] for s in signature['input_specs'] if 'user_input' in s)
        found = subprocess.run([RUN, path_of('adam'), '--all', '--rounds', '1', '--budget', '0.5', '--html', html,
                                '--input', f'{name}={given}'], capture_output=True, text=True)
        check(found.returncode == 0 and 'S1 to S3' in found.stdout and os.path.getsize(html) > 10000,
              f'a report: {found.stdout}{found.stderr}')
        for arguments, why in (([], 'program'), ([path_of('adam'), '--threads', '1000'], 'this machine has'),
                               ([path_of('adam'), '--threads', 'two'], 'two'),
                               ([path_of('adam'), '--json', f'{folder}/none/x.json'], 'cannot be opened'),
                               ([path_of('adam'), '--input', 'x'], 'give NAME=FILE'),
                               ([path_of('adam'), '--input', f'none={given}'], 'inputs: ' + name),
                               ([path_of('adam'), '--input', f'{name}={model}'], 'not a tensor that torch.save wrote'),
                               ([path_of('adam'), '--input', f'{name}={given}2'], 'has to be Float [32, 64]'),
                               ([path_of('adam'), '--profile', model], 'not valid JSON'),
                               ([os.path.join(folder, 'none.pt2')], 'none.pt2'), ([model], 'not valid JSON')):
            found = subprocess.run([RUN, *arguments], capture_output=True, text=True)
            check(found.returncode != 0 and len(found.stderr.splitlines()) == 1 and why in found.stderr,
                  f'run_model {arguments}: {found.stderr}')

    bad = [(job(function), why) for function, why in (
        ('nadam', 'NAdam reads numbers of a tensor'), ('decaying', 'step 2 of the traced graph'),
        ('no_number', 'the loss has to be a tensor of one number'), ('no_loss', 'an optimizer without a loss'),
        ('no_tensors', 'a tuple of tensors'), ('misspelt', 'returns "optimiser"'),
        ('other', 'that the module does not have'), ('branches', 'reads numbers of a tensor'),
        ('counted_in_python', 'of the traced graph is'), ('subclass', 'MyAdam is not one of torch.optim itself'),
        ('value', 'has no function "value"'), ('absent', 'has no function "absent"'))]
    bad += [([model, '-o', 'x'], 'give a file and a function of it'),
            ([f'{folder}/none.py:f', '-o', 'x'], 'there is no such file'),
            ([f'{PLACE}:f', '-o', 'x'], 'has to end in .py'),
            ([f'{model}:forward', '-o', f'{folder}/none/x.pt2'], 'No such file or directory')]
    for (arguments, why), (code, _, errors) in zip(bad, trace([arguments for arguments, _ in bad])):
        lines = errors.strip().splitlines()
        check(code == 1 and len(lines) == 1 and why in lines[0], f'{arguments}: {errors}')
        check(not os.path.exists(arguments[-1]), f'{arguments} wrote a file')
    helped = subprocess.run([PYTHON, SCRIPT, '--help'], capture_output=True, text=True)
    check(helped.returncode == 0 and 'optimizer' in helped.stdout, 'the help')

print(f'{len(failures)} failed' if failures else 'all passed')
sys.exit(1 if failures else 0)
