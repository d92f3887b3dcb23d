#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Traces a training step of a PyTorch model, or a forward pass, as one graph of `aten` ops, with its tensors.

    scripts/torch_step.py MODEL.py:FUNCTION -o step.pt2

FUNCTION of the file MODEL.py takes nothing and returns a dictionary:

    module     the torch.nn.Module, in the mode in which it is to run (train or eval)
    inputs     a tuple of tensors
    loss       what makes the loss of the module's output; left out: a forward pass
    optimizer  a torch.optim.Optimizer of the module's parameters; left out: the gradients are results

    # model.py
    import torch

    def step():
        net = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
        x, labels = torch.randn(32, 64), torch.randint(10, (32,))
        return {"module": net, "inputs": (x,), "loss": lambda y: torch.nn.functional.cross_entropy(y, labels),
                "optimizer": torch.optim.Adam(net.parameters())}

The file that it writes is as torch.export writes them (an archive with a program in JSON and weights), and `place`
reads it. Its results are the loss, if there is one, and what the module returns; then gradients, if nothing updates the
parameters. Parameters, buffers and the optimizer's state are updated in place, as PyTorch does. Two steps of the traced
graph are compared with two of the model before it is written. Tested with PyTorch 1.13.
"""

import argparse
import copy
import importlib.util
import inspect
import io
import json
import math
import os
import sys
import types
import zipfile
from collections import defaultdict

try:
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.utils._pytree import tree_flatten
except ImportError as e:
    sys.exit(f'torch_step: it needs PyTorch 1.13 or later ({e}); Debian has it: apt-get install python3-torch')


class Refused(Exception):
    """What cannot be traced, in one line."""


def load(spec):
    """The dictionary that a function of a file returns."""
    path, colon, name = spec.rpartition(':')
    if not colon or not path or not name:
        raise Refused(f'"{spec}": give a file and a function of it, such as model.py:step')
    if not os.path.isfile(path):
        raise Refused(f'"{path}": there is no such file')
    if not path.endswith('.py'):
        raise Refused(f'"{path}": its name has to end in .py')
    module = importlib.util.module_from_spec(importlib.util.spec_from_file_location('traced_model', path))
    sys.modules['traced_model'] = module
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    module.__spec__.loader.exec_module(module)
    function = getattr(module, name, None)
    if not callable(function):
        raise Refused(f'"{path}" has no function "{name}"')
    what = function()
    known = {'module', 'inputs', 'loss', 'optimizer'}
    if not isinstance(what, dict) or not {'module', 'inputs'} <= what.keys():
        raise Refused(f'{name}() has to return a dictionary with "module" and "inputs"')
    if what.keys() - known:
        raise Refused(f'{name}() returns "{min(what.keys() - known)}", and only {", ".join(sorted(known))} are known')
    inputs = what['inputs']
    if not isinstance(inputs, (tuple, list)) or not all(isinstance(x, torch.Tensor) for x in inputs):
        raise Refused(f'"inputs" of {name}() has to be a tuple of tensors')
    if what.get('optimizer') is not None and what.get('loss') is None:
        raise Refused(f'{name}() returns an optimizer without a loss')
    return what


class Step:
    """A step of a model as a function of all its tensors, by name: parameters, buffers, state and inputs."""

    def __init__(self, what):
        self.module, self.loss, self.optimizer = what['module'], what.get('loss'), what.get('optimizer')
        self.inputs = [x.detach().clone() for x in what['inputs']]
        self.parameters = dict(self.module.named_parameters())
        self.buffers = dict(self.module.named_buffers())
        self.untraced = {}  # of the optimizer's state: numbers that are the same in all steps, or the trace is refused
        self.state = self.state_of_optimizer() if self.optimizer else {}

    def counts_in_tensors(self):
        """Whether the optimizer computes what depends on the number of the step as tensors."""
        return 'capturable' in self.optimizer.defaults

    def state_of_optimizer(self):
        """Its tensors as they are before the first step, by parameter and name."""
        names = {id(p): name for name, p in self.parameters.items()}
        for group in self.optimizer.param_groups:
            if any(id(p) not in names for p in group['params']):
                raise Refused('the optimizer updates parameters that the module does not have')
        # A copy makes it in a step with gradients of zero; before the first one all is zero, but for products.
        module, optimizer = copy.deepcopy((self.module, self.optimizer))
        originals = dict(zip((id(p) for g in optimizer.param_groups for p in g['params']),
                             (p for g in self.optimizer.param_groups for p in g['params'])))
        for group in optimizer.param_groups:
            for p in group['params']:
                p.grad = torch.zeros_like(p) if p.requires_grad else None
        optimizer.step()
        state = {}
        for p, values in optimizer.state.items():
            original = originals[id(p)]
            before = self.optimizer.state.get(original, {})
            for key, value in values.items():
                if isinstance(before.get(key), torch.Tensor):
                    value = before[key].clone()
                elif isinstance(value, torch.Tensor):
                    value = torch.ones_like(value) if key == 'mu_product' else torch.zeros_like(value)
                else:
                    value = before.get(key, 0 if key == 'step' else value)
                is_traced = isinstance(value, torch.Tensor) and (key != 'step' or self.counts_in_tensors())
                (state if is_traced else self.untraced)[names[id(original)], key] = value
        return state

    def tensors(self):
        """Copies of all of them: names of parameters, buffers, state and inputs, in that order."""
        return ([p.detach().clone().requires_grad_(p.requires_grad) for p in self.parameters.values()]
                + [b.detach().clone() for b in self.buffers.values()]
                + [s.detach().clone() for s in self.state.values()] + [x.clone() for x in self.inputs])

    def __call__(self, *tensors):
        """Loss, outputs and, if nothing is updated, gradients; updates tensors in place."""
        rest = list(tensors)
        parameters, buffers, state = ({name: rest.pop(0) for name in names}
                                      for names in (self.parameters, self.buffers, self.state))
        output, replaced = self.run(parameters, buffers, rest)
        places = {t.data_ptr() for t in tensors}  # a result may be what is updated later, as it was
        results = [x.clone() if x.data_ptr() in places else x for x in tree_flatten(output)[0]
                   if isinstance(x, torch.Tensor)]
        if self.loss is not None:
            loss = self.loss(output)
            if not isinstance(loss, torch.Tensor) or loss.numel() != 1:
                raise Refused('the loss has to be a tensor of one number')
            trained = {n: p for n, p in parameters.items() if p.requires_grad}
            gradients = torch.autograd.grad(loss, list(trained.values()), allow_unused=True)
            found = {n: g for n, g in zip(trained, gradients) if g is not None}
            results = [loss.detach()] + [x.detach() for x in results]
            if self.optimizer is None:
                results += found.values()
            else:
                self.update(parameters, found, state)
        for name, value in replaced.items():
            buffers[name].copy_(value)
        return [x.detach() for x in results]

    def run(self, parameters, buffers, inputs):
        """The module's output with these tensors in the place of its own, and buffers that it replaced."""
        places = []
        for given, slots in ((parameters, '_parameters'), (buffers, '_buffers')):
            for path, value in given.items():
                owner, _, name = path.rpartition('.')
                held = getattr(self.module.get_submodule(owner), slots)
                places.append((held, name, held[name], value, path if slots == '_buffers' else None))
        shared = {id(own): value for _, _, own, value, _ in places}  # a tensor under two names is one
        for m in self.module.modules():
            for held in (m._parameters, m._buffers):
                for name, own in held.items():
                    if own is not None and id(own) in shared and not any(h is held and n == name
                                                                         for h, n, *_ in places):
                        places.append((held, name, own, shared[id(own)], None))
        try:
            for held, name, _, value, _ in places:
                held[name] = value
            set_flat_weights(self.module)
            output = self.module(*inputs)
            return output, {path: held[name].detach() for held, name, _, value, path in places
                            if path is not None and held[name] is not value}
        finally:
            for held, name, own, _, _ in places:
                held[name] = own
            set_flat_weights(self.module)

    def update(self, parameters, gradients, state):
        """Runs the optimizer's step on these tensors."""
        kind = type(self.optimizer)
        if self.counts_in_tensors() and not kind.__module__.startswith('torch.optim'):
            raise Refused(f'the optimizer {kind.__name__} is not one of torch.optim itself: of those that have '
                          '"capturable" only they are traced')
        own = without_assertions(kind) if self.counts_in_tensors() else kind
        optimizer = own.__new__(own)
        optimizer.__dict__.update(self.optimizer.__dict__)
        names = {id(p): name for name, p in self.parameters.items()}
        optimizer.param_groups, optimizer.state = [], defaultdict(dict)
        for group in self.optimizer.param_groups:
            mine = [names[id(p)] for p in group['params']]
            options = {'foreach': False, 'fused': False, 'capturable': True}  # no number of the step outside of tensors
            optimizer.param_groups.append({**group, **{k: v for k, v in options.items() if k in group},
                                           'params': [parameters[n] for n in mine]})
            for n in mine:
                parameters[n].grad = gradients.get(n)
                optimizer.state[parameters[n]].update({key: x for (p, key), x in state.items() if p == n})
                optimizer.state[parameters[n]].update({key: torch.tensor(x.tolist()) if isinstance(x, torch.Tensor)
                                                       else x for (p, key), x in self.untraced.items() if p == n})
        optimizer.step()
        for p in parameters.values():
            p.grad = None


