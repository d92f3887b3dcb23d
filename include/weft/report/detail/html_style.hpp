// SPDX-License-Identifier: BSL-1.0
/// The style sheet of the HTML report.
#pragma once

#include "weft/core/config.hpp"

#include <string_view>

namespace weft::report::detail {

inline constexpr std::string_view html_dark_colours = R"css(
  color-scheme: dark;
  --paper: #14171b; --raised: #1c2025; --ink: #e4e7eb; --soft: #9aa4b0; --rule: #31373f; --grid: #252a31;
  --accent: #85a9ff; --best: #15301f; --best-ink: #7fd6a0; --warn: #f0916f; --bound: #ff8a6b;
  --send: #c3cad3; --transfer: #4a6592; --ghost: #2a2f36; --path: #ff8a6b; --heat: 110 150 255; --on-heat: #0d1015;
)css";

inline constexpr std::string_view html_style = R"css(
:root {
  color-scheme: light;
  --paper: #fff; --raised: #f6f7f9; --ink: #1b1f24; --soft: #59626e; --rule: #dfe3e8; --grid: #eceff2;
  --accent: #2f5fd0; --best: #e8f5ec; --best-ink: #14643a; --warn: #a33a1c; --bound: #c2361b;
  --send: #3f4852; --transfer: #9db4d8; --ghost: #e4e7eb; --path: #c2361b; --heat: 47 95 208; --on-heat: #fff;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace;
}
* { box-sizing: border-box }
html { scroll-behavior: smooth }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto } }
body {
  margin: 0 auto; padding: 2.5rem clamp(1rem, 3vw, 2.5rem) 4rem; max-width: 84rem; background: var(--paper);
  color: var(--ink); font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  overflow-wrap: break-word;
}
h1 { margin: 0 0 .75rem; font-size: clamp(1.35rem, 4.5vw, 1.85rem); line-height: 1.2; letter-spacing: -.015em; font-weight: 650 }
h2 { margin: 0 0 .25rem; font-size: 1.25rem; line-height: 1.3; letter-spacing: -.01em; font-weight: 650 }
h2 .on { color: var(--soft); font-weight: 400 }
section { margin-top: 3rem }
a { color: var(--accent); text-underline-offset: .15em }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px }
.facts { margin: 0 0 1rem; color: var(--soft); max-width: 72rem }
.help, footer { color: var(--soft); font-size: .85rem }
footer { margin-top: 3rem; border-top: 1px solid var(--rule) }
.notes {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, max-content)); gap: .7rem 2.5rem; margin: 0;
  padding: .9rem 1.1rem; background: var(--raised); border: 1px solid var(--rule); border-radius: 8px;
}
.notes dt { color: var(--soft); font-size: .8rem }
.notes dd { margin: 0 }
.notes .wide { grid-column: 1 / -1; min-width: 0 }
.notes .wide dd { font: .85rem/1.5 var(--mono); overflow-wrap: anywhere }

.scroll { overflow-x: auto; position: relative; border: 1px solid var(--rule); border-radius: 8px }
table { border-collapse: collapse; width: 100%; font-size: .86rem; font-variant-numeric: tabular-nums }
th, td { padding: .32rem .65rem; text-align: left; font-weight: 400; white-space: nowrap }
thead th { background: var(--raised); color: var(--soft); font-weight: 600; font-size: .8rem }
thead th, tbody tr + tr > * { border-bottom: 0; border-top: 1px solid var(--grid) }
thead th { border-top: 0; border-bottom: 1px solid var(--rule) }
.n { text-align: right }
tbody tr:hover > * { background: var(--raised) }
tbody tr.best > * { background: var(--best); font-weight: 600 }
tbody tr.best .badge { color: var(--best-ink) }
.badge { margin-left: .4em; padding: 0 .45em; border: 1px solid currentColor; border-radius: 1em; font-size: .72rem }
.failed td, .failed th, .failed { color: var(--warn) }
td.failed, .failed td { white-space: normal }
p.failed { margin: .6rem 0 0; font-size: .9rem }
.none { color: var(--soft) }
thead th button {
  all: unset; cursor: pointer; position: relative; white-space: nowrap;
}
thead th button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px }
thead th button::after { content: "▾"; position: absolute; left: 100%; margin-left: .15em; opacity: 0 }
thead th button:hover::after { opacity: .5 }
th[aria-sort=ascending] button::after { content: "▴"; opacity: 1 }
th[aria-sort=descending] button::after { opacity: 1 }
details { margin-top: .75rem }
details .scroll { margin-top: .6rem; max-width: 38rem }
summary { cursor: pointer; color: var(--soft); font-size: .9rem }

