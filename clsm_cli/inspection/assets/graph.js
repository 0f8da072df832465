// The picture: nodes and edges by Cytoscape, names on a canvas above.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const nodes = new Map(data.nodes.map((node) => [node.id, node]));
const container = document.getElementById("picture");
const sheet = document.getElementById("labels");
const pen = sheet.getContext("2d");
const still = matchMedia("(prefers-reduced-motion: reduce)");
const dark = matchMedia("(prefers-color-scheme: dark)");

const spaced = (name) => name.replaceAll("_", " ");
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Of an edge beside the strongest one: most weights are small, and should be told apart too.
const greatest = data.edges.reduce((most, edge) => Math.max(most, edge.weight), 1e-9);
const strength = (edge) => Math.sqrt(edge.weight / greatest);

function look() {
  const [edge, typed, accent, rim] = ["--edge", "--typed", "--accent", "--rim"].map(colour);
  return [
    { selector: "node", style: {
      width: "data(size)", height: "data(size)", shape: "data(shape)",
      "background-color": "data(colour)", "border-width": 1, "border-color": rim,
      "overlay-opacity": 0 } },
    { selector: "edge", style: {
      width: "data(width)", "line-color": edge, "line-opacity": "data(opacity)",
      "curve-style": "bezier", "control-point-step-size": 18, "overlay-opacity": 0 } },
    { selector: "edge[?typed]", style: {
      "line-color": typed, "line-style": "dashed", "line-dash-pattern": [7, 4],
      "line-opacity": 0.8 } },
    { selector: "edge[?directed]", style: {
      "target-arrow-shape": "triangle", "target-arrow-color": typed, "arrow-scale": 0.8 } },
    { selector: ".off", style: { display: "none" } },
    { selector: ".dim", style: { opacity: 0.13 } },
    { selector: "edge.lit", style: { "line-opacity": 1, "z-index": 5 } },
    { selector: "node.hovered", style: { "border-color": typed, "border-width": 3 } },
    { selector: "node.chosen", style: { "border-color": accent, "border-width": 4 } },
  ];
}

// The layout begins on a ring, members of a community side by side; nothing is drawn by chance.
const ring = [...data.nodes].sort((a, b) => a.group - b.group || (a.id < b.id ? -1 : 1));
const starts = new Map(ring.map((node, place) => {
  const [angle, radius] = [2 * Math.PI * place / ring.length, 60 * Math.sqrt(ring.length)];
  return [node.id, { x: radius * Math.cos(angle), y: 0.7 * radius * Math.sin(angle) }];
}));
// Cytoscape looks ids up in plain objects, where one like "constructor" stands already.
const key = (id) => `node ${id}`;
const idOf = (node) => node.id().slice("node ".length);
// Every round looks at all pairs: a large graph gets fewer.
const rounds = Math.min(1000, Math.max(50, Math.round(4e7 / ring.length ** 2)));

const cy = cytoscape({
  container,
  elements: {
    nodes: data.nodes.map((node) => ({
      data: { id: key(node.id), size: node.size, kind: node.kind,
              shape: data.kinds[node.kind].shape, colour: data.kinds[node.kind].colour },
      position: starts.get(node.id),
    })),
    edges: data.edges.map((edge, place) => ({
      data: { id: `edge ${place}`, source: key(edge.source), target: key(edge.target), type: edge.type,
              weight: edge.weight, typed: edge.type !== "co_occurs", directed: edge.directed,
              inside: nodes.get(edge.source).group === nodes.get(edge.target).group,
              room: (nodes.get(edge.source).size + nodes.get(edge.target).size) / 2,
              width: 0.8 + 2.4 * strength(edge), opacity: 0.25 + 0.5 * strength(edge) },
    })),
  },
  style: look(),
  layout: {
    name: "cose", animate: false, fit: false, randomize: false, componentSpacing: 60,
    nodeOverlap: 20, nodeRepulsion: () => 40000, gravity: 0.6, numIter: rounds,
    idealEdgeLength: (edge) => (edge.data("inside") ? 60 : 160) + edge.data("room"),
    edgeElasticity: (edge) => (edge.data("inside") ? 60 : 400) / (0.25 + 0.75 * edge.data("weight")),
  },
  minZoom: 0.08,
  maxZoom: 6,
  boxSelectionEnabled: false,
  autounselectify: true,
  hideEdgesOnViewport: data.edges.length > 3000,
});

