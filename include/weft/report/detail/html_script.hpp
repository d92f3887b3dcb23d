// SPDX-License-Identifier: BSL-1.0
/// The script of the comparison report: bar charts and performance profiles.
#pragma once

#include "weft/core/config.hpp"

#include <string_view>

namespace weft::report::detail {

inline constexpr std::string_view html_bars_script = R"js(
// Bars grouped by partitioner, one colour per ready policy, whiskers from min to max, the lower bound as a line.
function drawBars(element, section) {
  const rows = section.rows.map(([partition, schedule, mean, min, max, runs, solved, reason]) =>
    ({partition, schedule, mean, min, max, runs, solved, reason}));
  const partitions = [...new Set(rows.map(row => row.partition))];      // best first, as the rows are
  const schedules = [...new Set(rows.map(row => row.schedule))].sort();
  const solved = rows.filter(row => row.solved);
  const [scale, unit] = unitFor(Math.min(...solved.map(row => row.min)), section.unit);
  const slots = partitions.map(p => schedules.filter(s => rows.some(r => r.partition === p && r.schedule === s)));
  const widest = Math.max(...slots.map(list => list.length));
  const chart = echarts.init(element);

  function renderItem(params, api) {
    const row = rows[api.value(3)], column = api.value(0), present = slots[column];
    const [centre, zero] = api.coord([column, 0]);
    const width = Math.min(api.size([1, 0])[0] * .82 / widest, 34);
    const x = centre + (present.indexOf(row.schedule) - present.length / 2) * width;
    const box = {x: x + 1, width: Math.max(width - 2, 1)}, middle = x + width / 2;
    const y = value => api.coord([column, value * scale])[1];
    if (!row.solved)
      return {type: "text", style: {text: "✕", x: middle, y: zero - 3, fill: theme.warn, align: "center",
                                    verticalAlign: "bottom", fontSize: 12}};
    const top = y(row.mean), bar = {type: "rect", shape: {...box, y: top, height: zero - top, r: [2, 2, 0, 0]},
                                    style: {fill: api.visual("color")}};
    const children = [bar];
    if (row.max > row.min) {
      const cap = Math.min(4, width / 3), high = y(row.max), low = y(row.min);
      const style = {stroke: theme.ink, lineWidth: 1.2};
      for (const [x1, y1, x2, y2] of [[middle, high, middle, low], [middle - cap, high, middle + cap, high],
                                      [middle - cap, low, middle + cap, low]])
        children.push({type: "line", shape: {x1, y1, x2, y2}, style, silent: true});
    }
    if (row.solved === row.runs && row.mean === rows[0].mean)
      children.push({type: "text", silent: true,
                     style: {text: "★", x: middle, y: y(row.max) - 3, fill: theme.ink, align: "center",
                             verticalAlign: "bottom", fontSize: 12}});
    return {type: "group", children};
  }

  function draw() {
    const narrow = element.clientWidth < 78 * partitions.length;
    const line = section.bound === null ? undefined : {
      silent: true, symbol: "none", animation: false, lineStyle: {color: theme.bound, type: [6, 4], width: 1.5},
      label: {position: "insideEndTop", color: theme.bound, textBorderColor: theme.paper, textBorderWidth: 3,
              formatter: `lower bound ${six(section.bound * scale)} ${unit}`},
      data: [{yAxis: section.bound * scale}]};
    chart.setOption({
      animation: false, textStyle: {fontFamily: font}, color: palette,
      grid: {left: 8, right: 8, top: 62, bottom: 4, containLabel: true},
      legend: {top: 0, left: 0, itemWidth: 12, itemHeight: 12, itemGap: 18, textStyle: {color: theme.ink}, icon: "rect",
               inactiveColor: theme.rule, data: schedules},
      xAxis: {type: "category", data: partitions, axisTick: {show: false}, axisLine: {lineStyle: {color: theme.rule}},
              axisLabel: {color: theme.ink, interval: 0, lineHeight: 15, rotate: narrow ? 90 : 0, formatter: name =>
                narrow ? name : name.replaceAll("_", "_\n").replace(/_\n(?=.{0,3}(_|$))/g, "_")}},
      yAxis: {type: "value", min: 0, name: `mean ${section.objective} [${unit}]`, nameTextStyle: {color: theme.soft, align: "left"},
              axisLabel: {color: theme.soft}, splitLine: {lineStyle: {color: theme.grid}}},
      series: schedules.map((schedule, i) => ({
        type: "custom", name: schedule, renderItem, clip: false, encode: {x: 0, y: [1, 2]},
        data: rows.flatMap((row, r) => row.schedule !== schedule ? [] : [[partitions.indexOf(row.partition),
          (row.mean ?? 0) * scale, (row.max ?? 0) * scale, r]]),
        markLine: i === 0 ? line : undefined})),
    }, true);
  }
  draw();
  redraw.push(draw);
  new ResizeObserver(() => {
    chart.resize();
    draw();
  }).observe(element);
  chart.on("mousemove", event => {
    const row = rows[event.value[3]];
    const t = value => `${six(value * scale)} ${unit}`;
    const above = decimal(Math.max(row.mean / section.bound - 1, 0) * 100, 1);
    const gap = section.bound > 0 ? [`${above} % above the lower bound`] : [];
    showTip(row.solved ? [`${row.partition} + ${row.schedule}`, `mean ${t(row.mean)}`,
              `${t(row.min)} to ${t(row.max)} in ${row.solved} of ${row.runs} runs`,
              ...gap, ...(row.solved < row.runs ? [row.reason] : [])]
            : [`${row.partition} + ${row.schedule}`, row.reason], event.event.event.clientX, event.event.event.clientY);
  });
  chart.on("mouseout", hideTip);
  chart.on("globalout", hideTip);
}
)js";