def set_flat_weights(module):
    """Recurrent layers keep lists of their parameters beside these."""
    for m in module.modules():
        if hasattr(m, '_flat_weights_names'):
            m._flat_weights = [getattr(m, name) for name in m._flat_weights_names]


def without_assertions(kind):
    """The same class, whose module asserts nothing: that `capturable` is for GPUs, above all."""
    module = sys.modules[kind.__module__]
    fresh = types.ModuleType(module.__name__)
    fresh.__dict__.update(__file__=module.__file__, __package__=module.__package__)
    exec(compile(inspect.getsource(module), module.__file__, 'exec', optimize=1), fresh.__dict__)
    return getattr(fresh, kind.__name__)


class Reference:
    """A copy of the model, as PyTorch runs it."""

    def __init__(self, what):
        self.module, self.optimizer = copy.deepcopy((what['module'], what.get('optimizer')))
        self.inputs, self.loss = [x.detach().clone() for x in what['inputs']], what.get('loss')

    def start_from(self, step, tensors):
        """Takes over parameters, buffers and the optimizer's state."""
        own = dict(self.module.named_parameters())
        names = ([(own, n) for n in step.parameters] + [(dict(self.module.named_buffers()), n) for n in step.buffers]
                 + [(self.optimizer.state[own[p]], key) for p, key in step.state])
        with torch.no_grad():
            for (owner, name), value in zip(names, tensors):
                if isinstance(owner.get(name), torch.Tensor):
                    owner[name].copy_(value)

    def run(self):
        """Results of a step, then parameters and buffers after it."""
        parameters = list(self.module.parameters())
        output = self.module(*self.inputs)
        results = [x.detach().clone() for x in tree_flatten(output)[0] if isinstance(x, torch.Tensor)]
        if self.loss is not None:
            loss = self.loss(output)
            results.insert(0, loss.detach().clone())
            if self.optimizer is None:
                trained = [p for p in parameters if p.requires_grad]
                results += [g for g in torch.autograd.grad(loss, trained, allow_unused=True) if g is not None]
            else:
                self.optimizer.zero_grad(set_to_none=True)
                loss.backward()
                self.optimizer.step()
        return results + [p.detach() for p in parameters] + list(self.module.buffers())


