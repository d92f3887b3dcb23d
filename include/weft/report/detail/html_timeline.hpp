// SPDX-License-Identifier: BSL-1.0
/// The Gantt chart of the HTML report: drawing it, and what it does with pointer, keyboard and controls.
#pragma once

#include <string_view>

namespace weft::report::detail {

/// Uses the functions of `html_script` and `html_gantt_script`.
inline constexpr std::string_view html_timeline_script = R"js(
function registerTimelineShapes() {
  const shape = (name, buildPath) => {
    if (!echarts.graphic.getShapeClass(name))
      echarts.graphic.registerShape(name, echarts.graphic.extendShape({shape: {points: []}, buildPath}));
  };
  shape("weftBars", (path, {points}) => {
    for (let i = 0; i < points.length; i += 4) path.rect(points[i], points[i + 1], points[i + 2], points[i + 3]);
  });
  shape("weftLinks", (path, {points}) => {
    for (let i = 0; i < points.length; i += 4) {
      const [x1, y1, x2, y2] = points.slice(i, i + 4), bend = Math.max(12, (x2 - x1) / 3);
      path.moveTo(x1, y1);
      path.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
    }
  });
}

function drawTimeline(element, run) {
  registerTimelineShapes();
  const model = timelineModel(run), {unit, end} = model;
  const frame = element.closest("section");
  const tools = frame.querySelector(".tools"), legend = frame.querySelector(".legend");
  let look = timelineClasses(model, true);
  let at = null, painted = null; // layout and bars of the last drawing
  const chart = echarts.init(element), zr = chart.getZr();
  const time = t => `${six(t)} ${unit}`;
  const shownWindow = document.createElement("span");
  shownWindow.className = "window";

  function renderItem(params, api) {
    const kind = api.value(2);
    if (kind === 0) { // the first item of each drawing
      const [a, first] = api.coord([0, 0]), area = params.coordSys;
      at = timelineLayout(model, {x: area.x, y: area.y, width: area.width, height: area.height}, a,
                          api.coord([1, 0])[0] - a, first, api.size([0, 1])[1]);
      painted = timelineBars(model, look, at);
      shownWindow.textContent = `${six(Math.max(0, at.from))} to ${time(Math.min(end, at.to))}`;
    }
    if (kind < look.classes.length)
      return {type: "weftBars", silent: true, z2: kind, shape: {points: painted.bars[kind]},
              style: {fill: look.classes[kind].colour()}};
    return {type: "group", silent: true, children: painted.labels.map(([item, cls, x, y, width]) => {
      const name = model.name(item.id), fits = Math.floor((width - 8) / 5.6);
      return {type: "text", z2: 99, silent: true, style: {
        text: name.length <= fits ? name : name.replace(/^.*\//, ""), x: x + 4, y, width: width - 7,
        overflow: "truncate", ellipsis: "…", verticalAlign: "middle", fontSize: 10, fontFamily: font,
        fill: inkOn(look.classes[cls].colour())}};
    })};
  }

  const mark = (value, label, colour, position) => ({xAxis: value, lineStyle: {color: colour, type: [5, 4], width: 1.5},
    label: {formatter: label, color: colour, position: "start", align: position, distance: 4, fontSize: 11}});
  function draw() {
    clear();
    const bound = run.bound !== null && run.bound <= run.makespan * (1 + 1e-9);
    const crowded = bound && run.bound > .75 * run.makespan;
    const axis = {type: "category", inverse: true, data: run.devices, axisTick: {show: false},
                  axisLine: {lineStyle: {color: theme.rule}}};
    const scrolls = run.devices.length > maxRows;
    const slider = {borderColor: theme.rule, fillerColor: theme.accent + "2a", backgroundColor: "transparent"};
    chart.setOption({
      animation: false, textStyle: {fontFamily: font}, backgroundColor: "transparent",
      grid: {left: 4, right: scrolls ? 26 : 4, top: 22, bottom: 34, containLabel: true},
      xAxis: {type: "value", min: 0, max: end, name: "", axisLine: {show: true, lineStyle: {color: theme.rule}},
              axisTick: {show: true, lineStyle: {color: theme.rule}}, splitLine: {lineStyle: {color: theme.grid}},
              // The ends of the window are labelled only where they are round numbers, as the other ticks are.
              axisLabel: {color: theme.soft, hideOverlap: true, formatter: value => {
                const text = String(+value.toPrecision(11));
                return text.replace(/^0?\.0*|\D/g, "").length > 8 ? "" : `${text} ${unit}`;
              }}},
      yAxis: [{...axis, axisLabel: {color: theme.ink, interval: 0, fontSize: 11, width: 160, overflow: "truncate"},
               splitLine: {show: true, interval: 0, lineStyle: {color: theme.grid}}},
              {...axis, position: "right", data: run.load.map(load => `${Math.round(load * 100)} %`),
               axisLabel: {color: theme.soft, interval: 0, fontSize: 11}, axisPointer: {show: false}}],
      dataZoom: [
        {type: "inside", xAxisIndex: 0, filterMode: "none", zoomOnMouseWheel: "ctrl", moveOnMouseWheel: "shift",
         minValueSpan: end * 1e-6},
        {type: "slider", xAxisIndex: 0, filterMode: "none", height: 16, bottom: 6, showDataShadow: false,
         ...slider, moveHandleSize: 0, textStyle: {color: theme.soft}, labelFormatter: value => time(value),
         handleStyle: {color: theme.paper, borderColor: theme.accent},
         emphasis: {handleStyle: {borderColor: theme.accent}}, minValueSpan: end * 1e-6},
        ...(scrolls ? [{type: "slider", yAxisIndex: [0, 1], filterMode: "none", width: 14, right: 4, startValue: 0,
                        endValue: maxRows - 1, zoomLock: true, brushSelect: false, showDetail: false,
                        showDataShadow: false, ...slider}] : [])],
      series: [{type: "custom", renderItem, clip: true, encode: {x: 0, y: 1},
        data: Array.from({length: look.classes.length + 1}, (_, kind) => [0, 0, kind]),
        markLine: {silent: true, symbol: "none", animation: false, data: [
          ...(bound ? [mark(run.bound / run.makespan * end, `lower bound ${time(run.bound * model.scale)}`, theme.bound,
                            crowded ? "right" : "center")] : [])]}}],
    }, {replaceMerge: ["series", "dataZoom"]});
  }

  // The hovered bar gets an outline, and its tensors lines to where they arrive.
  const overlay = new echarts.graphic.Group({silent: true});
  zr.add(overlay);
  let hovered = null;
  function clear() {
    overlay.removeAll();
    hovered = null;
    element.style.cursor = "";
    hideTip();
  }
  function link(transfer) {
    const middle = device => at.first + device * at.band;
    return [at.x(transfer.leave), middle(transfer.from), at.x(transfer.finish), middle(transfer.to) + at.band * .4];
  }
  function highlight({items, y, height}) {
    overlay.removeAll();
    const {area} = at, left = Math.max(area.x, Math.min(...items.map(item => at.x(item.start))));
    const right = Math.min(area.x + area.width, Math.max(...items.map(item => at.x(item.finish))));
    const [item] = items, sent = item.id !== undefined ? model.leaving.get(item.id) ?? []
      : item.transfer ? [item.transfer] : items;
    overlay.setClipPath(new echarts.graphic.Rect({shape: area}));
    overlay.add(new (echarts.graphic.getShapeClass("weftLinks"))({
      silent: true, z: 90, shape: {points: sent.flatMap(link)},
      style: {fill: "none", stroke: theme.ink, lineWidth: 1.2, opacity: .75}}));
    overlay.add(new echarts.graphic.Rect({
      silent: true, z: 91, shape: {x: left - .5, y: y - .5, width: right - left + 1, height},
      style: {fill: "none", stroke: theme.ink, lineWidth: 1.6}}));
  }
  function describe(items) {
    const [item] = items;
    const length = seconds => (([scale, symbol]) => `${six(seconds * scale)} ${symbol}`)(timeUnit(seconds));
    const span = one => `${six(one.start)} to ${time(one.finish)} (${length((one.finish - one.start) / model.scale)})`;
    const device = d => run.devices[d], several = items.length > 1;
    const size = one => one.bytes >= 0 ? `, ${amount(one.bytes)}` : "";
    if (item.transfer)
      return [`Send of ${model.name(item.transfer.op)}`,
              `${device(item.transfer.from)} → ${device(item.transfer.to)}${size(item.transfer)}`, span(item)];
    if (item.id === undefined)
      return [several ? `${items.length} transfers to ${device(item.to)}` : `Transfer of ${model.name(item.op)}`,
              ...items.slice(0, 6).map(one =>
                `${several ? model.name(one.op) + ": " : ""}from ${device(one.from)}${size(one)}, ${span(one)}`),
              ...(items.length > 6 ? ["…"] : [])];
    const sent = model.leaving.get(item.id)?.length ?? 0;
    return [model.name(item.id), ...(model.hasTypes ? [model.type(item.id)] : []),
            `op ${item.id} on ${device(item.device)}`, span(item),
            ...(sent ? [`sent to ${sent} other device${sent > 1 ? "s" : ""}`] : [])];
  }
  zr.on("mousemove", event => {
    const hit = at && !(event.event.buttons & 1) ? timelineHit(model, at, event.offsetX, event.offsetY) : null;
    if (!hit) {
      if (hovered) clear();
      return;
    }
    if (hovered !== hit.items[0]) highlight(hit);
    hovered = hit.items[0];
    element.style.cursor = "default";
    showTip(describe(hit.items), event.event.clientX, event.event.clientY);
  });
  zr.on("globalout", clear);
  chart.on("datazoom", clear);

  // Shows the window [from, to] of time, as far as there is any.
  function show(from, to) {
    const span = Math.min(to - from, end), start = Math.min(Math.max(from, 0), end - span);
    chart.dispatchAction({type: "dataZoom", dataZoomIndex: 0, startValue: start, endValue: start + span});
  }
  const zoom = factor => {
    const middle = (at.from + at.to) / 2, half = (at.to - at.from) / 2 * factor;
    show(middle - half, middle + half);
  };
  const pan = share => show(at.from + share * (at.to - at.from), at.to + share * (at.to - at.from));
  const keys = {"+": () => zoom(.6), "=": () => zoom(.6), "-": () => zoom(1 / .6), "0": () => show(0, end),
                Home: () => show(0, end), ArrowLeft: () => pan(-.2), ArrowRight: () => pan(.2)};
  element.addEventListener("keydown", event => {
    if (keys[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      keys[event.key]();
    }
  });
  element.addEventListener("dblclick", () => show(0, end));

  function drawLegend() {
    legend.replaceChildren(...look.classes.slice(0, -1).filter(one => one.label !== "transfers" && one.label !== "sends"
        || model.transfers.length).map(one => {
      const button = document.createElement("button"), swatch = document.createElement("i");
      button.type = "button";
      button.setAttribute("aria-pressed", one.on);
      swatch.style.background = one.colour();
      button.append(swatch, one.label);
      if (one.note) button.append(Object.assign(document.createElement("span"), {textContent: one.note}));
      button.addEventListener("click", () => {
        one.on = !one.on;
        button.setAttribute("aria-pressed", one.on);
        chart.setOption({series: [{renderItem: (params, api) => renderItem(params, api)}]}); // new, so it is called
      });
      return button;
    }));
    legend.hidden = false;
  }
  function drawTools() {
    const label = document.createElement("label"), select = document.createElement("select");
    for (const [value, text] of [["type", model.hasTypes ? "op type" : "name"], ["kind", "op, send, transfer"]])
      select.append(new Option(text, value));
    select.addEventListener("change", () => {
      look = timelineClasses(model, select.value === "type");
      drawLegend();
      const window = [at.from, at.to];
      draw();
      show(...window);
    });
    label.append("Colour by ", select);
    const button = (text, help, action) => {
      const one = Object.assign(document.createElement("button"), {type: "button", textContent: text, title: help});
      one.setAttribute("aria-label", help);
      one.addEventListener("click", action);
      return one;
    };
    tools.replaceChildren(label, button("+", "Zoom in", () => zoom(.5)), button("−", "Zoom out", () => zoom(2)),
                          button("←", "Earlier", () => pan(-.25)), button("→", "Later", () => pan(.25)),
                          button("Everything", "Show the whole run", () => show(0, end)), shownWindow);
    tools.hidden = false;
    frame.querySelector(".help").hidden = false;
  }
  drawTools();
  drawLegend();
  draw();
  redraw.push(() => {
    drawLegend();
    draw();
  });
  new ResizeObserver(() => {
    clear();
    chart.resize();
  }).observe(element);
}

// Black or white, whichever reads better on a colour of the palette.
function inkOn(colour) {
  const [r, g, b] = [1, 3, 5].map(i => parseInt(colour.slice(i, i + 2), 16));
  return .299 * r + .587 * g + .114 * b > 140 ? "#15181c" : "#fff";
}
)js";

} // namespace weft::report::detail
