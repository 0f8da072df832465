// Everything around the picture: details, search, filters, keys. Text is only ever set as text.
"use strict";

const byId = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const bdi = (text) => make("bdi", {}, text);

function drawing(className, box, tag, attributes) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", className);
  svg.setAttribute("viewBox", box);
  svg.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, value);
  svg.append(shape);
  return svg;
}

const OUTLINES = { diamond: "6,0 12,6 6,12 0,6", triangle: "6,0 12,12 0,12",
                   hexagon: "3,0.5 9,0.5 12,6 9,11.5 3,11.5 0,6" };

function swatch(kind) {
  const { colour: fill, shape } = data.kinds[kind];
  return OUTLINES[shape]
    ? drawing("swatch", "0 0 12 12", "polygon", { points: OUTLINES[shape], fill })
    : drawing("swatch", "0 0 12 12", "circle", { cx: 6, cy: 6, r: 6, fill });
}

const counted = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

const edgesAt = new Map(data.nodes.map((node) => [node.id, []]));
for (const edge of data.edges) {
  edgesAt.get(edge.source).push({ edge, other: edge.target });
  if (edge.target !== edge.source) edgesAt.get(edge.target).push({ edge, other: edge.source });
}
const hubs = [...data.nodes].sort((a, b) => (
  edgesAt.get(b.id).length - edgesAt.get(a.id).length || b.n - a.n || (a.id < b.id ? -1 : 1)));

function weight(value) {
  const bar = make("i");
  bar.style.width = `${Math.round(100 * value)}%`;
  return make("span", { class: "weight" }, make("span", { class: "bar" }, bar), value.toFixed(2));
}

function goTo(id, beside, ...below) {
  const node = nodes.get(id);
  const name = make("span", {}, swatch(node.kind), bdi(node.label));
  const go = () => { choose(id, { centre: true }); byId("panel").focus(); };
  return make("li", {}, make("button", { type: "button", class: "go", onclick: go },
    name, beside, ...below));
}

function overview() {
  const list = hubs.slice(0, 12).map((node) => (
    goTo(node.id, make("span", { class: "count" }, counted(edgesAt.get(node.id).length, "edge")))));
  return [make("h2", {}, "Hubs"), make("p", { class: "count" }, "The nodes with the most edges."),
          make("ul", {}, ...list)];
}

function direction(edge, id) {
  if (!edge.directed) return "";
  return edge.source === id ? "→ " : "← ";
}

function edgeRow({ edge, other }, id) {
  const since = edge.valid_from ? `, since ${day(edge.valid_from)}` : "";
  const what = `${direction(edge, id)}${spaced(edge.type)}, ${counted(edge.n, "source")}${since}`;
  const said = edge.sentence ? [make("small", {}, bdi(`“${edge.sentence}”`))] : [];
  return goTo(other, weight(edge.weight), make("small", {}, bdi(what)), ...said);
}

const day = (time) => time.slice(0, 10).replaceAll("-", "\u2011");  // a date stays on its line

function days(node) {
  const [first, last] = [node.first, node.last].map((time) => day(time || ""));
  if (!first && !last) return "";
  return first === last || !last ? `, ${first}` : `, ${first} to ${last}`;
}

function details(id) {
  const node = nodes.get(id);
  const rows = [...edgesAt.get(id)].sort((a, b) => (
    (a.edge.type === "co_occurs") - (b.edge.type === "co_occurs")
    || b.edge.weight - a.edge.weight || (a.other < b.other ? -1 : 1)));
  const parts = [
    make("h2", {}, bdi(node.label)),
    make("div", { class: "kind" }, swatch(node.kind), bdi(node.kind), `· ${node.stream}`),
    make("p", { class: "count" }, `mentioned ${counted(node.n, "time")}${days(node)}`),
  ];
  if (node.aliases.length) parts.push(make("p", {}, "also: ", bdi(node.aliases.join(", "))));
  if (node.summary) parts.push(make("p", {}, bdi(node.summary)));
  if (node.statements.length) {
    parts.push(make("h3", {}, "Statements"), make("ul", { class: "statements" },
      ...node.statements.map((said) => make("li", {}, bdi(said.text), make("small", {},
        [said.kind, said.state, said.since && `since ${day(said.since)}`]
          .filter(Boolean).join(", "))))));
  }
  if (rows.length) {
    parts.push(make("h3", {}, counted(rows.length, "edge")),
      make("ul", {}, ...rows.map((row) => edgeRow(row, id))));
  }
  return parts;
}

function show(id) {
  byId("panel").replaceChildren(...(id === null ? overview() : details(id)));
  byId("panel").scrollTop = 0;
  const node = nodes.get(id);
  byId("said").textContent = node
    ? `${node.label}, ${node.kind}, ${counted(edgesAt.get(id).length, "edge")}` : "Whole graph";
}

// Search: a combobox with a list, as WAI-ARIA describes it.
const search = byId("search");
const found = byId("found");
let marked = -1;

