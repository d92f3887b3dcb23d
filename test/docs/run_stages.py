#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The code of docs/split.md. `run_stages.py FOLDER MODEL` runs the model and its stages on inputs of ones, and exits
with 1 if their outputs differ, with 77 if there is no ONNX Runtime."""
import importlib.util
import sys

if importlib.util.find_spec("onnxruntime") is None:
    print("skipped: the Python package onnxruntime is not installed")
    sys.exit(77)

# [run]
import json, os
import onnxruntime as ort

def run_stages(folder, inputs):  # by name, as arrays
    with open(os.path.join(folder, "manifest.json")) as f:
        manifest = json.load(f)
    known = dict(inputs)
    for stage in manifest["stages"]:
        session = ort.InferenceSession(os.path.join(folder, stage["file"]))
        names = [x["name"] for x in stage["outputs"]]
        known |= zip(names, session.run(names, {x["name"]: known[x["name"]] for x in stage["inputs"]}))
    return {x["name"]: known[x["name"]] for x in manifest["outputs"]}
# [run]


def main(folder, model):
    import numpy

    whole = ort.InferenceSession(model)
    ones = {x.name: numpy.ones([d if isinstance(d, int) else 4 for d in x.shape], numpy.float32)
            for x in whole.get_inputs()}
    outputs = run_stages(folder, ones)
    worst = max(numpy.abs(outputs[x.name] - wanted).max() / numpy.abs(wanted).max()
                for x, wanted in zip(whole.get_outputs(), whole.run(None, ones)))
    print("relative difference", worst)
    return worst > 1e-5


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
