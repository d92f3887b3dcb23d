// SPDX-License-Identifier: BSL-1.0
/// The script of the report of one placed model: memory over time, the graph, the heat map of traffic.
#pragma once

#include "weft/core/config.hpp"

#include <string_view>

namespace weft::report::detail {

/// Uses the functions of `html_chart_script`; the window of time is the one of the Gantt chart.
inline constexpr std::string_view html_memory_script = R"js(
function drawMemory(element, run, view) {
  const frame = element.closest("section"), tools = frame.querySelector(".tools");
  const curves = data.memory.map(one => ({...one, time: column(one.time).map(t => t * run.scale), bytes: column(one.bytes)}));
  const tops = curves.map(one => one.bytes.reduce((a, b) => Math.max(a, b), 0)), most = Math.max(1, ...tops);
  const limited = one => one.capacity !== null;
  let toCapacity = curves.some((one, d) => limited(one) && tops[d] > .2 * one.capacity), at = null, pointer = null;
  const rows = Math.min(curves.length, maxRows), band = curves.length <= 4 ? 84 : curves.length <= 12 ? 60 : 30;
  const head = band > 40 ? 16 : 3; // a line of text above the curve

  // Up to which level a row shows.
  const roof = (one, d) => toCapacity && limited(one) ? Math.max(one.capacity, tops[d]) * 1.02 : most;
  const level = (one, t) => {
    let low = 0, high = one.time.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (one.time[middle] <= t) low = middle + 1; else high = middle;
    }
    return low - 1;
  };
  const chart = canvasIn(element, () => rows * band + 4 + axisHeight, (pen, width) => {
    const gutter = gutterFor(pen, run.devices, width), area = {x: gutter, y: 4, width: Math.max(40, width - gutter - 46), height: rows * band};
    at = {area, x: t => area.x + (t - view.from) / (view.to - view.from) * area.width};
    pen.fillStyle = theme.raised;
    for (let d = 0; d < rows; d += 2) pen.fillRect(0, area.y + d * band, width, band);
    paintTimeAxis(pen, view, run.unit, area, area.y + area.height);
    for (let d = 0; d < rows; ++d) paintCurve(pen, curves[d], d, area, width);
    if (pointer !== null && pointer >= area.x && pointer <= area.x + area.width) {
      pen.fillStyle = theme.soft;
      pen.fillRect(pointer, area.y, 1, area.height);
    }
  });
  view.charts.push(chart.later);

  function paintCurve(pen, one, d, area, width) {
    const bottom = area.y + (d + 1) * band - 5, tall = band - 5 - head, top = roof(one, d), y = bytes => bottom - bytes / top * tall;
    const colour = deviceColour(d), right = area.x + area.width;
    const over = limited(one) && tops[d] > one.capacity;
    pen.beginPath();
    pen.moveTo(area.x, bottom);
    // Within a pixel, from the lowest to the highest level.
    let k = Math.max(0, level(one, view.from)), x = area.x;
    let before = y(one.bytes[k] ?? 0);
    pen.lineTo(x, before);
    for (++k; k < one.time.length && one.time[k] <= view.to; ++k) {
      const next = at.x(one.time[k]);
      if (next > x + .4) pen.lineTo(x = next, before);
      before = y(one.bytes[k]);
      pen.lineTo(x, before);
    }
    pen.lineTo(right, before);
    pen.lineTo(right, bottom);
    pen.closePath();
    pen.globalAlpha = .32;
    pen.fillStyle = colour;
    pen.fill();
    pen.globalAlpha = 1;
    pen.strokeStyle = colour;
    pen.lineWidth = 1.2;
    pen.stroke();
    pen.fillStyle = theme.rule;
    pen.fillRect(area.x, bottom, area.width, 1);
    pen.font = fontOf(12);
    pen.textAlign = "left";
    pen.fillStyle = theme.ink;
    pen.fillText(fitted(pen, run.devices[d], area.x - 10), 2, bottom - tall / 2);
    pen.font = fontOf(11);
    pen.textAlign = "right";
    pen.fillStyle = over ? theme.warn : theme.soft;
    if (limited(one) && one.capacity > 0) pen.fillText(`${decimal(tops[d] / one.capacity * 100, tops[d] < .1 * one.capacity ? 1 : 0)} %`, width - 4, bottom - tall / 2);
    if (limited(one) && one.capacity <= top) {
      pen.fillStyle = theme.bound;
      for (let x = area.x; x < right; x += 8) pen.fillRect(x, y(one.capacity) - .75, Math.min(5, right - x), 1.5);
    }
    if (band < 40) return;
    pen.fillStyle = over ? theme.warn : theme.soft;
    pen.textAlign = "left";
    pen.fillText(`peak ${amount(tops[d])}${limited(one) ? ` of ${amount(one.capacity)}` : ""}`, area.x + 4, bottom - tall - 8);
  }

