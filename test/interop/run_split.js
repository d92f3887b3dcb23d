// SPDX-License-Identifier: BSL-1.0
// Runs whole models and their stages one after the other with ONNX Runtime, and demands equal outputs:
// run_split.js PACKAGES FOLDER, where FOLDER is what write_split_samples made, and onnxruntime-node is in PACKAGES.
// Exit status: 0 if all are equal, 1 if not, 77 if ONNX Runtime is not installed (scripts/onnxruntime.sh installs it).
'use strict';
const fs = require('fs');
const path = require('path');

const [packages, folder] = process.argv.slice(2);
let ort;
try {
  ort = require(path.join(packages, 'node_modules', 'onnxruntime-node'));
} catch (e) {
  console.log(`skipped: no ONNX Runtime in ${packages}; scripts/onnxruntime.sh installs it`);
  process.exit(77);
}

let seed = 1;
function random() { // in [0, 1)
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed / 2 ** 32;
}

// Open extents: the same for the same name.
function randomTensor(metadata) {
  const extents = new Map([['N', 3], ['S', 5]]);
  const dims = metadata.shape.map(d => typeof d === 'number' ? d : extents.get(d));
  const count = dims.reduce((a, b) => a * b, 1);
  const data = Float32Array.from({length: count}, () => 2 * random() - 1);
  return new ort.Tensor(metadata.type, data, dims);
}

function inputsOf(session) { // that have to be given
  return session.inputMetadata.filter(m => session.inputNames.includes(m.name));
}

// The largest difference, relative to the largest number of the tensor.
function difference(a, b) {
  if (a.type !== b.type || a.dims.join() !== b.dims.join()) return Infinity;
  let largest = 0, apart = 0;
  for (let i = 0; i < a.data.length; ++i) {
    const [x, y] = [Number(a.data[i]), Number(b.data[i])];
    if (Number.isNaN(x) !== Number.isNaN(y)) return Infinity;
    if (Number.isNaN(x)) continue;
    largest = Math.max(largest, Math.abs(x));
    apart = Math.max(apart, Math.abs(x - y));
  }
  return apart === 0 ? 0 : apart / largest;
}

async function check(name) {
  const at = path.join(folder, name);
  const manifest = JSON.parse(fs.readFileSync(path.join(at, 'manifest.json')));
  const options = {logSeverityLevel: 3, graphOptimizationLevel: 'basic'};
  const whole = await ort.InferenceSession.create(path.resolve(at, manifest.model.name), options);
  const given = Object.fromEntries(inputsOf(whole).map(m => [m.name, randomTensor(m)]));
  const wanted = await whole.run(given);
  await whole.release();
  const told = manifest.inputs.map(x => x.name).sort().join();
  if (told !== Object.keys(given).sort().join()) return `the manifest names other inputs: ${told}`;

  const known = {...given};
  const makers = {};
  for (const [k, stage] of manifest.stages.entries()) {
    const session = await ort.InferenceSession.create(path.join(at, stage.file), options);
    const inputs = {};
    for (const input of stage.inputs) {
      if (input.from !== null && (input.from >= k || makers[input.name] !== input.from))
        return `stage ${k}: ${input.name} is not from stage ${input.from}`;
      inputs[input.name] = known[input.name];
    }
    const outputs = await session.run(inputs);
    if (Object.keys(outputs).sort().join() !== stage.outputs.map(x => x.name).sort().join())
      return `stage ${k}: the manifest names other outputs`;
    for (const output of stage.outputs) makers[output.name] = k;
    Object.assign(known, outputs);
    await session.release();
  }
  let worst = 0, spread = 0;
  for (const output of manifest.outputs) {
    if ((makers[output.name] ?? null) !== output.stage)
      return `output ${output.name} is not from stage ${output.stage}`;
    worst = Math.max(worst, difference(wanted[output.name], known[output.name]));
    spread = Math.max(spread, ...Array.from(wanted[output.name].data.slice(0, 1000), x => Math.abs(Number(x))));
  }
  if (Object.keys(wanted).length !== manifest.outputs.length) return 'outputs are missing';
  console.log(`${name}: ${manifest.stages.length} stages, relative difference ${worst.toExponential(1)}, ` +
              `largest output ${spread.toPrecision(3)}`);
  return worst <= 1e-5 ? '' : `outputs differ by ${worst}`;
}

async function main() {
  const names = fs.readdirSync(folder).filter(n => fs.existsSync(path.join(folder, n, 'manifest.json'))).sort();
  let failures = names.length === 0 ? 1 : 0;
  for (const name of names) {
    let problem;
    try {
      problem = await check(name);
    } catch (e) {
      problem = e.message;
    }
    if (problem) {
      console.log(`FAILED: ${name}: ${problem}`);
      ++failures;
    }
  }
  console.log(failures ? `${failures} of ${names.length} failed` : `all ${names.length} are equal`);
  process.exit(failures ? 1 : 0);
}
main();
