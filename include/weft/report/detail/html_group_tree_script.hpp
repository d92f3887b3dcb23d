// SPDX-License-Identifier: BSL-1.0
/// The script for the tree of groups of ops: their members, the edges between them, and their layout.
#pragma once

#include "weft/core/config.hpp"

#include <string_view>

namespace weft::report::detail {

/// Uses the functions of `html_base_script` and `html_layered_script`.
inline constexpr std::string_view html_group_tree_script = R"js(
// Box g < groups is a group of ops, box groups + v an op; group 0 is everything. `open` are the groups that are open,
// `update()` finds the `edges` between the boxes that are then shown, and the `places` of all, by box.
function groupsOf(run) {
  const json = data.graph, names = json.groups, groups = names.length, total = groups + run.n;
  const [parent, within, layer, producer, bytes, uses, consumer] =
    ["parent", "group", "layer", "producer", "bytes", "uses", "consumer"].map(key => column(json[key]));
  const isGroup = box => box < groups, outer = box => isGroup(box) ? parent[box] : within[box - groups];
  const inside = Array.from({length: groups}, () => []), depth = new Uint32Array(groups), scope = [names[0]];
  for (let box = 1; box < total; ++box) inside[outer(box)].push(box);
  for (let g = 1; g < groups; ++g) {
    depth[g] = depth[parent[g]] + 1;
    scope[g] = scope[parent[g]] + (names[g].endsWith("/") ? names[g] : "");
  }
  const depthOf = box => isGroup(box) ? depth[box] : depth[within[box - groups]] + 1;
  function fullName(box) {
    if (!isGroup(box)) return run.name(box - groups);
    return names[box].endsWith("/") ? scope[box].replace(/\/$/, "") : scope[box] + names[box];
  }
  function label(box) { // without the scopes around it
    if (isGroup(box)) return names[box].replace(/\/$/, "");
    const name = fullName(box), around = scope[outer(box)];
    return name.slice(name.startsWith(around) ? around.length : name.lastIndexOf("/") + 1) || name;
  }

  // What is in a box: how many ops, their time, both by device, and their layers.
  const contents = [];
  function contentOf(box) {
    if (contents[box]) return contents[box];
    const all = {ops: 0, time: 0, layers: 0, from: Infinity, to: 0, devices: new Map()};
    for (const left = [box]; left.length;) {
      const one = left.pop();
      if (isGroup(one)) {
        for (const next of inside[one]) left.push(next);
        continue;
      }
      const v = one - groups, d = run.opDevice[v], time = run.finish[v] - run.start[v];
      if (!all.devices.has(d)) all.devices.set(d, {ops: 0, time: 0});
      const device = all.devices.get(d);
      for (const sum of [all, device]) {
        ++sum.ops;
        sum.time += time;
      }
      all.layers += layer[v];
      [all.from, all.to] = [Math.min(all.from, layer[v]), Math.max(all.to, layer[v])];
    }
    all.whole = all.time > 0 ? "time" : "ops"; // of what devices have shares
    all.shares = [...all.devices].map(([d, sum]) => [d, sum[all.whole] / all[all.whole]]);
    all.shares.sort(([a, x], [b, y]) => y - x || a - b);
    return contents[box] = all;
  }
  const percent = share => `${decimal(share * 100, share < .1 ? 1 : 0)} %`;
  const summary = box => {
    const all = contentOf(box);
    return `${count(all.ops, "op")}, ${duration(all.time / run.scale, 3)}`;
  };
  function describe(box) {
    if (!isGroup(box)) return describeItem(run, box - groups);
    const {from, to, shares, devices, whole} = contentOf(box);
    const layers = from < to ? `layers ${from + 1} to ${to + 1}` : `layer ${from + 1}`;
    return [fullName(box), summary(box), `${layers} of ${json.layers}`,
            ...shares.slice(0, 8).map(([d, share]) => `${run.devices[d] ?? "no device"}: ` +
              `${count(devices.get(d).ops, "op")}, ${percent(share)} of the ${whole}`)];
  }

  const open = new Set([0]);
  let shown, edges;
  const openBox = box => isGroup(box) && open.has(box);

  // Which box shows each: itself, or the outermost closed group around it.
  function findShown() {
    shown = new Uint32Array(total);
    const seen = new Uint8Array(groups); // whether what is inside is shown
    seen[0] = 1;
    for (let g = 1; g < groups; ++g) {
      seen[g] = seen[parent[g]] && open.has(g) ? 1 : 0;
      shown[g] = seen[parent[g]] ? g : shown[parent[g]];
    }
    for (let v = 0; v < run.n; ++v) shown[groups + v] = seen[within[v]] ? groups + v : shown[within[v]];
  }
  // What goes from box to box, each tensor once.
  function findEdges() {
    const found = new Map();
    for (let t = 0, k = 0; t < producer.length; ++t) {
      const from = shown[groups + producer[t]];
      for (const end = k + uses[t]; k < end; ++k) {
        const to = shown[groups + consumer[k]];
        if (from === to) continue;
        const key = from * total + to;
        let edge = found.get(key);
        if (!edge) found.set(key, edge = {from, to, tensors: 0, bytes: 0, moved: 0, last: -1, lastMoved: -1});
        if (edge.last !== t) {
          edge.last = t;
          ++edge.tensors;
          edge.bytes += bytes[t];
        }
        if (edge.lastMoved !== t && run.opDevice[producer[t]] !== run.opDevice[consumer[k]]) {
          edge.lastMoved = t;
          edge.moved += bytes[t];
        }
      }
    }
    edges = [...found.values()];
  }

  // Layout: the boxes in an open group are placed relative to it. Lines that leave or enter it go through a port in its
  // lower or upper side, so a line is a list of legs, each between two boxes or ports of one group.
  const head = 30, margin = 14, [entry, exit] = [-1, -2], places = new Map();
  let inner; // by open group: its boxes in order, the legs within
  function findLegs() {
    inner = new Map();
    const own = g => inner.get(g) ?? inner.set(g, {weights: [], legs: new Map()}).get(g);
    for (const edge of edges) { // up to the group that holds both ends
      let {from: a, to: b} = edge;
      while (outer(a) !== outer(b)) if (depthOf(a) > depthOf(b)) a = outer(a); else b = outer(b);
      Object.assign(edge, {a, b});
      own(outer(a)).weights.push([a, b, edge.tensors]);
    }
    const mean = box => contentOf(box).layers / contentOf(box).ops;
    for (const g of open) {
      const one = own(g), boxes = [...inside[g]].sort((a, b) => mean(a) - mean(b) || a - b);
      const rank = new Map(boxes.map((box, i) => [box, i]));
      const order = forwards(boxes.length, one.weights.map(([a, b, weight]) => [rank.get(a), rank.get(b), weight]));
      one.boxes = [entry, ...order.map(i => boxes[i]), exit];
      one.at = new Map(one.boxes.map((box, i) => [box, i]));
    }
    for (const edge of edges) {
      const {a, b} = edge, {at} = inner.get(outer(a)), before = [], after = [];
      const leg = (g, x, y) => {
        const key = `${x} ${y}`, {legs} = inner.get(g);
        return legs.get(key) ?? legs.set(key, {x, y}).get(key);
      };
      edge.down = at.get(a) < at.get(b);
      const leaves = x => leg(outer(x), x, exit), enters = x => leg(outer(x), entry, x);
      for (let x = edge.from; x !== a; x = outer(x)) before.push(edge.down ? leaves(x) : enters(x));
      for (let x = edge.to; x !== b; x = outer(x)) after.unshift(edge.down ? enters(x) : leaves(x));
      edge.legs = [...before, edge.down ? leg(outer(a), a, b) : leg(outer(a), b, a), ...after];
    }
  }
  function arrange(g) {
    const legs = [...inner.get(g).legs.values()], used = new Set(legs.flatMap(({x, y}) => [x, y]));
    const boxes = inner.get(g).boxes.filter(box => box >= 0 || used.has(box)).map(box =>
      box < 0 ? {box, w: 6, h: 0, port: box === entry ? -1 : 1} : openBox(box) ? arrange(box)
      : {box, w: isGroup(box) ? 172 : 148, h: isGroup(box) ? 54 : 26});
    const at = new Map(boxes.map(({box}, i) => [box, i]));
    const {w, h, bends} = layered(boxes, legs.map(({x, y}) => [at.get(x), at.get(y)]));
    legs.forEach((leg, i) => { leg.bends = bends[i]; });
    return {box: g, boxes, legs, w: w + (g ? 2 * margin : 0), h: h + (g ? head + margin : 0)};
  }
  function settle({boxes, legs}, x, y) {
    const port = new Map(), portOf = box => box < 0 ? [port.get(box)] : [];
    for (const one of boxes) {
      if (one.box < 0) port.set(one.box, [x + one.x + one.w / 2, y + one.y]);
      else places.set(one.box, {x: x + one.x, y: y + one.y, w: one.w, h: one.h});
      if (one.boxes) settle(one, x + one.x + margin, y + one.y + head);
    }
    for (const leg of legs)
      leg.points = [...portOf(leg.x), ...leg.bends.map(([px, py]) => [x + px, y + py]), ...portOf(leg.y)];
  }

  // The line of an edge, as SVG has it: from the lower side of a box to the upper side of the next, smooth.
  function pathOf(edge) {
    const {down, from, to, legs} = edge, u = places.get(from), v = places.get(to);
    const points = [[u.x + u.w / 2, down ? u.y + u.h : u.y],
                    ...legs.flatMap(leg => down ? leg.points : [...leg.points].reverse()),
                    [v.x + v.w / 2, down ? v.y : v.y + v.h]];
    const text = numbers => numbers.map(x => x.toFixed(1)).join(" ");
    return points.reduce((path, [x, y], i) => {
      if (!i) return `M${text([x, y])}`;
      const [px, py] = points[i - 1], bend = (y - py) / 2;
      return `${path}C${text([px, py + bend, x, y - bend, x, y])}`;
    }, "");
  }

  function update() {
    findShown();
    findEdges();
    findLegs();
    const all = arrange(0);
    places.clear();
    settle(all, margin, margin);
    return {places, edges, w: all.w + 2 * margin, h: all.h + 2 * margin};
  }
  const shownBy = op => shown[groups + op], opOf = box => box - groups;
  return {inside, isGroup, outer, opOf, depthOf, label, summary, describe, contentOf, open, openBox, shownBy, update,
          pathOf, head};
}
)js";

} // namespace weft::report::detail