/// The performance profiles: steps over a logarithmic axis of factors.
inline constexpr std::string_view html_profile_script = R"js(
function drawProfile(element) {
  const lines = data.profile.map(([name, ...steps]) => {
    const points = [];
    for (let i = 0; i < steps.length; i += 2)
      if (steps[i] !== null) points.push([steps[i], steps[i + 1]]);
    return {name, points};
  });
  // Up to where 95 % of the steps are; beyond, few ask who is worse.
  const factors = lines.flatMap(line => line.points.map(point => point[0])).sort((a, b) => a - b);
  const right = Math.max(1.05, (factors[Math.floor(factors.length * .95)] ?? 1) * 1.02);
  const scale = right > 4 ? {type: "log", logBase: 2} : {type: "value"};
  const chart = echarts.init(element);
  function draw() {
    chart.setOption({
      animation: false, textStyle: {fontFamily: font}, color: palette,
      grid: {left: 8, right: 24, top: element.clientWidth < 700 ? 120 : 76, bottom: 26, containLabel: true},
      legend: {top: 0, left: 0, itemWidth: 16, itemHeight: 3, itemGap: 14, textStyle: {color: theme.ink}, icon: "rect",
               inactiveColor: theme.rule, data: lines.map(line => line.name)},
      tooltip: {trigger: "axis", confine: true, backgroundColor: theme.paper, borderColor: theme.rule,
                textStyle: {color: theme.ink, fontSize: 12}, axisPointer: {lineStyle: {color: theme.soft}},
                renderMode: "richText",
                formatter: items => {
                  const factor = items[0].axisValue;
                  const share = line => line.points.reduce((most, [x, y]) => x <= factor * (1 + 1e-9) ? y : most, 0);
                  return [`within ${decimal(factor, 3)} × of the best`, ...lines.map(line => [share(line), line.name])
                    .sort(([a], [b]) => b - a).map(([s, name]) => `${decimal(s * 100, 1)} %  ${name}`)].join("\n");
                }},
      xAxis: {...scale, min: 1, max: right, name: "factor of the best", nameLocation: "middle", nameGap: 28,
              nameTextStyle: {color: theme.soft}, axisLabel: {color: theme.soft, showMaxLabel: false, formatter: x => decimal(x, 2) + " ×"},
              axisLine: {lineStyle: {color: theme.rule}}, splitLine: {lineStyle: {color: theme.grid}}},
      yAxis: {type: "value", min: 0, max: 1, name: "share of problems", nameTextStyle: {color: theme.soft, align: "left"},
              axisLabel: {color: theme.soft, formatter: y => decimal(y * 100, 0) + " %"},
              splitLine: {lineStyle: {color: theme.grid}}},
      series: lines.map(({name, points}) => {
        const first = points.length && points[0][0] <= 1 + 1e-9 ? [] : [[1, 0]];
        const seen = points.filter(([x]) => x <= right);
        const last = seen.length ? seen[seen.length - 1][1] : 0;
        return {name, type: "line", step: "end", symbol: "none", lineStyle: {width: 2},
                data: [...first, ...seen, [right, last]]};
      }),
    }, true);
  }
  draw();
  redraw.push(draw);
  new ResizeObserver(() => {
    chart.resize();
    draw();
  }).observe(element);
}
)js";

/// Puts everything to work, once the functions of the other scripts are there.
inline constexpr std::string_view html_start_script = R"js(
document.querySelectorAll("table.sortable").forEach(makeSortable);
if (globalThis.echarts) {
  document.querySelectorAll(".bars").forEach(element => {
    element.append(document.createElement("div")); // an empty frame takes no space
    const section = data.sections[element.dataset.section];
    if (section.rows.some(row => row[6])) drawBars(element, section); else element.remove();
  });
  document.querySelectorAll(".profile").forEach(element => {
    element.append(document.createElement("div"));
    drawProfile(element);
  });
}
// A timeline is drawn when it comes near the screen, so that a page with many of them opens at once.
document.querySelectorAll(".timeline").forEach(element => whenNear(element, () => {
  const run = readRun(data.gantts[element.dataset.run]);
  drawTimeline(element, run, timeView(run.end));
}));
)js";

} // namespace weft::report::detail
