#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Writes a small network as ONNX, for those who have no model at hand: write_net.py net.onnx"""
import sys


def number(n):
    text = b''
    while n >= 128:
        text += bytes([n % 128 + 128])
        n //= 128
    return text + bytes([n])


def field(key, value):
    """A field of a protobuf message: a number, or text, bytes or another message."""
    if isinstance(value, int):
        return number(8 * key) + number(value)
    value = value.encode() if isinstance(value, str) else value
    return number(8 * key + 2) + number(len(value)) + value


def tensor(name, dims): # whose numbers are all 0
    size = 4
    for n in dims:
        size *= n
    return b''.join(field(1, n) for n in dims) + field(2, 1) + field(8, name) + field(9, bytes(size))


def value(name, *dims): # the first dimension is called
    shape = b''.join(field(1, field(2, d) if isinstance(d, str) else field(1, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))


def node(kind, name, inputs, output):
    return b''.join(field(1, i) for i in inputs) + field(2, output) + field(3, name) + field(4, kind)


def main(file):
    widths = [256, 1024, 1024, 1024, 1024, 10]
    graph = b''
    last = 'x'
    for i, (rows, columns) in enumerate(zip(widths, widths[1:])):
        layer = f'layers.{i}'
        graph += field(5, tensor(f'{layer}.weight', [rows, columns]))
        graph += field(1, node('MatMul', f'/{layer}/MatMul', [last, f'{layer}.weight'], f'{layer}.y'))
        graph += field(1, node('Relu', f'/{layer}/Relu', [f'{layer}.y'], f'{layer}.x'))
        last = f'{layer}.x'
    graph += field(2, 'net') + field(11, value('x', 'batch', widths[0])) + field(12, value(last, 'batch', widths[-1]))
    with open(file, 'wb') as f:
        f.write(field(1, 8) + field(7, graph) + field(8, field(2, 17)))


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
