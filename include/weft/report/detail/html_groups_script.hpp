// SPDX-License-Identifier: BSL-1.0
/// The script that draws a large graph as groups of ops that open on a click.
#pragma once

#include "weft/core/config.hpp"

#include <string_view>

namespace weft::report::detail {

/// Uses the functions of `html_chart_script` and `html_group_tree_script`. Boxes are elements, so that focus, style and
/// zoom are the browser's; there are only those of open groups.
inline constexpr std::string_view html_groups_script = R"js(
function drawGroups(element, run, onSelect) {
  const tree = groupsOf(run), {inside, isGroup, outer, describe, contentOf, open, openBox} = tree;
  const [tools, legend] = [".tools", ".legend"].map(part => element.closest("section").querySelector(part));
  const colour = d => d < run.devices.length ? deviceColour(d) : theme.ghost;
  const svg = make("div", {innerHTML: "<svg aria-hidden=true></svg>"}).firstChild;
  const plane = make("div", {className: "plane"}), sheet = make("div", {className: "sheet"}, plane);
  let shown, buttons = [], lines = [], selected = -1, hovered = -1, current = -1, shownPath = false, scale = 1;
  element.replaceChildren(sheet);
  function paintEdges() {
    const {edges} = shown, most = edges.reduce((a, b) => Math.max(a, b.bytes), 1), onPath = new Set();
    let before = -1;
    for (const step of run.path?.steps ?? []) {
      if (step.item < 0 || step.item >= run.n) continue;
      const here = tree.shownBy(step.item);
      if (before >= 0) onPath.add(`${before} ${here}`);
      before = here;
    }
    const style = ({from, to, moved}) => `line ${moved ? "moved" : ""} ${onPath.has(`${from} ${to}`) ? "lit" : ""}`;
    const paths = edges.map(tree.pathOf), width = edge => (1 + 5 * Math.sqrt(edge.bytes / most)).toFixed(2);
    svg.innerHTML = // no names, so nothing to escape
      edges.map((one, i) => `<path class="${style(one)}" d="${paths[i]}" stroke-width="${width(one)}"/>`).join("") +
      paths.map((path, i) => `<path class="target" data-edge="${i}" d="${path}"/>`).join(""); // what to point at
    lines = [...svg.querySelectorAll(".line")];
  }
  function paintBoxes() {
    const lit = new Set([...(run.path?.ops ?? [])].map(tree.shownBy)), frames = [];
    buttons = [...shown.places].map(([box, {x, y, w, h}]) => {
      const isOpen = openBox(box), kind = isOpen ? "head" : isGroup(box) ? "group" : "leaf";
      const name = make("b", {textContent: tree.label(box)}),
        button = make("button", {type: "button", className: "box " + kind}, name);
      const place = {left: `${x}px`, top: `${y}px`, width: `${w}px`, height: `${isOpen ? tree.head : h}px`};
      Object.assign(button.style, place);
      Object.assign(button.dataset, {box});
      button.setAttribute("role", "treeitem");
      button.setAttribute("aria-level", tree.depthOf(box));
      if (isGroup(box)) {
        let sum = 0;
        const stops = contentOf(box).shares.map(([d, share]) => `${colour(d)} ${sum * 100}% ${(sum += share) * 100}%`);
        const bar = make("i");
        bar.style.background = `linear-gradient(90deg, ${stops.join(", ")})`;
        button.append(make("small", {textContent: tree.summary(box)}), bar);
        button.setAttribute("aria-expanded", isOpen);
        if (isOpen) {
          const area = make("div", {className: "frame"});
          Object.assign(area.style, place, {height: `${h}px`});
          frames.push(area);
        }
      } else {
        const own = colour(run.opDevice[tree.opOf(box)]);
        Object.assign(button.style, {background: own, color: inkOn(own)});
      }
      button.setAttribute("aria-label", describe(box).join(", "));
      button.classList.toggle("lit", lit.has(box));
      return button;
    });
    plane.replaceChildren(...frames, svg, ...buttons);
  }
  function update() {
    shown = tree.update();
    paintEdges();
    paintBoxes();
    rescale(scale);
    mark();
  }
  function rescale(wanted) {
    scale = Math.min(2, Math.max(.05, wanted));
    const {w, h} = shown;
    Object.assign(plane.style, {width: `${w}px`, height: `${h}px`, transform: `scale(${scale})`});
    Object.assign(sheet.style, {width: `${w * scale}px`, height: `${h * scale}px`});
    svg.setAttribute("viewBox", `0 0 ${w} ${h}`);
    element.dataset.zoom = scale;
    element.dataset.boxes = buttons.length;
  }
  const buttonOf = box => buttons.find(one => +one.dataset.box === box);
  // The lines of the box under the pointer, or else of the selected one.
  function mark() {
    plane.classList.toggle("onpath", shownPath);
    const chosen = selected >= 0 ? tree.shownBy(selected) : -1;
    const lit = hovered >= 0 && !openBox(hovered) ? hovered : chosen;
    shown.edges.forEach(({from, to}, i) => lines[i].classList.toggle("near", from === lit || to === lit));
    for (const button of buttons) {
      button.classList.toggle("chosen", +button.dataset.box === chosen);
      button.setAttribute("aria-selected", +button.dataset.box === chosen);
    }
    if (!buttonOf(current)) current = buttons.length ? +buttons[0].dataset.box : -1;
    for (const button of buttons) button.tabIndex = +button.dataset.box === current ? 0 : -1;
  }
  function reveal(box) {
    const at = shown.places.get(box);
    if (!at) return;
    const x = (at.x + at.w / 2) * scale, y = at.y * scale;
    const {scrollLeft, scrollTop, clientWidth, clientHeight} = element;
    if (x < scrollLeft || x > scrollLeft + clientWidth) element.scrollLeft = x - clientWidth / 2;
    if (y < scrollTop || y > scrollTop + clientHeight - 30) element.scrollTop = y - clientHeight / 3;
  }
  // What was clicked stays where it is on the screen.
  function toggle(box) {
    const before = shown.places.get(box);
    const x = before.x * scale - element.scrollLeft, y = before.y * scale - element.scrollTop;
    if (!open.delete(box)) open.add(box);
    hideTip();
    hovered = -1;
    update();
    const after = shown.places.get(box), kept = (at, most) => Math.max(0, Math.min(at, most / 3));
    element.scrollTo(after.x * scale - kept(x, element.clientWidth), after.y * scale - kept(y, element.clientHeight));
    focusOn(box);
  }
  function focusOn(box) {
    current = box;
    mark();
    buttonOf(box)?.focus({preventScroll: true});
    reveal(box);
  }
  function zoom(factor, px = element.clientWidth / 2, py = element.clientHeight / 2) {
    const x = (element.scrollLeft + px) / scale, y = (element.scrollTop + py) / scale;
    hideTip();
    rescale(scale * factor);
    element.scrollTo(x * scale - px, y * scale - py);
  }
  const fit = least =>
    rescale(Math.max(least, Math.min(1, (element.clientWidth - 2) / shown.w, (element.clientHeight - 2) / shown.h)));
  const everything = () => fit(0);

  const boxAt = event => +(event.target.closest?.(".box")?.dataset.box ?? -1);
  plane.addEventListener("click", event => {
    const box = boxAt(event);
    if (box < 0) return;
    current = box;
    if (isGroup(box)) toggle(box); else onSelect(tree.opOf(box));
  });
  plane.addEventListener("pointermove", event => {
    const box = boxAt(event), edge = shown.edges[event.target.dataset?.edge];
    if (box !== hovered) {
      hovered = box;
      mark();
    }
    if (drag) return;
    const tell = lines => showTip(lines, event.clientX, event.clientY);
    if (box >= 0) tell([...describe(box), ...(isGroup(box) ? [`click to ${open.has(box) ? "close" : "open"}`] : [])]);
    else if (edge)
      tell([`${tree.label(edge.from)} → ${tree.label(edge.to)}`,
            `${amount(edge.bytes)} in ${count(edge.tensors, "tensor")}`,
            ...(edge.moved ? [`${amount(edge.moved)} of it to another device`] : [])]);
    else hideTip();
  });
  plane.addEventListener("pointerleave", () => {
    hovered = -1;
    mark();
    hideTip();
  });
  let drag = null;
  element.addEventListener("pointerdown", event => {
    if (event.button || event.pointerType === "touch" || boxAt(event) >= 0) return;
    drag = [event.clientX + element.scrollLeft, event.clientY + element.scrollTop];
    element.setPointerCapture(event.pointerId);
  });
  element.addEventListener("pointermove", event => {
    if (drag) element.scrollTo(drag[0] - event.clientX, drag[1] - event.clientY);
  });
  for (const name of ["pointerup", "pointercancel", "lostpointercapture"])
    element.addEventListener(name, () => { drag = null; });
  element.addEventListener("wheel", event => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const {left, top} = element.getBoundingClientRect(), steps = Math.max(-60, Math.min(60, event.deltaY));
    zoom(Math.exp(-steps * .008), event.clientX - left, event.clientY - top);
  }, {passive: false});
  element.addEventListener("keydown", event => {
    const box = boxAt(event), at = buttons.indexOf(event.target);
    const go = i => buttons[i] && focusOn(+buttons[i].dataset.box);
    const nearer = () => zoom(1.25), farther = () => zoom(.8);
    const keys = {"+": nearer, "=": nearer, "-": farther, "_": farther, "0": everything};
    if (box >= 0) Object.assign(keys, {
      ArrowDown: () => go(at + 1), ArrowUp: () => go(at - 1), Home: () => go(0), End: () => go(buttons.length - 1),
      ArrowRight: () => isGroup(box) && !open.has(box) ? toggle(box) : go(at + 1),
      ArrowLeft: () => openBox(box) ? toggle(box) : outer(box) ? focusOn(outer(box)) : go(at - 1)});
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  });
  const asAtFirst = () => {
    open.clear();
    begin();
  };
  tools.replaceChildren(make("span", {className: "group"}, button("+", "Zoom in", () => zoom(1.25)),
    button("−", "Zoom out", () => zoom(.8)), button("Everything", "Show the whole graph", everything),
    button("As at first", "Open and close groups as at first", asAtFirst)));
  tools.hidden = false;
  legend.replaceChildren(...deviceKeys(run, new Set(contentOf(0).devices.keys())));
  legend.hidden = false;
  redraw.push(update);

  // At first, everything is open, and in it what is largest while there is room.
  function begin() {
    open.add(0);
    for (let boxes = inside[0].length;;) {
      const closed = [...open].flatMap(g => inside[g]).filter(box => isGroup(box) && !open.has(box));
      const largest = closed.reduce((a, b) => a >= 0 && contentOf(a).ops >= contentOf(b).ops ? a : b, -1);
      if (largest < 0 || (boxes += inside[largest].length) > 24) break;
      open.add(largest);
    }
    update();
    fit(.75);
    element.scrollTo((shown.w * scale - element.clientWidth) / 2, 0);
  }
  begin();
  return (op, path) => {
    selected = op;
    shownPath = path ?? shownPath;
    mark();
    if (op >= 0) reveal(tree.shownBy(op));
  };
}
)js";

} // namespace weft::report::detail