def largest_difference(some, others):
    """The largest difference of numbers, relative to the largest number of their tensor."""
    if len(some) != len(others):
        raise Refused(f'the traced step has {len(some)} results and the model {len(others)}')
    most = 0.0
    for a, b in zip(some, others):
        if a.shape != b.shape:
            raise Refused(f'a result of the traced step has shape {tuple(a.shape)}, and of the model {tuple(b.shape)}')
        a, b = a.detach().double(), b.detach().double()
        differs = (a != b) & ~(a.isnan() & b.isnan())
        if differs.any():
            apart = (a - b).abs()[differs].nan_to_num(nan=math.inf).max()
            finite = b[b.isfinite()].abs()
            most = max(most, float(apart / max(float(finite.max()) if finite.numel() else 0, 1e-6)))
    return most


def trace(step, what):
    """The graph of a step, checked against the model."""
    random = torch.get_rng_state()
    try:
        graph = make_fx(step)(*step.tensors())
    except Refused:
        raise
    except Exception as e:
        if 'out of a tracing tensor' in str(e):
            who = f'the loss or {type(step.optimizer).__name__}' if step.optimizer else 'the module or the loss'
            raise Refused(f'the step cannot be traced: {who} reads numbers of a tensor to go on with in Python, which '
                          'no graph has; Adam, AdamW, SGD, RMSprop, Adagrad and Adadelta do not')
        raise Refused(f'the step cannot be traced: {type(e).__name__}: {(str(e) or "no reason").splitlines()[0]}')
    if [n.op for n in graph.graph.nodes].count('placeholder') != len(step.tensors()):
        raise Refused('the traced step has other tensors than the model')
    tensors, reference = step.tensors(), Reference(what)
    kept = len(step.parameters) + len(step.buffers)
    for number in range(2):
        torch.set_rng_state(random)
        expected = [x.detach().clone() for x in reference.run()]
        torch.set_rng_state(random)
        with torch.no_grad():
            results = graph(*tensors)
        apart = largest_difference(list(results) + tensors[:kept], expected)
        if not apart <= 1e-4:
            raise Refused(f'step {number + 1} of the traced graph is {apart:.1e} from that of the model' + (
                ': numbers that change from step to step outside of tensors cannot be traced' if number else ''))
        reference.start_from(step, tensors)
    torch.set_rng_state(random)
    return graph


