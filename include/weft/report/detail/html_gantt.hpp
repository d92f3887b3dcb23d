// SPDX-License-Identifier: BSL-1.0
/// The Gantt chart of the HTML report: what it draws, and where.
#pragma once

#include <string_view>

namespace weft::report::detail {

/// A chart element per op would take seconds to zoom at some thousand ops. Here there is one per colour, whose path
/// holds the bars that are in view, and bars that share half a pixel are drawn once.
inline constexpr std::string_view html_gantt_script = R"js(
const maxRows = 64; // more devices than that scroll
const rowHeight = run => Math.min(64, Math.max(17, 8 * Math.max(1, ...run.lanes) + 5));
const timelineHeight = run => Math.min(run.devices.length, maxRows) * rowHeight(run) + 96;

// The ops of a run as bars per device and lane, and what their colours stand for.
function timelineModel(run) {
  const [scale, unit] = timeUnit(run.makespan);
  const names = data.names[run.names];
  const lanes = run.lanes.map(count => Array.from({length: count}, () => []));
  const arriving = run.devices.map(() => []);
  const leaving = new Map();
  const transfers = [];
  const ops = [];
  for (let i = 0; i < run.ops.length; i += 4) {
    const [device, lane, start, finish] = run.ops.slice(i, i + 4);
    const op = {id: i / 4, device, start: start * scale, finish: finish * scale};
    ops.push(op);
    if (device >= 0) lanes[device][lane].push(op);
  }
  for (let i = 0; i < run.transfers.length; i += 9) {
    const [op, from, to, lane, sendStart, sendFinish, start, arrival, bytes] = run.transfers.slice(i, i + 9);
    const transfer = {op, from, to, bytes, device: to, start: start * scale, finish: arrival * scale,
                      leave: sendFinish * scale};
    transfers.push(transfer);
    arriving[to].push(transfer);
    if (leaving.has(op)) leaving.get(op).push(transfer); else leaving.set(op, [transfer]);
    if (sendFinish > sendStart)
      lanes[from][lane].push({transfer, device: from, start: sendStart * scale, finish: sendFinish * scale});
  }
  const byStart = (a, b) => a.start - b.start || a.finish - b.finish;
  lanes.flat().forEach(list => list.sort(byStart));
  arriving.forEach(list => list.sort(byStart));

  const name = id => names[id] ?? (id >= 0 ? `op ${id}` : "a tensor");
  // Without types, the last part of a name such as `gradients/add_1_grad/Sum_1` comes closest: `Sum`.
  const type = run.type.length ? id => run.types[run.type[id]] || "no type"
    : id => name(id).replace(/^.*\//, "").replace(/[_ ]?\d+$/, "") || "op";
  const busy = new Map();
  ops.forEach(op => op.device >= 0 && busy.set(type(op.id), (busy.get(type(op.id)) ?? 0) + op.finish - op.start));
  const ranked = [...busy].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).map(([key]) => key);
  return {run, scale, unit, names, lanes, arriving, leaving, transfers, ops, name, type, busy, ranked,
          hasTypes: run.type.length > 0, end: run.makespan * scale || 1};
}

// What the colours stand for: types by time spent, as many as there are colours, or ops, sends and transfers.
function timelineClasses(model, byType) {
  const total = [...model.busy.values()].reduce((a, b) => a + b, 0) || 1;
  const sum = keys => keys.reduce((a, key) => a + model.busy.get(key), 0) / total;
  const shown = model.ranked.length > palette.length ? model.ranked.slice(0, palette.length - 1) : model.ranked;
  const rest = model.ranked.slice(shown.length);
  const classes = !byType ? [{label: "ops", colour: () => palette[0]}]
    : [...shown.map((key, i) => ({label: key, note: `${decimal(sum([key]) * 100, 1)} %`, colour: () => palette[i]})),
       ...(rest.length ? [{label: `${rest.length} other types`, note: `${decimal(sum(rest) * 100, 1)} %`,
                           colour: () => palette[palette.length - 1]}] : [])];
  const index = new Map(shown.map((key, i) => [key, i]));
  const opClass = Int32Array.from(model.ops, op => byType ? index.get(model.type(op.id)) ?? shown.length : 0);
  const send = classes.push({label: "sends", colour: () => theme.send}) - 1;
  const transfer = classes.push({label: "transfers", colour: () => theme.transfer}) - 1;
  const ghost = classes.push({colour: () => theme.ghost}) - 1;
  classes.forEach(one => { one.on = true; });
  return {classes, opClass, send, transfer, ghost};
}

// The number of items whose start is at most t.
function countUntil(list, t) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle].start <= t) low = middle + 1; else high = middle;
  }
  return low;
}

