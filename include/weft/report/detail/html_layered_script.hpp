// SPDX-License-Identifier: BSL-1.0
/// The script that lays out boxes and the lines between them.
#pragma once

#include "weft/core/config.hpp"

#include <string_view>

namespace weft::report::detail {

/// Puts boxes into rows from top to bottom, after Sugiyama, Tagawa and Toda (1981).
inline constexpr std::string_view html_layered_script = R"js(
// Moves items, given from left to right, to where the squares of the distances to `wanted` are smallest in sum among
// all places in which they do not overlap (pool adjacent violators).
function spread(items, gap) {
  const blocks = [];
  let offset = 0;
  items.forEach((item, i) => {
    if (i) offset += (items[i - 1].w + item.w) / 2 + gap;
    item.offset = offset;
    let block = {sum: item.wanted - offset, size: 1};
    while (blocks.length && blocks.at(-1).sum / blocks.at(-1).size >= block.sum / block.size) {
      const left = blocks.pop();
      block = {sum: left.sum + block.sum, size: left.size + block.size};
    }
    blocks.push(block);
  });
  let i = 0;
  for (const {sum, size} of blocks) for (let k = 0; k < size; ++k, ++i) items[i].mid = sum / size + items[i].offset;
}

// The order in which the least leads backwards: by turns what needs nothing of the others, what nothing else needs, and
// what gives the most more than it takes (Eades, Lin, Smyth 1993). Of equals, the first. Edges are [from, to, weight].
function forwards(n, edges) {
  const gives = new Float64Array(n), takes = new Float64Array(n), left = new Set(Array(n).keys()), head = [], tail = [];
  for (const [a, b, weight] of edges) {
    gives[a] += weight;
    takes[b] += weight;
  }
  while (left.size) {
    const rest = [...left], last = rest.findLast(i => !gives[i]);
    const next = rest.find(i => !takes[i]) ?? last ??
      rest.reduce((a, b) => gives[b] - takes[b] > gives[a] - takes[a] ? b : a);
    (next === last && takes[next] ? tail : head).push(next);
    left.delete(next);
    for (const [a, b, weight] of edges) {
      if (a === next) takes[b] -= weight;
      if (b === next) gives[a] -= weight;
    }
  }
  return [...head, ...tail.reverse()];
}

// Sets `x` and `y` of boxes of given `w` and `h`; an edge [from, to] leads downwards if `from` comes first in the list.
// Boxes with `port` -1 or 1 are above or below all others. Returns the size of all, and for each edge the points that
// lead it past the rows between its ends, from top to bottom.
function layered(boxes, edges, {perRow = 7, gapX = 18, gapY = 44} = {}) {
  const rows = [], ends = edges.map(([a, b]) => a < b ? [a, b] : [b, a]);
  const above = boxes.map(() => []), below = boxes.map(() => []);
  for (const [a, b] of ends) if (!boxes[a].port && !boxes[b].port) {
    above[b].push(a);
    below[a].push(b);
  }
  const free = r => (rows[r] ??= []).length < perRow, put = (i, r) => rows[boxes[i].row = r].push(i);
  boxes.forEach((box, i) => {
    if (box.port) return;
    let r = above[i].reduce((most, a) => Math.max(most, boxes[a].row + 1), 0);
    while (!free(r)) ++r;
    put(i, r);
  });
  boxes.forEach((box, i) => { // what needs nothing goes right above what needs it
    const first = below[i].reduce((least, b) => Math.min(least, boxes[b].row), Infinity);
    if (above[i].length || first === Infinity) return;
    let r = first - 1;
    while (r > box.row && !free(r)) --r;
    if (r <= box.row) return;
    rows[box.row].splice(rows[box.row].indexOf(i), 1);
    put(i, r);
  });
  const port = side => boxes.filter(box => box.port === side);
  const lines = [port(-1), ...rows.map(row => row.map(i => boxes[i])), port(1)].filter(row => row.length);
  lines.forEach((row, r) => row.forEach(box => Object.assign(box, {row: r, up: [], down: []})));
  // Edges that skip rows get a narrow place in each of them. Those from one box share it, or those to one.
  const join = (a, b) => {
    a.down.push(b);
    b.up.push(a);
  };
  const leaves = boxes.map(() => 0), enters = boxes.map(() => 0), lanes = [boxes.map(() => []), boxes.map(() => [])];
  const skips = ([a, b]) => boxes[b].row > boxes[a].row + 1;
  for (const [a, b] of ends.filter(skips)) {
    ++leaves[a];
    ++enters[b];
  }
  const place = (lane, r, link) => {
    if (!lane[r]) {
      lines[r].push(lane[r] = {w: 6, h: 0, up: [], down: []});
      link(lane[r]);
    }
    return lane[r];
  };
  const bends = ends.map(([a, b]) => {
    let from = boxes[a], to = boxes[b];
    const chain = [], first = from.row + 1, last = to.row - 1;
    if (leaves[a] >= enters[b])
      for (let r = first; r <= last; ++r) chain.push(from = place(lanes[0][a], r, one => join(from, one)));
    else for (let r = last; r >= first; --r) chain.unshift(to = place(lanes[1][b], r, one => join(one, to)));
    join(from, to);
    return chain;
  });
  lines.forEach(row => row.forEach((item, i) => { item.wanted = item.mid = (i - row.length / 2) * 60; }));
  // By turns towards what is above and what is below: first to find an order without many crossings, then, in this
  // order, to get straight lanes, and boxes that follow each other in line.
  for (let sweep = 0; sweep < 18; ++sweep) {
    const forward = sweep % 2 === 0, ordering = sweep < 10;
    for (const row of forward ? lines : [...lines].reverse()) {
      for (const item of row) {
        const alike = list => ordering ? list : list.filter(other => !other.h === !item.h);
        const [first, second] = forward ? [item.up, item.down] : [item.down, item.up];
        const near = [alike(first), alike(second), first, second].find(list => list.length) ?? [item];
        item.wanted = near.reduce((sum, other) => sum + other.mid, 0) / near.length;
      }
      if (ordering) row.sort((a, b) => a.wanted - b.wanted);
      spread(row, gapX);
    }
  }
  let left = Infinity, right = -Infinity, y = 0;
  for (const row of lines) {
    const tall = Math.max(...row.map(item => item.h));
    for (const item of row) {
      [item.x, item.y] = [item.mid - item.w / 2, y];
      [item.top, item.bottom] = [y, y + tall];
      [left, right] = [Math.min(left, item.x), Math.max(right, item.x + item.w)];
    }
    y += tall + (tall ? gapY : gapY / 3);
  }
  for (const row of lines) for (const item of row) item.x -= left;
  return {w: right - left, h: Math.max(...lines.at(-1).map(item => item.bottom)),
          bends: bends.map((chain, i) => [boxes[ends[i][0]], ...chain].flatMap((item, k) => {
            const x = item.x + item.w / 2;
            return k ? [[x, item.top], [x, item.bottom]] : item.y + item.h < item.bottom ? [[x, item.bottom]] : [];
          }))};
}
)js";

} // namespace weft::report::detail