# torch/_export/serde/schema.py numbers these.
DTYPES = {torch.uint8: 1, torch.int8: 2, torch.int16: 3, torch.int32: 4, torch.int64: 5, torch.float16: 6,
          torch.float32: 7, torch.float64: 8, torch.complex32: 9, torch.complex64: 10, torch.complex128: 11,
          torch.bool: 12, torch.bfloat16: 13}
FORMATS = {torch.contiguous_format: 1, torch.channels_last: 2, torch.channels_last_3d: 3, torch.preserve_format: 4}
SCHEMA = {'major': 8, 'minor': 1}


def real(x):
    """A number as torch.export writes it: JSON has no infinite ones."""
    return x if math.isfinite(x) else 'NaN' if math.isnan(x) else 'Infinity' if x > 0 else '-Infinity'


class Writer(torch.fx.Interpreter):
    """Runs a graph once for the shapes of its tensors, and writes it as torch.export does."""

    def __init__(self, graph):
        super().__init__(graph, garbage_collect_values=False)
        self.tensor_values, self.nodes, self.names, self.constants = {}, [], {}, {}

    def tensor(self, name, x):
        self.tensor_values[name] = {
            'dtype': DTYPES[x.dtype], 'sizes': [{'as_int': n} for n in x.shape], 'requires_grad': False,
            'device': {'type': x.device.type, 'index': x.device.index},
            'strides': [{'as_int': n} for n in x.stride()], 'storage_offset': {'as_int': x.storage_offset()},
            'layout': 7}
        return {'name': name}

    def run_node(self, n):
        value = super().run_node(n)
        if n.op in ('placeholder', 'get_attr'):
            self.tensor(n.name, value)
            if n.op == 'get_attr':
                self.constants[n.name] = value
        elif n.op == 'call_function' and n.target.__name__ != 'getitem':
            self.nodes.append({'target': self.target_of(n), 'inputs': self.inputs_of(n),
                               'outputs': self.outputs_of(n, value), 'metadata': {}})
        elif n.op == 'call_function':
            if not isinstance(n.args[0], torch.fx.Node) or n.args[0].name not in self.names:
                raise Refused(f'"{n.name}" takes an element of what is no result of an op')
            self.names[n.name] = self.names[n.args[0].name][n.args[1]]
        elif n.op != 'output':
            raise Refused(f'"{n.name}" of the traced step calls "{n.target}", which is no op')
        return value

    def target_of(self, n):
        if not isinstance(n.target, torch._ops.OpOverload):
            raise Refused(f'"{n.name}" of the traced step calls "{n.target}", which is no op')
        schema = n.target._schema
        space, _, name = schema.name.partition('::')
        return f'torch.ops.{space}.{name}.{schema.overload_name or "default"}'

    def inputs_of(self, n):
        inputs = []
        for i, formal in enumerate(n.target._schema.arguments):
            if i < len(n.args) and not formal.kwarg_only:
                given, kind = n.args[i], 1
            elif formal.name in n.kwargs:
                given, kind = n.kwargs[formal.name], 2
            else:
                continue  # has its default
            inputs.append({'name': formal.name, 'arg': self.argument(given, str(formal.type)), 'kind': kind})
        return inputs

    def name_of(self, node):
        return self.names.get(node.name, node.name)

    def argument(self, x, kind):
        """What the schema calls an argument of that type."""
        if x is None:
            return {'as_none': True}
        if isinstance(x, torch.fx.Node):
            return {'as_tensor': {'name': self.name_of(x)}}
        if isinstance(x, bool):
            return {'as_bool': x}
        if isinstance(x, int):
            return {'as_float': float(x)} if kind.startswith(('float', 'Optional[float]')) else {'as_int': x}
        if isinstance(x, float):
            return {'as_float': real(x)}
        if isinstance(x, str):
            return {'as_string': x}
        if isinstance(x, torch.dtype):
            return {'as_scalar_type': DTYPES[x]}
        if isinstance(x, torch.memory_format):
            return {'as_memory_format': FORMATS[x]}
        if isinstance(x, torch.layout):
            return {'as_layout': 7}
        if isinstance(x, torch.device):
            return {'as_device': {'type': x.type, 'index': x.index}}
        if isinstance(x, (list, tuple)):
            return self.arguments(list(x), kind)
        raise Refused(f'an argument is a {type(x).__name__}, which exported programs do not have')

    def arguments(self, x, kind):
        if any(isinstance(i, torch.fx.Node) for i in x):
            if 'Optional' in kind.split('[', 1)[-1]:
                return {'as_optional_tensors': [self.argument(i, '') for i in x]}
            return {'as_tensors': [{'name': self.name_of(i)} for i in x]}
        if all(isinstance(i, bool) for i in x) and x:
            return {'as_bools': x}
        if all(isinstance(i, int) for i in x):
            return {'as_floats': [float(i) for i in x]} if 'float' in kind else {'as_ints': x}
        return {'as_floats': [real(float(i)) for i in x]}

    def outputs_of(self, n, value):
        if isinstance(value, torch.Tensor):
            return [{'as_tensor': self.tensor(n.name, value)}]
        returns = n.target._schema.returns
        if len(returns) == 1:  # a list
            self.names[n.name] = [f'{n.name}_{i}' for i in range(len(value))]
            return [{'as_tensors': [self.tensor(name, x) for name, x in zip(self.names[n.name], value)]}]
        if value is None or not isinstance(value, (tuple, list)):
            return [] if value is None else [{'as_none': True}]
        self.names[n.name] = [f'{n.name}_{i}' for i in range(len(value))]
        return [{'as_tensor': self.tensor(name, x)} if isinstance(x, torch.Tensor) else {'as_none': True}
                for name, x in zip(self.names[n.name], value)]