function matches(text) {
  const wanted = text.trim().toLocaleLowerCase();
  if (!wanted) return [];
  const rank = (node) => Math.min(...[node.label, ...node.aliases, node.id].map((name) => {
    const place = name.toLocaleLowerCase().indexOf(wanted);
    return place < 0 ? 9 : place === 0 ? 0 : 1;
  }));
  return hubs.map((node) => [rank(node), node]).filter(([value]) => value < 9)
    .sort((a, b) => a[0] - b[0]).slice(0, 8).map(([, node]) => node);
}

function mark(place) {
  marked = place;
  [...found.children].forEach((item, at) => item.setAttribute("aria-selected", at === place));
  if (place >= 0) search.setAttribute("aria-activedescendant", `found-${place}`);
  else search.removeAttribute("aria-activedescendant");
}

function list() {
  const hits = matches(search.value);
  found.replaceChildren(...hits.map((node, place) => make("li",
    { id: `found-${place}`, role: "option", "data-node": node.id,
      onpointerdown: (event) => { event.preventDefault(); take(node.id); } },
    swatch(node.kind), bdi(node.label))));
  found.hidden = !hits.length;
  search.setAttribute("aria-expanded", String(hits.length > 0));
  mark(hits.length ? 0 : -1);
}

function close() {
  found.hidden = true;
  search.setAttribute("aria-expanded", "false");
  mark(-1);
}

function take(id) {
  search.value = nodes.get(id).label;
  close();
  const { kind } = nodes.get(id);
  if (state.kinds.has(kind)) { document.querySelector(`#kinds input[value="${CSS.escape(kind)}"]`).click(); }
  choose(id, { centre: true });
}

search.addEventListener("input", list);
search.addEventListener("blur", close);
search.addEventListener("keydown", (event) => {
  const size = found.children.length;
  if (event.key === "ArrowDown" && size) mark((marked + 1) % size);
  else if (event.key === "ArrowUp" && size) mark((marked + size - 1) % size);
  else if (event.key === "Enter" && marked >= 0) take(found.children[marked].dataset.node);
  else if (event.key === "Escape") { search.value = ""; close(); container.focus(); }
  else return;
  event.preventDefault();
  event.stopPropagation();
});

// Filters.
function toggle(set, name, isShown) {
  if (isShown) set.delete(name); else set.add(name);
  filter();
}

function choice(set, name, picture, count) {
  const box = make("input", { type: "checkbox", value: name,
    onchange: (event) => toggle(set, name, event.target.checked) });
  box.checked = true;
  return make("label", {}, box, picture, bdi(spaced(name)),
    make("span", { class: "count" }, String(count)));
}

byId("kinds").append(...Object.keys(data.kinds).map((kind) => (
  choice(state.kinds, kind, swatch(kind), data.kinds[kind].count))));
byId("types").append(...Object.keys(data.types).map((type) => (
  choice(state.types, type, drawing(type === "co_occurs" ? "stroke" : "stroke typed", "0 0 20 8",
    "line", { x1: 0, y1: 4, x2: 20, y2: 4 }), data.types[type]))));
byId("least").max = Math.ceil(100 * greatest);
byId("least").addEventListener("input", (event) => {
  state.least = Number(event.target.value) / 100;
  byId("least-shown").textContent = state.least.toFixed(2);
  filter();
});

// Keys: from the chosen node to the nearest one in a direction.
const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function step([dx, dy]) {
  if (state.chosen === null) {
    const hub = hubs.find((node) => !state.kinds.has(node.kind));
    if (hub) choose(hub.id, { centre: true });
    return;
  }
  const from = cy.getElementById(key(state.chosen)).position();
  let [best, least] = [null, Infinity];
  shownNodes().forEach((node) => {
    const [x, y] = [node.position("x") - from.x, node.position("y") - from.y];
    const along = x * dx + y * dy;
    const cost = along + 2 * Math.abs(x * dy - y * dx);
    if (along > 0 && cost < least) [best, least] = [idOf(node), cost];
  });
  if (best !== null) choose(best, { centre: true });
}

container.addEventListener("keydown", (event) => {
  if (WAYS[event.key]) step(WAYS[event.key]);
  else if (event.key === "Enter" && state.chosen !== null) byId("panel").focus();
  else if (event.key === "+" || event.key === "=") zoomBy(1.25);
  else if (event.key === "-") zoomBy(0.8);
  else if (event.key === "0") fit(true);
  else return;
  event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && event.target !== search) { event.preventDefault(); search.focus(); }
  else if (event.key === "Escape" && event.target !== search) { choose(null); container.focus(); }
});
byId("closer").addEventListener("click", () => zoomBy(1.25));
byId("farther").addEventListener("click", () => zoomBy(0.8));
byId("whole").addEventListener("click", () => fit(true));

const part = data.nodes.length < data.total ? ` of ${data.total}` : "";
byId("size").textContent =
  `${data.nodes.length}${part} nodes, ${counted(data.edges.length, "edge")}`;
listeners.push(show);
choose(data.nodes.some((node) => node.id === data.chosen) ? data.chosen : null);
fit(false);
