// SPDX-License-Identifier: BSL-1.0
/// The Gantt chart of the HTML reports: interaction by pointer, keyboard, search and controls.
#pragma once

#include "weft/core/config.hpp"

#include <string_view>

namespace weft::report::detail {

/// Uses the functions of `html_chart_script`, `html_run_script` and `html_paint_script`. `drawTimeline` returns what
/// other charts need to show the same op: `select(op, reveal)`.
inline constexpr std::string_view html_gantt_script = R"js(
function drawTimeline(element, run, view, onSelect = () => {}) {
  const frame = element.closest("section"), json = run.json;
  const tools = frame.querySelector(".tools"), legend = frame.querySelector(".legend"), status = frame.querySelector(".found");
  const look = classesOf(run), shown = make("span", {className: "window"});
  let at = null, first = 0, onPath = false, selected = -1, hovered = -1;

  const chart = canvasIn(element, () => Math.min(run.devices.length, maxRows) * bandOf(run) + (json.bound ? 20 : 6) + axisHeight,
                         (pen, width) => {
    at = layoutOf(run, view, pen, width, first);
    const {area} = at, bottom = area.y + area.height;
    pen.font = fontOf(12);
    for (let d = first; d < first + at.rows; ++d) {
      const middle = area.y + (d - first + .5) * at.band;
      if ((d - first) % 2 === 0) {
        pen.fillStyle = theme.raised;
        pen.fillRect(0, middle - at.band / 2, width, at.band);
      }
      pen.fillStyle = theme.ink;
      pen.textAlign = "left";
      pen.font = fontOf(at.band < 20 ? 11 : 12);
      pen.fillText(fitted(pen, run.devices[d], area.x - 10), 2, middle);
      pen.fillStyle = theme.soft;
      pen.textAlign = "right";
      pen.fillText(`${Math.round(json.load[d] * 100)} %`, width - 4, middle);
    }
    paintTimeAxis(pen, view, run.unit, area, bottom);
    paintRun(pen, run, look, at, onPath, selected >= 0 ? selected : -1);
    if (hovered >= 0 && hovered !== selected) paintSelected(pen, run, at, hovered);
    paintBound(pen);
    if (run.devices.length > maxRows) { // which rows are in view
      pen.fillStyle = theme.rule;
      pen.fillRect(width - 3, area.y, 3, area.height);
      pen.fillStyle = theme.accent;
      pen.fillRect(width - 3, area.y + first / run.devices.length * area.height, 3, at.rows / run.devices.length * area.height);
    }
    shown.textContent = `${six(view.from)} to ${six(view.to)} ${run.unit}`;
    element.dataset.window = `${view.from / view.end} ${view.to / view.end}`;
  });
  view.charts.push(chart.later);

  function paintBound(pen) {
    const bound = json.bound * run.scale, x = at.x(bound), {area} = at;
    if (!json.bound || bound > run.end * (1 + 1e-9) || bound < at.from || bound > at.to) return;
    pen.fillStyle = theme.bound;
    for (let y = area.y - 6; y < area.y + area.height; y += 8) pen.fillRect(x - .75, y, 1.5, 5);
    pen.font = fontOf(11);
    const [scale, unit] = timeUnit(json.bound), text = `lower bound ${six(json.bound * scale)} ${unit}`, half = pen.measureText(text).width / 2;
    pen.textAlign = "center";
    pen.fillText(text, Math.min(Math.max(x, area.x + half), area.x + area.width - half), 8);
  }

  // What is under the pointer: an op or send, or a list of transfers.
  function hit(x, y) {
    const {area} = at, d = Math.floor((y - area.y) / at.band) + at.first;
    if (x < area.x || x > area.x + area.width || y < area.y || y > area.y + area.height || !run.lanes[d]) return null;
    const inside = y - at.top(d), t = control.timeAt(x), slack = 2.5 / at.scale, height = at.laneHeight(d);
    if (inside >= run.lanes[d].length * height) {
      const moves = run.arriving[d].filter(k => run.moveStart[k] <= t + slack && run.moveFinish[k] >= t - slack);
      return moves.length ? moves : null;
    }
    const list = run.lanes[d][Math.max(0, Math.floor(inside / height))], k = countUntil(list, run.start, t);
    const near = [list[k - 1], list[k]].filter(i => i !== undefined)
      .map(i => [Math.max(run.start[i] - t, t - run.finish[i], 0), i]).sort(([a], [b]) => a - b)[0];
    return near && near[0] <= slack ? near[1] : null;
  }
  const control = controlTime(element, view, () => at.area);
  const hover = i => {
    if (hovered !== i) chart.later();
    hovered = i;
  };
  const inside = event => [event.clientX - element.getBoundingClientRect().left, event.clientY - element.getBoundingClientRect().top];
  element.addEventListener("pointermove", event => {
    if (control.dragging()) return;
    const found = hit(...inside(event));
    hover(typeof found === "number" ? found : -1);
    if (found === null) hideTip(); else showTip(describeItem(run, found), event.clientX, event.clientY);
  });
  element.addEventListener("pointerleave", () => {
    hover(-1);
    hideTip();
  });
  let pressed = null;
  element.addEventListener("pointerdown", event => { pressed = [event.clientX, event.clientY]; });
  element.addEventListener("click", event => {
    if (!pressed || Math.hypot(event.clientX - pressed[0], event.clientY - pressed[1]) > 4) return;
    const found = hit(...inside(event));
    if (typeof found === "number" && found < run.n) select(found, false); else if (found === null) select(-1, false);
  });
  const scroll = rows => {
    first = Math.min(Math.max(0, first + rows), Math.max(0, run.devices.length - maxRows));
    chart.later();
  };
  if (run.devices.length > maxRows) onKeys(element, {ArrowUp: () => scroll(-8), ArrowDown: () => scroll(8)});
  onKeys(element, {"/": () => search.focus(), Escape: () => select(-1, false)});

  // Selects an op, or none; `reveal` moves the window to it.
  function select(i, reveal) {
    selected = i;
    if (i >= 0 && run.opDevice[i] < run.devices.length && reveal) {
      const length = run.finish[i] - run.start[i], middle = (run.start[i] + run.finish[i]) / 2;
      const span = Math.min(view.to - view.from, Math.max(length * 12, run.end * 1e-7));
      view.show(middle - span / 2, middle + span / 2);
      const d = run.opDevice[i];
      if (d < first || d >= first + maxRows) scroll(d - (maxRows >> 1) - first);
    }
    element.dataset.selected = i;
    status.textContent = i < 0 ? "" : describeItem(run, i).join(" · ");
    chart.later();
    onSelect(i);
  }

  const search = make("input", {type: "search", placeholder: "Find an op…", size: 18, autocomplete: "off", spellcheck: false});
  search.setAttribute("aria-label", "Find an op by a part of its name; Enter goes to the next");
  const matches = make("span", {className: "matches"});
  let found = [], which = 0;
  const goTo = k => {
    which = (k + found.length) % found.length;
    matches.textContent = `${which + 1} of ${found.length.toLocaleString("en")}`;
    select(found[which], true);
  };
  search.addEventListener("input", () => {
    const wanted = search.value.toLowerCase();
    found = [];
    if (wanted) for (let i = 0; i < run.n; ++i) if (run.name(i).toLowerCase().includes(wanted)) found.push(i);
    found.sort((a, b) => run.start[a] - run.start[b] || a - b);
    matches.textContent = wanted ? "none" : "";
    if (found.length) goTo(0); else select(-1, false);
  });
  search.addEventListener("keydown", event => {
    if (event.key === "Enter" && found.length) goTo(which + (event.shiftKey ? -1 : 1));
    if (event.key === "Escape") element.focus();
  });
  addEventListener("keydown", event => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName ?? "");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.defaultPrevented && frame === document.querySelector(".timeline").closest("section")) {
      event.preventDefault();
      search.focus();
      frame.scrollIntoView({block: "nearest"});
    }
  });

  legend.replaceChildren(...look.list.filter(one => !one.absent).map(one => {
    const swatch = make("i"), press = make("button", {type: "button"}, swatch, one.label.slice(0, 60));
    press.setAttribute("aria-pressed", true);
    if (one.note) press.append(make("span", {textContent: one.note}));
    const paint = () => { swatch.style.background = one.colour(); };
    paint();
    redraw.push(paint);
    press.addEventListener("click", () => {
      one.on = !one.on;
      press.setAttribute("aria-pressed", one.on);
      chart.later();
    });
    return press;
  }));
  legend.hidden = false;
  const group = (...children) => make("span", {className: "group"}, ...children);
  tools.replaceChildren(group(button("+", "Zoom in", () => view.zoom(.5)), button("−", "Zoom out", () => view.zoom(2)),
                              button("←", "Earlier", () => view.pan(-.25)), button("→", "Later", () => view.pan(.25)),
                              button("Everything", "Show the whole run", view.all)));
  if (run.path) {
    const toggle = button("Critical path", "Show what made the run end when it did", () => {
      onPath = !onPath;
      toggle.setAttribute("aria-pressed", onPath);
      chart.later();
      onSelect(selected, onPath);
    });
    toggle.setAttribute("aria-pressed", false);
    toggle.className = "toggle path";
    tools.append(toggle);
  }
  tools.append(group(search, matches), shown);
  tools.hidden = false;
  frame.querySelector(".help").hidden = false;
  return {select};
}
)js";

} // namespace weft::report::detail