def as_program(step, graph):
    """The program as JSON can have it, and its constants."""
    writer = Writer(graph)
    with torch.no_grad():
        writer.run(*step.tensors())
    placeholders = [n.name for n in graph.graph.nodes if n.op == 'placeholder']
    names = ([('parameter', n) for n in step.parameters] + [('buffer', n) for n in step.buffers]
             + [('buffer', f'optimizer.{p}.{key}') for p, key in step.state]
             + [('user_input', None)] * len(step.inputs))
    specs = []
    for placeholder, (kind, name) in zip(placeholders, names):
        if kind == 'user_input':
            specs.append({kind: {'arg': {'as_tensor': {'name': placeholder}}}})
        else:
            more = {'persistent': True} if kind == 'buffer' else {}
            specs.append({kind: {'arg': {'name': placeholder}, f'{kind}_name': name, **more}})
    for name in writer.constants:
        specs.append({'tensor_constant': {'arg': {'name': name}, 'tensor_constant_name': name}})
    results = [writer.name_of(n) for n in next(n for n in graph.graph.nodes if n.op == 'output').args[0]]
    inputs = [{'as_tensor': {'name': n}} for n in placeholders + list(writer.constants)]
    outputs = [{'as_tensor': {'name': n}} for n in results]
    loss = step.loss is not None
    program = {
        'graph_module': {
            'graph': {'inputs': inputs, 'outputs': outputs, 'nodes': writer.nodes,
                      'tensor_values': writer.tensor_values, 'sym_int_values': {}, 'sym_bool_values': {},
                      'is_single_tensor_return': False, 'custom_obj_values': {}},
            'signature': {'input_specs': specs,
                          'output_specs': [{'loss_output': {'arg': x['as_tensor']}} if loss and i == 0 else
                                           {'user_output': {'arg': x}} for i, x in enumerate(outputs)]},
            'module_call_graph': []},
        'opset_version': {'aten': 10}, 'range_constraints': {}, 'schema_version': SCHEMA, 'verifiers': ['TRAINING']}
    return program, writer.constants