.chart { width: 100%; margin-bottom: 1rem }
.bars { height: 340px }
.profile { height: 380px }
.tall { max-height: 32rem; overflow-y: auto }
.tall thead th { position: sticky; top: 0; z-index: 1 }
.timeline, .plot { margin: 0; border-radius: 4px; touch-action: pan-y; cursor: default; min-height: 4rem }
.plot canvas, .timeline canvas { display: block; width: 100% }
.found { min-height: 1.5em; margin: .2rem 0 0; font-size: .85rem; overflow-wrap: anywhere; font-variant-numeric: tabular-nums }
.chart:empty { display: none }
.tools, .legend { display: flex; flex-wrap: wrap; gap: .4rem; align-items: center; margin: .4rem 0; font-size: .85rem }
.tools[hidden], .legend[hidden] { display: none }
.tools .group { display: inline-flex; gap: .3rem; align-items: center }
.tools .matches { color: var(--soft); font-variant-numeric: tabular-nums }
.title { display: flex; gap: 1rem; align-items: flex-start; justify-content: space-between }
.title h1 { min-width: 0 }
.tools button, .tools input, .tools select, .legend button, #theme {
  font: inherit; color: var(--ink); background: var(--paper); border: 1px solid var(--rule); border-radius: 6px;
  padding: .15rem .6rem; cursor: pointer; min-height: 1.9rem;
}
.tools button[aria-pressed=true] { border-color: var(--path); color: var(--path); font-weight: 600 }
#theme { white-space: nowrap; flex: none; font-size: .85rem }
.tools input { cursor: text; min-width: 0 }
.tools button:hover, .legend button:hover, #theme:hover { background: var(--raised) }
.tools input::placeholder { color: var(--soft) }
.tools label { color: var(--soft); margin-right: .6rem }
.tools .window { color: var(--soft); margin-left: auto; font-variant-numeric: tabular-nums }
.legend { gap: 0 .3rem }
.legend button {
  min-height: 1.6rem; border-color: transparent; padding: .05rem .4rem; display: inline-flex; gap: .4em;
  align-items: center;
}
.legend button[aria-pressed=false] { opacity: .45; text-decoration: line-through }
.legend i { width: .8em; height: .8em; border-radius: 2px; flex: none }
.legend span { color: var(--soft) }
nav { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; font-size: .9rem; margin: .2rem 0 1rem }
h3 { margin: 1.6rem 0 .5rem; font-size: 1rem; font-weight: 650 }
section ul { margin: .4rem 0; padding-left: 1.2rem }
.cards { display: grid; grid-template-columns: repeat(var(--wide), minmax(0, 1fr)); gap: .8rem; margin: 0 }
.cards div:first-child { grid-column: span var(--wide-first) }
@media (max-width: 76rem) {
  .cards { grid-template-columns: repeat(var(--middle), minmax(0, 1fr)) }
  .cards div:first-child { grid-column: span var(--middle-first) }
}
@media (max-width: 44rem) {
  .cards { grid-template-columns: repeat(var(--narrow), minmax(0, 1fr)) }
  .cards div:first-child { grid-column: span var(--narrow-first) }
}
.cards div { padding: .8rem 1rem; background: var(--raised); border: 1px solid var(--rule); border-radius: 8px }
.cards dt { color: var(--soft); font-size: .8rem }
.cards dd { margin: 0 }
.cards b { display: block; font-size: 1.5rem; line-height: 1.35; font-weight: 650; letter-spacing: -.01em }
.cards span { color: var(--soft); font-size: .83rem; display: block; line-height: 1.4; overflow-wrap: anywhere }
.cards .bad b, .alert b { color: var(--warn) }
.alert { margin-top: 1rem; padding: .8rem 1rem; border: 1px solid var(--warn); border-radius: 8px; font-size: .9rem }
.alert ul { margin: .4rem 0 0; padding-left: 1.2rem; overflow-wrap: anywhere }
td.bar { width: 30%; min-width: 6rem }
td.bar i { display: block; height: .75rem; border-radius: 2px; background: var(--transfer) }
tr.best td.bar i { background: var(--accent) }
td.wrap { white-space: normal; min-width: 12rem }
th.name, td.name { white-space: normal; overflow-wrap: anywhere; max-width: 30rem }
button.op {
  all: unset; cursor: pointer; color: var(--accent); overflow-wrap: anywhere; display: -webkit-box; overflow: hidden;
  -webkit-line-clamp: 3; -webkit-box-orient: vertical;
}
button.op:disabled { color: inherit; cursor: auto }
button.op:hover:not(:disabled) { text-decoration: underline; text-underline-offset: .15em }
button.op:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px }
.shares { display: flex; gap: 2px; height: 1.9rem; margin: .2rem 0 1rem; border-radius: 6px; overflow: hidden; font-size: .8rem }
.shares i { flex: 1 1 0; min-width: 2px; overflow: hidden; font-style: normal; display: flex; align-items: center; padding: 0 .5rem; white-space: nowrap }
.shares i span { overflow: hidden; text-overflow: ellipsis }
.shares .ops { background: var(--accent); color: var(--paper) }
.shares .sends { background: var(--send); color: var(--paper) }
.shares .transfers { background: var(--transfer); color: var(--ink) }
.shares .idle { background: var(--ghost); color: var(--ink) }
.matrix { width: fit-content; max-width: 100% }
.matrix td { min-width: 5rem }
.matrix small { display: block; opacity: .75; font-size: .75em }
td.heat, tbody tr:hover > td.heat { background: rgb(var(--heat) / var(--s)) }
td.hot { color: var(--on-heat) }
.key { display: inline-flex; gap: .4em; align-items: center; padding: .05rem .4rem }
svg.front { display: block; width: 100%; max-width: 60rem; margin: .4rem 0 1rem; font-size: 12px }
.front text { fill: var(--soft); font-variant-numeric: tabular-nums }
.front .grid { stroke: var(--grid) }
.front .bound { stroke: var(--bound); stroke-dasharray: 5 4 }
.front .stairs { fill: none; stroke: var(--accent); stroke-width: 1.5 }
.front circle { fill: var(--accent); stroke: var(--paper); stroke-width: 1.5 }
.front .own { fill: var(--path) }
.groups {
  overflow: auto; height: 40rem; max-height: 85vh; border: 1px solid var(--rule); border-radius: 8px; cursor: grab;
}
.sheet { position: relative; margin: 0 auto; overflow: hidden }
.plane { position: absolute; left: 0; top: 0; transform-origin: 0 0 }
.plane svg { position: absolute; inset: 0; width: 100%; height: 100%; fill: none }
.plane .line { stroke: var(--soft); opacity: .4 }
.plane .moved { stroke: var(--accent); opacity: .65 }
.plane .near { stroke: var(--ink); opacity: 1 }
.plane .target { stroke: transparent; stroke-width: 9; pointer-events: stroke }
.frame {
  position: absolute; background: color-mix(in srgb, var(--raised) 70%, transparent); border: 1px solid var(--rule);
  border-radius: 8px;
}
.box {
  position: absolute; font: 12px/1.3 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  color: var(--ink); background: var(--paper); border: 1px solid var(--rule); border-radius: 6px; padding: .25rem .5rem;
  text-align: left; cursor: pointer; overflow: hidden;
}
.box b, .box small { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.box b { font-weight: 600 }
.box.leaf { border-color: transparent; text-align: center }
.box.leaf b { font-weight: 400 }
.box small { color: var(--soft); font-size: 11px }
.box.group { border-color: var(--soft); padding-bottom: .8rem }
.box i { position: absolute; left: 0; right: 0; bottom: 0; height: 9px }
.box.head { display: flex; gap: .6rem; align-items: baseline; border-color: transparent; background: none }
.box.head i { top: 0; bottom: auto; height: 4px }
.box.head b::before { content: "▾ " }
.box.group b::before { content: "▸ " }
.box:hover, .box.chosen { outline: 2px solid var(--ink); outline-offset: 0 }
.box:focus-visible { outline: 3px solid var(--accent); outline-offset: 1px }
.onpath .box:not(.lit, .head), .onpath .line:not(.lit) { opacity: .3 }
.onpath .line.lit { stroke: var(--path); opacity: 1 }
.onpath .box.lit { border-color: var(--path) }
#tip {
  position: fixed; z-index: 9; pointer-events: none; max-width: min(30rem, 90vw); padding: .5rem .7rem; left: 0; top: 0;
  background: var(--paper); color: var(--ink); border: 1px solid var(--rule); border-radius: 6px; font-size: .83rem;
  line-height: 1.45; box-shadow: 0 4px 18px rgb(0 0 0 / .18); font-variant-numeric: tabular-nums;
}
#tip b { display: block; max-height: 12em; overflow: hidden; overflow-wrap: anywhere }
#tip span { color: var(--soft); display: block }
@media print { .tools, .help, #theme, nav { display: none } body { max-width: none } section { break-inside: avoid } }
)css";

} // namespace weft::report::detail