const state = { chosen: null, hovered: null, kinds: new Set(), types: new Set(), least: 0 };
const listeners = [];  // told when another node is chosen, or none

const shownNodes = () => cy.nodes().filter((node) => !node.hasClass("off"));

// The whole graph in the middle of the room above the legend; a small graph is not blown up.
function fit(animated) {
  const shown = shownNodes();
  if (!shown.length) return;
  const box = shown.boundingBox({ includeLabels: false });
  const [side, top, bottom] = [64, 40, 40 + document.getElementById("kinds").offsetHeight];
  const [width, height] = [container.clientWidth, container.clientHeight];
  const room = [(width - 2 * side) / box.w, (height - top - bottom) / box.h];
  const zoom = Math.max(cy.minZoom(), Math.min(1.6, ...room));
  const pan = { x: width / 2 - (zoom * (box.x1 + box.x2)) / 2,
                y: (height + top - bottom) / 2 - (zoom * (box.y1 + box.y2)) / 2 };
  if (animated && !still.matches) cy.animate({ zoom, pan }, { duration: 250 });
  else cy.viewport({ zoom, pan });
}

function zoomBy(factor) {
  const middle = { x: container.clientWidth / 2, y: container.clientHeight / 2 };
  cy.zoom({ level: cy.zoom() * factor, renderedPosition: middle });
}

// Selecting a node dims all but its neighbourhood; null brings everything back.
function choose(id, { centre = false } = {}) {
  state.chosen = id;
  cy.batch(() => {
    cy.elements().removeClass("dim lit chosen");
    if (id !== null) {
      const node = cy.getElementById(key(id));
      const near = node.closedNeighborhood();
      cy.elements().difference(near).addClass("dim");
      near.edges().addClass("lit");
      node.addClass("chosen");
    }
  });
  if (id !== null && centre) {
    const view = { center: { eles: cy.getElementById(key(id)) }, zoom: Math.max(cy.zoom(), 0.9) };
    if (still.matches) { cy.zoom(view.zoom); cy.center(view.center.eles); }
    else cy.animate(view, { duration: 250 });
  }
  for (const listener of listeners) listener(id);
}

function filter() {
  cy.batch(() => {
    cy.nodes().forEach((node) => { node.toggleClass("off", state.kinds.has(node.data("kind"))); });
    cy.edges().forEach((edge) => {
      edge.toggleClass("off", state.types.has(edge.data("type")) || edge.data("weight") < state.least);
    });
  });
  if (state.chosen !== null && cy.getElementById(key(state.chosen)).hasClass("off")) choose(null);
}

// Names keep one size on the screen. The important ones are placed first, each at the first of four
// sides where it fits and covers neither a node nor a name; what finds no place waits for a closer look.
const widths = new Map();

function widthOf(text, font) {
  const key = `${font} ${text}`;
  if (!widths.has(key)) { pen.font = font; widths.set(key, pen.measureText(text).width); }
  return widths.get(key);
}

const overlap = (a, b) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

function sides(at, w, h) {
  const gap = at.r + 3;
  return [
    { x: at.x - w / 2, y: at.y + gap, w, h }, { x: at.x + gap + 2, y: at.y - h / 2, w, h },
    { x: at.x - w / 2, y: at.y - gap - h, w, h }, { x: at.x - gap - 2 - w, y: at.y - h / 2, w, h },
  ];
}

