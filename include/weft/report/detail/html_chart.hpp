// SPDX-License-Identifier: BSL-1.0
/// The script that all charts over time share: canvas, time window, axis, controls.
#pragma once

#include "weft/core/config.hpp"

#include <string_view>

namespace weft::report::detail {

/// Uses the functions of `html_base_script`.
inline constexpr std::string_view html_chart_script = R"js(
// A canvas that fills its element, painted anew when its size, its data or the theme change.
function canvasIn(element, height, paint) {
  const canvas = make("canvas"), pen = canvas.getContext("2d");
  let asked = 0;
  const draw = () => {
    asked = 0;
    const ratio = Math.min(devicePixelRatio || 1, 3), width = element.clientWidth, tall = height();
    if (!width) return;
    canvas.style.height = tall + "px";
    [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(tall * ratio)]; // clears it, too
    pen.scale(ratio, ratio);
    pen.textBaseline = "middle";
    paint(pen, width, tall);
  };
  const later = () => { asked ||= requestAnimationFrame(draw); };
  element.replaceChildren(canvas);
  redraw.push(draw);
  new ResizeObserver(later).observe(element);
  draw();
  return {draw, later};
}
const fontOf = size => `${size}px ${font}`;

// Calls an action once the element comes near the screen, or the page is printed.
function whenNear(element, action) {
  const near = new IntersectionObserver(entries => { if (entries.some(entry => entry.isIntersecting)) once(); },
                                        {rootMargin: "400px"});
  let done = false;
  function once() {
    if (done) return;
    done = true;
    near.disconnect();
    action();
  }
  element.append(make("div")); // an empty frame takes no space, and is near to nothing
  near.observe(element);
  addEventListener("beforeprint", once);
  return once;
}

// As much of a text as fits, cut in the middle, since the ends of names tell more.
function fitted(pen, text, width) {
  if (text.length > 400) text = text.slice(0, 200) + "…" + text.slice(-200);
  if (pen.measureText(text).width <= width) return text;
  let low = 0, high = text.length;
  const cut = n => text.slice(0, Math.ceil(n / 2)) + "…" + text.slice(text.length - Math.floor(n / 2));
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pen.measureText(cut(middle)).width <= width) low = middle; else high = middle - 1;
  }
  return low < 2 ? "" : cut(low);
}

// The window of time that charts show together, in units of the run.
function timeView(end) {
  const view = {from: 0, to: end, end, charts: []};
  view.show = (from, to) => {
    const span = Math.min(Math.max(to - from, end * 1e-8), end);
    view.from = Math.min(Math.max(from, 0), end - span);
    view.to = view.from + span;
    hideTip();
    view.charts.forEach(draw => draw());
  };
  view.zoom = (factor, centre = (view.from + view.to) / 2) =>
    view.show(centre - (centre - view.from) * factor, centre + (view.to - centre) * factor);
  view.pan = share => {
    const span = view.to - view.from;
    view.show(view.from + share * span, view.to + share * span);
  };
  view.all = () => view.show(0, end);
  return view;
}

// Drag, wheel, pinch, double-click and keys on a chart; `area()` is where its window of time is, in pixels.
function controlTime(element, view, area) {
  const timeAt = x => view.from + (x - area().x) / area().width * (view.to - view.from);
  const inside = event => event.clientX - element.getBoundingClientRect().left;
  const pointers = new Map();
  element.addEventListener("pointerdown", event => {
    if (event.button) return;
    pointers.set(event.pointerId, event.clientX);
    if (event.pointerType !== "touch") element.setPointerCapture(event.pointerId);
  });
  element.addEventListener("pointermove", event => {
    if (!pointers.has(event.pointerId)) return;
    const before = [...pointers.values()], moved = event.clientX - pointers.get(event.pointerId);
    pointers.set(event.pointerId, event.clientX);
    const after = [...pointers.values()];
    if (after.length === 1) {
      if (moved) view.pan(-moved / area().width);
    } else if (Math.abs(after[0] - after[1]) > 4) {
      const left = element.getBoundingClientRect().left;
      view.zoom(Math.abs(before[0] - before[1]) / Math.abs(after[0] - after[1]), timeAt((after[0] + after[1]) / 2 - left));
    }
  });
  for (const name of ["pointerup", "pointercancel", "lostpointercapture"])
    element.addEventListener(name, event => pointers.delete(event.pointerId));
  element.addEventListener("wheel", event => {
    const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    if (event.ctrlKey || event.metaKey) view.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * .008), timeAt(inside(event)));
    else if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) view.pan(sideways / area().width);
    else return;
    event.preventDefault();
  }, {passive: false});
  element.addEventListener("dblclick", () => view.all());
  onKeys(element, {"+": () => view.zoom(.6), "=": () => view.zoom(.6), "-": () => view.zoom(1 / .6), "_": () => view.zoom(1 / .6),
                   "0": view.all, Home: view.all, ArrowLeft: () => view.pan(-.2), ArrowRight: () => view.pan(.2)});
  return {dragging: () => pointers.size > 0, timeAt};
}
function onKeys(element, keys) {
  element.addEventListener("keydown", event => {
    if (event.target === element && keys[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      keys[event.key]();
    }
  });
}

// Times at round numbers, their grid lines, and a strip that shows which part of the run is in view.
function paintTimeAxis(pen, view, unit, area, bottom) {
  const span = view.to - view.from, x = t => area.x + (t - view.from) / span * area.width;
  const rough = span / Math.max(2, area.width / 90), base = 10 ** Math.floor(Math.log10(rough));
  const step = base * [1, 2, 5, 10].find(f => f * base >= rough);
  const decimals = Math.max(0, Math.min(12, -Math.floor(Math.log10(step) + 1e-9)));
  pen.font = fontOf(11);
  pen.textAlign = "center";
  for (let i = Math.ceil(view.from / step - 1e-9); i * step <= view.to * (1 + 1e-12); ++i) {
    const text = `${(i * step).toFixed(decimals)} ${unit}`, half = pen.measureText(text).width / 2;
    pen.fillStyle = theme.grid;
    pen.fillRect(Math.round(x(i * step)), area.y, 1, bottom - area.y);
    pen.fillStyle = theme.soft;
    const middle = Math.min(Math.max(x(i * step), area.x + half - 2), area.x + area.width - half + 2);
    if (Math.abs(middle - x(i * step)) < half + 3) pen.fillText(text, middle, bottom + 12);
  }
  pen.fillStyle = theme.rule;
  pen.fillRect(area.x, bottom, area.width, 1);
  if (span < view.end * (1 - 1e-9)) {
    pen.fillStyle = theme.grid;
    pen.fillRect(area.x, bottom + 24, area.width, 5);
    pen.fillStyle = theme.accent;
    const width = Math.max(3, span / view.end * area.width);
    pen.fillRect(area.x + Math.min(view.from / view.end * area.width, area.width - width), bottom + 24, width, 5);
  }
}
const axisHeight = 32;

// How wide the names at the left are, at most.
function gutterFor(pen, labels, width) {
  pen.font = fontOf(12);
  const most = Math.min(150, width * .22);
  return Math.min(most, Math.max(24, ...labels.map(label => pen.measureText(label.slice(0, 60)).width))) + 10;
}

const button = (text, help, action) => {
  const one = make("button", {type: "button", textContent: text, title: help});
  one.setAttribute("aria-label", help);
  one.addEventListener("click", action);
  return one;
};
)js";

} // namespace weft::report::detail