def saved(x):
    """Bytes as torch.save writes them. PyTorch's reader in C++ knows no dictionaries of one."""
    x = {**x, '': torch.empty(0)} if isinstance(x, dict) and len(x) == 1 else x
    out = io.BytesIO()
    torch.save(x, out)
    return out.getvalue()


def write(path, step, graph):
    program, constants = as_program(step, graph)
    tensors = dict(zip(list(step.parameters) + list(step.buffers) + [f'optimizer.{p}.{k}' for p, k in step.state],
                       (t.detach() for t in step.tensors())))
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_STORED) as z:
        z.writestr('version', '.'.join(str(n) for n in SCHEMA.values()))
        z.writestr('serialized_exported_program.json', json.dumps(program, allow_nan=False), zipfile.ZIP_DEFLATED)
        z.writestr('serialized_state_dict.pt', saved(tensors))
        z.writestr('serialized_constants.pt', saved({k: v.detach() for k, v in constants.items()}))
        z.writestr('serialized_example_inputs.pt', saved(tuple(step.inputs)))
    return program


def main(arguments=None):
    parser = argparse.ArgumentParser(prog='torch_step', formatter_class=argparse.RawDescriptionHelpFormatter,
                                     description=__doc__)
    parser.add_argument('model', metavar='MODEL.py:FUNCTION', help='a file and a function of it that returns the step')
    parser.add_argument('-o', '--output', metavar='FILE', required=True, help='the program, such as step.pt2')
    o = parser.parse_args(arguments)
    try:
        what = load(o.model)
        step = Step(what)
        program = write(o.output, step, trace(step, what))
    except Refused as e:
        sys.exit(f'torch_step: {e}')
    except OSError as e:
        sys.exit(f'torch_step: {o.output}: {e.strerror}')
    count = len(program['graph_module']['graph']['nodes'])
    print(f'{o.output}: {count:,} ops, {sum(p.numel() for p in step.parameters.values()):,} parameters')


if __name__ == '__main__':
    main()