function drawNames() {
  const ratio = devicePixelRatio || 1;
  const [width, height] = [container.clientWidth, container.clientHeight];
  if (sheet.width !== Math.round(width * ratio) || sheet.height !== Math.round(height * ratio)) {
    sheet.width = Math.round(width * ratio);
    sheet.height = Math.round(height * ratio);
  }
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  const zoom = cy.zoom();
  const places = shownNodes().map((node) => {
    const at = node.renderedPosition();
    const radius = (node.data("size") / 2) * zoom;
    const first = node.hasClass("chosen") || idOf(node) === state.hovered;
    const rank = first ? 2 : node.hasClass("dim") ? 0 : 1;
    return { id: idOf(node), x: at.x, y: at.y, r: radius, size: node.data("size"), rank };
  });
  places.sort((a, b) => b.rank - a.rank || b.size - a.size || (a.id < b.id ? -1 : 1));
  const taken = places.map(({ x, y, r, id }) => (
    { x: x - 0.8 * r, y: y - 0.8 * r, w: 1.6 * r, h: 1.6 * r, id }));
  for (const at of places) {
    if (at.rank === 0) break;
    const name = nodes.get(at.id).short;
    const points = Math.round(11 + Math.min(4, at.size / 14));
    const font = `${at.rank === 2 ? 600 : 400} ${points}px system-ui, "DejaVu Sans", sans-serif`;
    const options = sides(at, widthOf(name, font), points * 1.2);
    const free = options.find((box) => box.x >= 2 && box.x + box.w <= width - 2
      && !taken.some((other) => other.id !== at.id && overlap(box, other)));
    const box = free || (at.rank === 2 ? options[0] : null);
    if (box) { taken.push(box); write(name, box, font); }
  }
  nameEdges(taken);
}

function write(text, box, font) {
  pen.font = font;
  pen.textBaseline = "middle";
  pen.lineJoin = "round";
  pen.lineWidth = 4;
  pen.strokeStyle = paper.halo;
  pen.fillStyle = paper.ink;
  pen.strokeText(text, box.x, box.y + box.h / 2);
  pen.fillText(text, box.x, box.y + box.h / 2);
}

// The types of the chosen node's edges, where there is room for the word.
function nameEdges(taken) {
  const font = '11px system-ui, "DejaVu Sans", sans-serif';
  cy.edges(".lit[?typed]").forEach((edge) => {
    if ([edge, edge.source(), edge.target()].some((each) => each.hasClass("off"))) return;
    const text = spaced(edge.data("type"));
    const [w, middle] = [widthOf(text, font), edge.renderedMidpoint()];
    const box = { x: middle.x - w / 2, y: middle.y - 7, w, h: 14 };
    if (!taken.some((other) => overlap(box, other))) { taken.push(box); write(text, box, font); }
  });
}

const paper = {};
function repaint() {
  paper.halo = colour("--paper");
  paper.ink = colour("--ink");
  cy.style(look());
}

repaint();
cy.on("render", drawNames);
cy.on("tap", "node", (event) => choose(idOf(event.target)));
cy.on("tap", (event) => { if (event.target === cy) choose(null); });
cy.on("mouseover", "node", (event) => {
  state.hovered = idOf(event.target);
  event.target.addClass("hovered");
  container.style.cursor = "pointer";
});
cy.on("mouseout", "node", (event) => {
  state.hovered = null;
  event.target.removeClass("hovered");
  container.style.cursor = "";
});
dark.addEventListener("change", repaint);

// Until somebody moves it, the picture fills whatever window it gets.
let isMoved = false;
for (const name of ["pointerdown", "wheel", "keydown"]) {
  container.addEventListener(name, () => { isMoved = true; }, { passive: true });
}
new ResizeObserver(() => {
  cy.resize();
  if (!isMoved) fit(false);
  drawNames();
}).observe(container);
