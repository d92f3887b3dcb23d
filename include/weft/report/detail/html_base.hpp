// SPDX-License-Identifier: BSL-1.0
/// The script that all HTML reports share: data, units, themes, tool tips, sortable tables.
#pragma once

#include "weft/core/config.hpp"

#include <string_view>

namespace weft::report::detail {

inline constexpr std::string_view html_base_script = R"js(
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const tip = document.getElementById("tip");
// After Okabe and Ito: told apart with any kind of colour vision; the last is for all the rest.
const palette = ["#3b7fc4", "#e69f00", "#0a9e78", "#cc79a7", "#5fc0ee", "#d9632a", "#8a6fd1", "#bdb01c", "#96674a",
                 "#8b9096"];
const root = document.documentElement;

function colours() {
  const style = getComputedStyle(root);
  return Object.fromEntries(["paper", "ink", "soft", "rule", "grid", "accent", "bound", "send", "transfer", "ghost",
                             "warn", "path", "raised"].map(name => [name, style.getPropertyValue("--" + name).trim()]));
}
const theme = colours();
const font = getComputedStyle(document.body).fontFamily;
const redraw = []; // what to call when the theme changes
function retheme(name) {
  if (name === undefined) delete root.dataset.theme; else root.dataset.theme = name;
  Object.assign(theme, colours());
  redraw.forEach(draw => draw());
}

function timeUnit(seconds) {
  return seconds >= 1 || !(seconds > 0) ? [1, "s"] : seconds >= 1e-3 ? [1e3, "ms"]
       : seconds >= 1e-6 ? [1e6, "µs"] : [1e9, "ns"];
}
function unitFor(value, base) {
  return base === "s" ? timeUnit(value) : base !== "J" ? [1, base] : value >= 1e3 ? [1e-3, "kJ"]
       : value >= 1 || !(value > 0) ? [1, "J"] : value >= 1e-3 ? [1e3, "mJ"] : [1e6, "µJ"];
}
function duration(seconds, digits = 6) {
  const [scale, unit] = timeUnit(seconds);
  return `${+(seconds * scale).toPrecision(digits)} ${unit}`;
}
const decimal = (x, decimals) => String(+x.toFixed(decimals));
const six = x => String(+x.toPrecision(6));
function amount(bytes) {
  let i = 0;
  for (; bytes >= 1000 && i < 6; ++i) bytes /= 1024;
  return (i ? bytes.toFixed(bytes >= 100 ? 0 : bytes >= 10 ? 1 : 2) : bytes) + " " +
    ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"][i];
}

// Shows lines of text next to the pointer; the first is a heading. Names go in as text, never as markup.
function showTip(lines, x, y) {
  tip.replaceChildren(...lines.map((line, i) => {
    const element = document.createElement(i ? "span" : "b");
    element.textContent = line;
    return element;
  }));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = x + 14 + box.width > innerWidth ? x - 14 - box.width : x + 14;
  const top = y + 14 + box.height > innerHeight ? y - 14 - box.height : y + 14;
  tip.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, top)}px)`;
}
const hideTip = () => { tip.hidden = true; };

function makeSortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const key = (row, column) => {
    const cell = row.cells[column];
    return !cell ? null : heads[column].classList.contains("n")
      ? (cell.dataset.v === undefined ? null : +cell.dataset.v) : cell.firstChild.textContent.trim();
  };
  heads.forEach((head, column) => head.firstElementChild.addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    heads.forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const rows = [...body.rows].map(row => [key(row, column), row]);
    rows.sort(([a], [b]) => a === null || b === null ? (a === null) - (b === null) // what is missing comes last
      : (up ? 1 : -1) * (typeof a === "number" ? a - b : a.localeCompare(b)));
    body.append(...rows.map(([, row]) => row));
  }));
}

const count = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

// A column of numbers: a letter for their type, and their bytes in base 64.
const columnTypes = {b: Uint8Array, h: Uint16Array, i: Uint32Array, f: Float32Array, d: Float64Array};
function column(text) {
  const bytes = atob(text.slice(1)), raw = new Uint8Array(bytes.length);
  for (let i = 0; i < bytes.length; ++i) raw[i] = bytes.charCodeAt(i);
  return new columnTypes[text[0]](raw.buffer);
}

// A colour for each device: those of the palette, then hues as far apart as may be.
function deviceColour(d) {
  if (d < palette.length - 1) return palette[d];
  const hue = d * 137.508 % 360, light = d % 2 ? .45 : .62, chroma = .5 * (1 - Math.abs(2 * light - 1));
  return "#" + [0, 8, 4].map(k => {
    const at = (k + hue / 30) % 12, part = light - chroma * Math.max(-1, Math.min(at - 3, 9 - at, 1));
    return Math.round(part * 255).toString(16).padStart(2, "0");
  }).join("");
}

// Black or white, whichever reads better on a colour of the palette.
function inkOn(colour) {
  const [r, g, b] = [1, 3, 5].map(i => parseInt(colour.slice(i, i + 2), 16));
  return .299 * r + .587 * g + .114 * b > 140 ? "#15181c" : "#fff";
}

// Light or dark: as the system says, until the button is pressed. Paper is white.
{
  const system = matchMedia("(prefers-color-scheme: dark)"), button = document.getElementById("theme");
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
  const label = () => {
    button.textContent = dark() ? "☀ Light" : "☾ Dark";
    button.setAttribute("aria-label", `Switch to ${dark() ? "light" : "dark"} colours`);
  };
  button.addEventListener("click", () => {
    retheme(dark() ? "light" : "dark");
    label();
  });
  system.addEventListener("change", () => {
    retheme(root.dataset.theme);
    label();
  });
  let before;
  addEventListener("beforeprint", () => {
    before = root.dataset.theme;
    retheme("light");
  });
  addEventListener("afterprint", () => retheme(before));
  addEventListener("scroll", hideTip, {passive: true, capture: true});
  label();
  button.hidden = false;
}
)js";

} // namespace weft::report::detail