  const control = controlTime(element, view, () => at.area);
  element.addEventListener("pointermove", event => {
    if (control.dragging()) return;
    pointer = event.clientX - element.getBoundingClientRect().left;
    chart.later();
    const t = control.timeAt(pointer), row = Math.floor((event.clientY - element.getBoundingClientRect().top - at.area.y) / band);
    const one = curves[row];
    if (!one || t < 0 || t > run.end || pointer < at.area.x || pointer > at.area.x + at.area.width) return hideTip();
    showTip([run.devices[row], `${amount(one.bytes[Math.max(0, level(one, t))] ?? 0)} at ${six(t)} ${run.unit}`,
             `peak ${amount(tops[row])}`, ...(limited(one) ? [`capacity ${amount(one.capacity)}`] : [])], event.clientX, event.clientY);
  });
  element.addEventListener("pointerleave", () => {
    pointer = null;
    chart.later();
    hideTip();
  });
  if (curves.some(limited)) {
    const toggle = button("Scale to capacity", "Show how full each device is", () => {
      toCapacity = !toCapacity;
      toggle.setAttribute("aria-pressed", toCapacity);
      chart.later();
    });
    toggle.setAttribute("aria-pressed", toCapacity);
    tools.replaceChildren(toggle);
    tools.hidden = false;
  }
}

// Bytes from row to column, as colours; for more devices than a table can show.
function drawTraffic(element, run) {
  const cells = column(data.traffic), n = run.devices.length, most = Math.max(1, ...cells);
  let size = 1, left = 0;
  const chart = canvasIn(element, () => Math.min(560, element.clientWidth) + 24, (pen, width) => {
    left = gutterFor(pen, run.devices, width);
    size = Math.min(width - left - 4, 560) / n;
    pen.font = fontOf(12);
    pen.fillStyle = theme.soft;
    pen.textAlign = "left";
    pen.fillText("from ↓ to →", 2, 9);
    for (let i = 0; i < n; ++i) {
      if (size > 13 || i % Math.ceil(14 / size) === 0) {
        pen.textAlign = "left";
        pen.fillStyle = theme.soft;
        pen.fillText(fitted(pen, run.devices[i], left - 10), 2, 20 + (i + .5) * size);
      }
      for (let k = 0; k < n; ++k) {
        const share = cells[i * n + k] / most;
        pen.globalAlpha = 1;
        pen.fillStyle = i === k ? theme.grid : theme.raised;
        pen.fillRect(left + k * size, 20 + i * size, size - .5, size - .5);
        if (!share) continue;
        pen.globalAlpha = .15 + .85 * share;
        pen.fillStyle = theme.accent;
        pen.fillRect(left + k * size, 20 + i * size, size - .5, size - .5);
      }
    }
    pen.globalAlpha = 1;
  });
  element.addEventListener("pointermove", event => {
    const box = element.getBoundingClientRect();
    const k = Math.floor((event.clientX - box.left - left) / size), i = Math.floor((event.clientY - box.top - 20) / size);
    if (k < 0 || i < 0 || k >= n || i >= n) return hideTip();
    showTip([`${run.devices[i]} → ${run.devices[k]}`, amount(cells[i * n + k])], event.clientX, event.clientY);
  });
  element.addEventListener("pointerleave", hideTip);
  return chart;
}
)js";

inline constexpr std::string_view html_graph_script = R"js(
// What the colours of a graph stand for, of the devices that are used.
const deviceKeys = (run, used) => run.devices.flatMap((name, d) => used.has(d) ? [make("span", {className: "key"},
  Object.assign(make("i"), {style: `background: ${deviceColour(d)}`}), name.slice(0, 40))] : []).slice(0, 40);

