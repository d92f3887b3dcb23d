// SPDX-License-Identifier: BSL-1.0
/// The Gantt chart of the HTML reports: its data model and drawing.
#pragma once

#include "weft/core/config.hpp"

#include <string_view>

namespace weft::report::detail {

/// Reads a run, and finds what is where. Uses the functions of `html_base_script`.
inline constexpr std::string_view html_run_script = R"js(
// A run as columns of numbers, times in its unit. Item i < n is op i, item n + k the send of transfer k.
function readRun(json) {
  const [scale, unit] = timeUnit(json.makespan);
  const numbers = key => column(json[key]), n = numbers("device").length;
  const run = {json, scale, unit, n, names: data.names[json.names], devices: json.devices, end: json.makespan * scale || 1};
  for (const key of ["producer", "from", "to", "bytes"]) run[key] = numbers(key);
  const scaled = key => Float64Array.from(numbers(key), t => t * scale);
  run.moveStart = scaled("moveStart");
  run.moveFinish = scaled("moveLength").map((length, k) => run.moveStart[k] + length);
  const m = run.producer.length, sends = json.sendStart ? m : 0, both = (a, b) => {
    const all = new Float64Array(n + sends);
    all.set(a);
    all.set(b, n);
    return all;
  };
  run.start = both(scaled("start"), sends ? scaled("sendStart") : []);
  run.finish = both(scaled("length"), sends ? scaled("sendLength") : []).map((length, i) => run.start[i] + length);
  run.device = i => i < n ? run.opDevice[i] : run.from[i - n];
  run.opDevice = numbers("device");
  const lane = numbers("lane"), sendLane = sends ? numbers("sendLane") : [];
  run.lanes = json.lanes.map(size => Array.from({length: size}, () => []));
  const sorted = (size, start) => Uint32Array.from({length: size}, (_, i) => i).sort((a, b) => start[a] - start[b] || a - b);
  for (const i of sorted(n + sends, run.start)) {
    if (i >= n && run.finish[i] <= run.start[i]) continue;
    run.lanes[run.device(i)]?.[i < n ? lane[i] : sendLane[i - n]].push(i); // an op that did not run has no device
  }
  run.arriving = run.devices.map(() => []);
  run.longestMove = run.devices.map(() => 0);
  for (const k of sorted(m, run.moveStart)) {
    run.arriving[run.to[k]].push(k);
    run.longestMove[run.to[k]] = Math.max(run.longestMove[run.to[k]], run.moveFinish[k] - run.moveStart[k]);
  }
  run.name = i => run.names[i] ?? "a tensor";
  run.hasTypes = json.types.length > 0;
  const type = run.hasTypes ? numbers("type") : null;
  // Without types, the last part of a name such as `gradients/add_1_grad/Sum_1` comes closest: `Sum`.
  run.type = type ? i => json.types[type[i]] || "no type"
    : i => run.name(i).slice(-80).replace(/^.*\//s, "").replace(/[_ ]?\d+$/, "") || "op";
  const busy = new Map();
  for (let i = 0; i < n; ++i) {
    const key = run.type(i);
    busy.set(key, (busy.get(key) ?? 0) + run.finish[i] - run.start[i]);
  }
  run.ranked = [...busy].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  run.path = json.path ? readPath(run) : null;
  run.slack = json.slack ? numbers("slack") : null;
  run.critical = json.critical ? numbers("critical") : null;
  return run;
}

// The critical path: items, transfers as n + m + k, and what each waited for.
function readPath(run) {
  const steps = column(run.json.path.step), cause = column(run.json.path.cause), m = run.producer.length, path = {steps: []};
  path.ops = new Set();
  path.moves = new Set();
  steps.forEach((step, i) => {
    const move = step >= run.n + m ? step - run.n - m : -1;
    (move < 0 ? path.ops : path.moves).add(move < 0 ? step : move);
    path.steps.push({item: move < 0 ? step : -1, move, cause: cause[i],
                     start: move < 0 ? run.start[step] : run.moveStart[move],
                     finish: move < 0 ? run.finish[step] : run.moveFinish[move],
                     device: move < 0 ? run.device(step) : run.to[move]});
  });
  return path;
}

// What the colours stand for: the types with most time, then all other types, sends and transfers.
function classesOf(run) {
  const total = run.ranked.reduce((sum, [, time]) => sum + time, 0) || 1;
  const shown = run.ranked.slice(0, run.ranked.length > palette.length ? palette.length - 1 : palette.length);
  const rest = run.ranked.slice(shown.length), share = list => `${decimal(list.reduce((s, [, t]) => s + t, 0) / total * 100, 1)} %`;
  const list = shown.map((one, i) => ({label: one[0], note: share([one]), colour: () => palette[i]}));
  if (rest.length) list.push({label: `${rest.length} other types`, note: share(rest), colour: () => palette.at(-1)});
  const index = new Map(shown.map(([key], i) => [key, i]));
  const of = Uint8Array.from({length: run.start.length}, (_, i) => i < run.n ? index.get(run.type(i)) ?? shown.length : list.length);
  const send = list.push({label: "sends", colour: () => theme.send, absent: run.start.length === run.n}) - 1;
  const move = list.push({label: "transfers", colour: () => theme.transfer, absent: !run.producer.length}) - 1;
  list.forEach(one => { one.on = true; });
  // Passes of a pipeline bear the numbers of their micro-batches; those of odd ones are paler.
  const types = new Set(run.ranked.map(([key]) => key));
  const passes = new Set(["ForwardPass", "BackwardPass", "WeightsPass"].filter(type => types.has(type)));
  const micro = Int32Array.from({length: run.start.length}, (_, i) =>
    passes.size && i < run.n && passes.has(run.type(i)) ? +(/(?:^|\/)micro_(\d+)\//.exec(run.name(i))?.[1] ?? -1) : -1);
  return {list, of, send, move, micro};
}

// How many of a list of items, by start, begin at t or before.
function countUntil(list, start, t) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (start[list[middle]] <= t) low = middle + 1; else high = middle;
  }
  return low;
}

function describeItem(run, i) {
  const t = value => `${six(value)} ${run.unit}`;
  const span = (from, to) => `${six(from)} to ${t(to)} (${duration((to - from) / run.scale)})`;
  const device = d => run.devices[d];
  const short = text => text.length > 300 ? text.slice(0, 150) + "…" + text.slice(-150) : text;
  const move = k => `${device(run.from[k])} → ${device(run.to[k])}${run.bytes[k] >= 0 ? ", " + amount(run.bytes[k]) : ""}`;
  if (typeof i === "object")
    return [i.length > 1 ? `${i.length} transfers to ${device(run.to[i[0]])}` : `Transfer of ${short(run.name(run.producer[i[0]]))}`,
            ...i.slice(0, 6).map(k => `${i.length > 1 ? short(run.name(run.producer[k])) + ": " : ""}${move(k)}, ` +
                                      span(run.moveStart[k], run.moveFinish[k])), ...(i.length > 6 ? ["…"] : [])];
  if (i >= run.n) return [`Send of ${short(run.name(run.producer[i - run.n]))}`, move(i - run.n), span(run.start[i], run.finish[i])];
  if (run.opDevice[i] >= run.devices.length) return [short(run.name(i)), "did not run"];
  return [short(run.name(i)), ...(run.hasTypes ? [run.type(i)] : []), `op ${i} on ${device(run.opDevice[i])}`,
          span(run.start[i], run.finish[i]), ...(run.path?.ops.has(i) ? ["on the critical path"] : []),
          ...(run.slack?.[i] > 0 ? [`may end ${duration(run.slack[i])} later`] : []),
          ...(run.critical ? [`critical in ${decimal(run.critical[i] * 100, 1)} % of samples`] : [])];
}
)js";

/// Draws a run: bars in lanes, a strip of arriving transfers per device, the critical path. Of bars narrower than a
/// pixel, those of a pixel are drawn as one: as high as the pixel is busy, in the colour of most of its time.
inline constexpr std::string_view html_paint_script = R"js(
const maxRows = 64; // more devices than that scroll
function bandOf(run) {
  const devices = run.devices.length, base = devices <= 4 ? 46 : devices <= 10 ? 36 : devices <= 24 ? 26 : 17;
  return Math.min(72, Math.max(base, 8 * Math.max(1, ...run.json.lanes) + 7));
}

// Where devices and times are on the screen, in pixels.
function layoutOf(run, view, pen, width, first) {
  const gutter = gutterFor(pen, run.devices, width), band = bandOf(run), rows = Math.min(run.devices.length, maxRows);
  const area = {x: gutter, y: run.json.bound ? 20 : 6, width: Math.max(40, width - gutter - 46), height: rows * band};
  const scale = area.width / (view.to - view.from), strip = run.producer.length ? Math.min(5, Math.max(3, band * .14)) : 0;
  const pad = band > 20 ? 3 : 1;
  return {area, band, rows, first, strip, pad, from: view.from, to: view.to, scale,
          x: t => area.x + (t - view.from) * scale, top: d => area.y + (d - first) * band + pad,
          laneHeight: d => (band - 2 * pad - strip - (strip ? 1 : 0)) / run.lanes[d].length};
}

function paintRun(pen, run, look, at, onPath, selected) {
  const {area} = at, last = Math.min(run.devices.length, at.first + at.rows), labels = [];
  const right = area.x + area.width, faded = i => onPath && !run.path.ops.has(i);
  const weights = new Float64Array(look.list.length);
  const colours = look.list.map(one => one.on ? one.colour() : theme.ghost);
  for (let d = at.first; d < last; ++d) {
    const height = at.laneHeight(d);
    run.lanes[d].forEach((list, lane) => {
      const y = at.top(d) + lane * height, tall = height - (run.lanes[d].length > 1 ? .6 : 0);
      let pixel = -1, busy = 0, lit = false; // whether the path goes through the pixel
      const flush = () => {
        if (pixel < 0) return;
        const most = weights.indexOf(Math.max(...weights)), part = Math.max(.18, Math.min(1, busy)) * tall;
        pen.globalAlpha = onPath && !lit ? .22 : 1;
        pen.fillStyle = colours[most];
        pen.fillRect(pixel, y + tall - part, 1, part);
        weights.fill(0);
        pixel = -1;
        busy = 0;
        lit = false;
      };
      for (let k = Math.max(0, countUntil(list, run.start, at.from) - 1); k < list.length && run.start[list[k]] <= at.to; ++k) {
        const i = list[k], begin = Math.max(at.x(run.start[i]), area.x), end = Math.min(at.x(run.finish[i]), right);
        if (run.finish[i] < at.from) continue;
        const kind = look.of[i];
        if (end - begin < 1.5) {
          if (Math.floor(begin) !== pixel) flush();
          pixel = Math.floor(begin);
          weights[kind] += end - begin + 1e-9;
          busy += end - begin;
          lit ||= onPath && !faded(i);
          continue;
        }
        flush();
        pen.globalAlpha = faded(i) ? .22 : 1;
        pen.fillStyle = colours[kind];
        const wide = Math.max(end - begin - (end - begin > 4 ? .8 : .2), 1);
        pen.fillRect(begin, y, wide, tall);
        if (look.micro[i] > 0 && look.micro[i] % 2) {
          pen.globalAlpha *= .3;
          pen.fillStyle = theme.paper;
          pen.fillRect(begin, y, wide, tall);
        }
        const least = look.micro[i] < 0 ? 34 : 10; // pixels for a label
        if (end - begin > least && tall >= 11 && i < run.n && look.list[kind].on && labels.length < 400)
          labels.push([i, kind, begin, y + tall / 2, end - begin]);
      }
      flush();
    });
    if (at.strip) paintArrivals(pen, run, look, at, d, onPath);
  }
  pen.globalAlpha = 1;
  pen.font = fontOf(10.5);
  pen.textAlign = "left";
  for (const [i, kind, x, y, width] of labels) {
    if (faded(i)) continue;
    pen.fillStyle = inkOn(colours[kind]);
    if (look.micro[i] >= 0) {
      const texts = [`${run.type(i).slice(0, -4).toLowerCase()} ${look.micro[i]}`, String(look.micro[i])];
      const text = texts.find(one => pen.measureText(one).width + 4 < width);
      if (text) pen.fillText(text, x + (width - pen.measureText(text).width) / 2, y + .5);
      continue;
    }
    const name = run.name(i), tail = name.slice(name.lastIndexOf("/") + 1) || name;
    pen.fillText(fitted(pen, name.length * 5.4 < width ? name : tail, width - 8), x + 4, y + .5);
  }
  if (onPath) paintPath(pen, run, at);
  if (selected >= 0) paintSelected(pen, run, at, selected);
}

function paintArrivals(pen, run, look, at, d, onPath) {
  const list = run.arriving[d], y = at.top(d) + at.band - 2 * at.pad - at.strip;
  const right = at.area.x + at.area.width;
  let painted = -1;
  pen.fillStyle = look.list[look.move].on ? theme.transfer : theme.ghost;
  pen.globalAlpha = onPath ? .3 : 1;
  for (let k = countUntil(list, run.moveStart, at.from - run.longestMove[d]); k < list.length; ++k) {
    const move = list[k];
    if (run.moveStart[move] > at.to) break;
    if (run.moveFinish[move] < at.from) continue;
    const begin = Math.max(at.x(run.moveStart[move]), at.area.x, painted), end = Math.min(at.x(run.moveFinish[move]), right);
    if (end - begin < .5 && end <= painted) continue;
    painted = Math.max(begin + .8, end);
    pen.fillRect(begin, y, painted - begin, at.strip);
  }
}

// The ops of the path were left in full colour; here are its transfers, and lines from step to step.
function paintPath(pen, run, at) {
  const {area} = at, middle = d => at.top(d) + (at.band - 2 * at.pad - at.strip) / 2;
  const row = step => step.device - at.first, seen = step => row(step) >= 0 && row(step) < at.rows;
  pen.save();
  pen.beginPath();
  pen.rect(area.x, area.y, area.width, area.height);
  pen.clip();
  pen.strokeStyle = pen.fillStyle = theme.path;
  pen.lineWidth = 1.5;
  pen.beginPath();
  let before = null;
  for (const step of run.path.steps) {
    if (step.finish >= at.from && step.start <= at.to && seen(step)) {
      if (step.move >= 0)
        pen.fillRect(at.x(step.start), at.top(step.device) + at.band - 2 * at.pad - at.strip, Math.max(1, (step.finish - step.start) * at.scale), at.strip);
      else {
        const y = at.top(step.device) + at.band - 2 * at.pad - at.strip;
        pen.fillRect(at.x(step.start), y - 2, Math.max(.8, (step.finish - step.start) * at.scale), 2);
      }
    }
    if (before && before.device !== step.device && step.start >= at.from && before.finish <= at.to) {
      const from = at.x(step.move >= 0 ? step.start : before.finish), to = at.x(step.move >= 0 ? step.finish : step.start);
      pen.moveTo(from, middle(before.device));
      pen.lineTo(to, middle(step.device));
    }
    before = step;
  }
  pen.globalAlpha = .75;
  pen.stroke();
  pen.restore();
}

function paintSelected(pen, run, at, i) {
  const d = run.device(i);
  if (!(d >= at.first && d < at.first + at.rows)) return;
  const lane = Math.max(0, run.lanes[d].findIndex(list => list.includes(i))), y = at.top(d) + lane * at.laneHeight(d);
  const x = at.x(run.start[i]), width = Math.max(3, (run.finish[i] - run.start[i]) * at.scale);
  pen.save();
  pen.beginPath();
  pen.rect(at.area.x - 3, at.area.y - 3, at.area.width + 6, at.area.height + 6);
  pen.clip();
  pen.lineWidth = 4;
  pen.strokeStyle = theme.paper;
  pen.strokeRect(x - 1.5, y - 1.5, width + 3, at.laneHeight(d) + 3);
  pen.lineWidth = 2;
  pen.strokeStyle = theme.ink;
  pen.strokeRect(x - 1.5, y - 1.5, width + 3, at.laneHeight(d) + 3);
  pen.restore();
}
)js";

} // namespace weft::report::detail