// Where devices and times are on the screen; `rows` in pixels from the top of a row.
function timelineLayout(model, area, a, b, first, band) {
  const pad = band > 12 ? 1.5 : .5;
  const strip = model.transfers.length ? Math.min(4, Math.max(2.5, band * .2)) : 0;
  return {area, a, b, first, band, pad, strip, x: t => a + b * t, t: x => (x - a) / b, from: (area.x - a) / b,
          to: (area.x + area.width - a) / b, top: d => first + (d - .5) * band + pad,
          laneHeight: d => (band - 2 * pad - strip) / model.lanes[d].length};
}

// The bars in view, four numbers each, per class; and names for the bars that are wide enough.
function timelineBars(model, look, at) {
  const bars = look.classes.map(() => []), labels = [];
  const last = model.run.devices.length - 1;
  const firstRow = Math.max(0, Math.floor((at.area.y - at.first) / at.band));
  const lastRow = Math.min(last, Math.ceil((at.area.y + at.area.height - at.first) / at.band));
  const put = (kind, item, y, height, seen) => {
    const left = Math.max(at.x(item.start), at.area.x - 9);
    const right = Math.min(at.x(item.finish), at.area.x + at.area.width + 9);
    const cell = Math.floor(left * 2);
    if (right - left < .5 && seen.get(kind) === cell) return 0;
    seen.set(kind, cell);
    const width = right - left;
    bars[kind].push(left, y, width > 3 ? width - .7 : Math.max(width, .8), height);
    return width;
  };
  for (let d = firstRow; d <= lastRow; ++d) {
    const height = at.laneHeight(d), top = at.top(d);
    model.lanes[d].forEach((list, lane) => {
      const seen = new Map(), y = top + lane * height;
      // Within a lane, finishes ascend with starts: only the item before the window can reach into it.
      for (let i = Math.max(0, countUntil(list, at.from) - 1); i < list.length && list[i].start <= at.to; ++i) {
        const item = list[i];
        if (item.finish < at.from) continue;
        const kind = item.transfer ? look.send : look.opClass[item.id];
        const width = put(look.classes[kind].on ? kind : look.ghost, item, y, height - .5, seen);
        if (width > 40 && height >= 10 && !item.transfer && look.classes[kind].on && labels.length < 400)
          labels.push([item, kind, Math.max(at.x(item.start), at.area.x), y + height / 2, width]);
      }
    });
    const seen = new Map(), y = top + at.band - 2 * at.pad - at.strip + .5;
    for (const item of model.arriving[d]) {
      if (item.start > at.to) break;
      if (item.finish >= at.from)
        put(look.classes[look.transfer].on ? look.transfer : look.ghost, item, y, at.strip - .5, seen);
    }
  }
  return {bars, labels};
}

// What is under the pointer: an op or send, or the transfers that arrive there.
function timelineHit(model, at, x, y) {
  const {area} = at, d = Math.round((y - at.first) / at.band);
  if (x < area.x || x > area.x + area.width || y < area.y || y > area.y + area.height || !model.lanes[d]) return null;
  const inside = y - at.top(d), t = at.t(x), slack = 2.5 / at.b, height = at.laneHeight(d);
  if (inside >= model.lanes[d].length * height) {
    const items = model.arriving[d].filter(item => item.start <= t + slack && item.finish >= t - slack);
    return items.length ? {items, y: at.top(d) + at.band - 2 * at.pad - at.strip, height: at.strip} : null;
  }
  const lane = Math.max(0, Math.floor(inside / height)), list = model.lanes[d][lane];
  const i = countUntil(list, t), near = [list[i - 1], list[i]].filter(Boolean)
    .map(item => [Math.max(item.start - t, t - item.finish, 0), item]).sort(([a], [b]) => a - b)[0];
  return near && near[0] <= slack ? {items: [near[1]], y: at.top(d) + lane * height, height} : null;
}
)js";

} // namespace weft::report::detail