function drawGraph(element, run, onSelect) {
  const json = data.graph, [x, y, from, to] = ["layer", "place", "from", "to"].map(key => column(json[key]));
  const device = run.opDevice;
  const frame = element.closest("section"), tools = frame.querySelector(".tools"), legend = frame.querySelector(".legend");
  const n = run.n, wide = json.layers;
  const low = y.reduce((a, b) => Math.min(a, b), 0), tall = y.reduce((a, b) => Math.max(a, b), 0) - low + 1;
  const colour = i => device[i] < run.devices.length ? deviceColour(device[i]) : theme.ghost;
  // Lines across the whole picture would hide all others.
  const long = Uint8Array.from(from, (u, e) => x[to[e]] - x[u] > 12);
  const onPath = new Uint8Array(n), pathEdges = new Set();
  let before = -1, shownPath = false, selected = -1, hovered = -1, at = null, largest = 1;
  for (const step of run.path?.steps ?? []) {
    if (step.item < 0 || step.item >= run.n) continue;
    onPath[step.item] = 1;
    if (before >= 0) pathEdges.add(before * n + step.item);
    before = step.item;
  }
  // The part of the graph in view: its middle, in layers and places, and how much it is magnified.
  const view = {x: wide / 2, y: low + tall / 2 - .5, zoom: 1};
  const show = (nx, ny, zoom) => {
    view.zoom = Math.min(Math.max(zoom, 1), largest);
    view.x = Math.min(Math.max(nx, 0), wide);
    view.y = Math.min(Math.max(ny, low - .5), low + tall);
    hideTip();
    chart.later();
  };
  const fit = () => show(wide / 2, low + tall / 2 - .5, 1);

  const chart = canvasIn(element, () => Math.min(520, Math.max(160, tall * 34 + 20)), (pen, width, height) => {
    const fitX = width / wide, fitY = (height - 12) / tall;
    // Beyond the size at which names are legible, magnifying would only add empty space.
    largest = Math.max(1, 230 / fitX, 34 / fitY);
    const sx = Math.min(fitX * view.zoom, Math.max(fitX, 230)), sy = Math.min(fitY * view.zoom, Math.max(fitY, 34));
    const w = Math.min(sx * .68, 170), h = Math.max(1.5, Math.min(sy * .66, 22));
    at = {sx, sy, w, h, px: i => width / 2 + (x[i] + .5 - view.x) * sx, py: i => height / 2 + (y[i] - view.y) * sy};
    const seen = i => at.px(i) > -w && at.px(i) < width + w && at.py(i) > -h && at.py(i) < height + h;
    const edges = (style, line, alpha, test) => {
      pen.beginPath();
      for (let e = 0; e < from.length; ++e) {
        const u = from[e], v = to[e];
        if (!test(u, v, e)) continue;
        const x1 = at.px(u) + w / 2, y1 = at.py(u), x2 = at.px(v) - w / 2, y2 = at.py(v);
        if (Math.max(x1, x2) < 0 || Math.min(x1, x2) > width || Math.max(y1, y2) < 0 || Math.min(y1, y2) > height) continue;
        const bend = Math.max(6, Math.abs(x2 - x1) * .4);
        pen.moveTo(x1, y1);
        pen.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
      }
      pen.strokeStyle = style;
      pen.lineWidth = line;
      pen.globalAlpha = alpha;
      pen.stroke();
      pen.globalAlpha = 1;
    };
    // The more lines there are, the fainter they are.
    const dense = Math.max(.08, Math.min(.8, 500 / from.length)) * (shownPath ? .5 : 1), lit = selected >= 0 ? selected : hovered;
    for (const [line, alpha, far] of [[.7, dense, 1], [1.1, Math.min(.9, dense * 2.5 * Math.sqrt(view.zoom)), 0]]) {
      edges(theme.soft, line, alpha, (u, v, e) => long[e] === far && device[u] === device[v]);
      edges(theme.accent, line, alpha, (u, v, e) => long[e] === far && device[u] !== device[v]);
    }
    if (shownPath) edges(theme.path, 2.2, 1, (u, v) => pathEdges.has(u * n + v));
    if (lit >= 0) edges(theme.ink, 1.6, 1, (u, v) => u === lit || v === lit);
    pen.font = fontOf(11);
    pen.textAlign = "center";
    for (let i = 0; i < n; ++i) {
      if (!seen(i)) continue;
      const left = at.px(i) - w / 2, top = at.py(i) - h / 2;
      pen.globalAlpha = shownPath && !onPath[i] ? .3 : 1;
      pen.fillStyle = colour(i);
      pen.beginPath();
      if (w > 6 && h > 6) pen.roundRect(left, top, w, h, 3); else pen.rect(left, top, Math.max(w, 1.2), h);
      pen.fill();
      if (i === selected || i === hovered || shownPath && onPath[i] && w > 4) {
        pen.lineWidth = i === selected ? 2.5 : 1.5;
        pen.strokeStyle = i === selected || i === hovered ? theme.ink : theme.path;
        pen.stroke();
      }
      if (w > 44 && h > 11) {
        pen.fillStyle = inkOn(colour(i));
        const label = run.name(i), short = label.slice(label.lastIndexOf("/") + 1) || label;
        pen.fillText(fitted(pen, pen.measureText(label.slice(0, 100)).width < w - 8 ? label : short, w - 8), at.px(i), at.py(i) + .5);
      }
      pen.globalAlpha = 1;
    }
    element.dataset.zoom = view.zoom;
  });

  const place = event => {
    const box = element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  function hit(px, py) {
    let best = -1, least = Infinity;
    for (let i = 0; i < n; ++i) {
      const dx = Math.max(0, Math.abs(at.px(i) - px) - at.w / 2), dy = Math.max(0, Math.abs(at.py(i) - py) - at.h / 2);
      if (dx * dx + dy * dy < least) [best, least] = [i, dx * dx + dy * dy];
    }
    return least <= 16 ? best : -1;
  }
  let drag = null;
  element.addEventListener("pointerdown", event => {
    if (event.button || event.pointerType === "touch") return;
    drag = {x: event.clientX, y: event.clientY, moved: 0};
    element.setPointerCapture(event.pointerId);
  });
  element.addEventListener("pointermove", event => {
    if (drag) {
      const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
      drag = {x: event.clientX, y: event.clientY, moved: drag.moved + Math.abs(dx) + Math.abs(dy)};
      return show(view.x - dx / at.sx, view.y - dy / at.sy, view.zoom);
    }
    const i = hit(...place(event));
    if (i !== hovered) chart.later();
    hovered = i;
    if (i < 0) return hideTip();
    showTip(describeItem(run, i), event.clientX, event.clientY);
  });
  element.addEventListener("pointerup", event => {
    if (drag && drag.moved < 5) onSelect(hit(...place(event)));
    drag = null;
  });
  element.addEventListener("pointerleave", () => {
    hovered = -1;
    chart.later();
    hideTip();
  });
  element.addEventListener("wheel", event => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const [px, py] = place(event), factor = Math.exp(-Math.max(-60, Math.min(60, event.deltaY)) * .008);
    const before = {...at};
    show(view.x, view.y, view.zoom * factor);
    chart.draw(); // so that `at` is the new scale: what is under the pointer stays there
    show(view.x + (px - element.clientWidth / 2) * (1 / before.sx - 1 / at.sx),
         view.y + (py - element.clientHeight / 2) * (1 / before.sy - 1 / at.sy), view.zoom);
  }, {passive: false});
  element.addEventListener("dblclick", fit);
  const pan = (dx, dy) => show(view.x + dx * element.clientWidth / at.sx, view.y + dy * element.clientHeight / at.sy, view.zoom);
  const zoom = factor => show(view.x, view.y, view.zoom * factor);
  onKeys(element, {"+": () => zoom(1.5), "=": () => zoom(1.5), "-": () => zoom(1 / 1.5), "_": () => zoom(1 / 1.5), "0": fit, Home: fit,
                   ArrowLeft: () => pan(-.2, 0), ArrowRight: () => pan(.2, 0), ArrowUp: () => pan(0, -.2), ArrowDown: () => pan(0, .2)});
  tools.replaceChildren(make("span", {className: "group"}, button("+", "Zoom in", () => zoom(2)), button("−", "Zoom out", () => zoom(.5)),
    button("←", "To the left", () => pan(-.25, 0)), button("→", "To the right", () => pan(.25, 0)), button("Everything", "Show the whole graph", fit)));
  tools.hidden = false;
  legend.replaceChildren(...deviceKeys(run, new Set(device)));
  legend.hidden = false;
  return (op, path) => {
    selected = op;
    shownPath = path ?? shownPath;
    if (selected >= 0 && (at.px(selected) < 0 || at.px(selected) > element.clientWidth || at.py(selected) < 0 || at.py(selected) > element.clientHeight))
      show(x[selected] + .5, y[selected], view.zoom);
    chart.later();
  };
}
)js";

/// Puts everything to work.
inline constexpr std::string_view html_placement_start_script = R"js(
document.querySelectorAll("table.sortable").forEach(makeSortable);
const begun = performance.now();
const theRun = readRun(data.run), theView = timeView(theRun.end);
let inGraph = null;
const theGantt = drawTimeline(document.querySelector(".timeline"), theRun, theView, (op, path) => inGraph?.(op, path));
const drawn = (selector, action) => {
  const element = document.querySelector(selector);
  return element && whenNear(element, () => action(element));
};
drawn(".memory", element => drawMemory(element, theRun, theView));
drawn(".traffic-map", element => drawTraffic(element, theRun));
drawn(".graph", element => {
  inGraph = (data.graph.groups ? drawGroups : drawGraph)(element, theRun, op => theGantt.select(op, true));
});
document.querySelectorAll("button[data-op]").forEach(one => one.addEventListener("click", () => {
  theGantt.select(+one.dataset.op, true);
  document.querySelector(".timeline").closest("section").scrollIntoView({block: "start"});
}));
document.querySelectorAll("button[data-op]").forEach(one => { one.disabled = false; });
root.dataset.ready = performance.now() - begun; // milliseconds
)js";

} // namespace weft::report::detail
