// Polyominoes on a grid, as Perrin & Beaujard: place, turn and flip by hand; solve, stop, replay.
import { ask, complain, count, download, find, getSetup, h, job, onFile, put, putFacts, s, safely, say, textOf } from "./common.js";
import { colourOf, useColours } from "./draw.js";
import { Player } from "./player.js";

const CELL = 24;
let grid = null, placed = new Map(), fixed = new Set(), held = null, past = [], future = [], running = null;
const colours = new Map();

// -- shapes

function normal(cells) {
  const top = Math.min(...cells.map(([row]) => row)), left = Math.min(...cells.map(([, column]) => column));
  return cells.map(([row, column]) => [row - top, column - left]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
}
const turned = (shape) => normal(shape.map(([row, column]) => [column, -row]));
const flipped = (shape) => normal(shape.map(([row, column]) => [row, -column]));

// -- drawing

const colourOfPiece = (name) => colourOf(colours.get(name) ?? 1);
const numbersOf = (row, column) => row * grid.rows[0].length + column;

function drawCell(x, y, name, extra = {}) {
  return s("g", extra, s("rect", { x, y, width: CELL, height: CELL, fill: colourOfPiece(name), stroke: "#000", "stroke-width": .6 }),
    s("text", { x: x + 12, y: y + 16.5, "text-anchor": "middle", "font-size": 12, fill: "#000", stroke: "#fff", "stroke-width": 2.2, "paint-order": "stroke" }, name));
}

/** The sides of a set of cells that face none of them. */
function outline(cells, width) {
  const inside = new Set(cells);
  let path = "";
  for (const cell of cells) {
    const x = CELL * (cell % width), y = CELL * Math.floor(cell / width);
    if (!inside.has(cell - width)) path += `M${x} ${y}h${CELL}`;
    if (!inside.has(cell + width)) path += `M${x} ${y + CELL}h${CELL}`;
    if (cell % width === 0 || !inside.has(cell - 1)) path += `M${x} ${y}v${CELL}`;
    if (cell % width === width - 1 || !inside.has(cell + 1)) path += `M${x + CELL} ${y}v${CELL}`;
  }
  return s("path", { d: path, fill: "none", stroke: "#000", "stroke-width": 2.4, "stroke-linecap": "round", "pointer-events": "none" });
}

function draw(pieces = placed) {
  const width = grid.rows[0].length, height = grid.rows.length, nameOf = new Map();
  for (const [name, cells] of pieces) for (const cell of cells) nameOf.set(cell, name);
  const focused = document.activeElement?.dataset?.cell;
  const lines = grid.rows.map((line, row) => s("g", { role: "row" }, [...line].map((sign, column) => {
    const cell = numbersOf(row, column), x = CELL * column, y = CELL * row, name = nameOf.get(cell);
    const what = sign === "#" ? "outside" : name ? `piece ${name}${fixed.has(name) ? ", fixed" : ""}` : "free";
    const extra = { role: "gridcell", tabindex: cell === Number(focused ?? 0) ? "0" : "-1", "data-cell": cell, "aria-label": `row ${row + 1}, column ${column + 1}: ${what}` };
    const ring = [s("rect", { class: "ring dark", x: x + 1.5, y: y + 1.5, width: 21, height: 21 }), s("rect", { class: "ring", x: x + 1.5, y: y + 1.5, width: 21, height: 21 })];
    const group = name ? drawCell(x, y, name, extra) : s("g", extra, s("rect", { x, y, width: CELL, height: CELL, fill: sign === "#" ? "none" : "#3a3a3a", stroke: sign === "#" ? "none" : "#000", "stroke-width": .5 }));
    group.append(...ring);
    return group;
  })));
  const svg = s("svg", { class: "board", viewBox: `-3 -3 ${CELL * width + 6} ${CELL * height + 6}`, role: "grid", "aria-label": "Grid", click: chooseCell, keydown: press }, lines, [...pieces.values()].map((cells) => outline(cells, width)));
  put(find("place"), svg);
  if (focused !== undefined) svg.querySelector(`[data-cell="${focused}"]`)?.focus();
}

function drawPieces() {
  const loose = Object.keys(grid.pieces).filter((name) => !placed.has(name));
  find("pieces-head").textContent = `Pieces: ${loose.length} not placed`;
  put(find("pieces"), loose.map((name) => {
    const shape = held?.name === name ? held.shape : grid.pieces[name];
    const height = Math.max(...shape.map(([row]) => row)) + 1, width = Math.max(...shape.map(([, column]) => column)) + 1, side = Math.max(height, width);
    return h("button", { type: "button", "data-name": name, "aria-label": `piece ${name}, ${shape.length} cells`, "aria-pressed": String(held?.name === name), click: () => { held = held?.name === name ? null : { name, shape }; drawPieces(); } },
      s("svg", { viewBox: `-2 -2 ${side * CELL + 4} ${side * CELL + 4}`, "aria-hidden": "true" }, shape.map(([row, column]) => drawCell(CELL * column, CELL * row, name))));
  }));
  find("undo").disabled = !past.length || running !== null;
  find("redo").disabled = !future.length || running !== null;
  for (const id of ["turn", "flip"]) find(id).disabled = !held || running !== null;
  if (!loose.length && !running) { find("fill-said").textContent = "The grid is filled."; find("fill-said").className = "good"; }
  else { find("fill-said").textContent = held ? `Piece ${held.name}: choose the cell of its first cell. R turns, F flips.` : "Choose a piece, then a cell: its first cell goes there."; find("fill-said").className = "soft"; }
}

function refresh() { draw(); drawPieces(); }

// -- by hand

function change(next, what) {
  past.push(placed);
  future = [];
  placed = next;
  held = null;
  refresh();
  say(what);
}

function chooseCell(event) {
  const group = event.target.closest("[data-cell]");
  if (!group || running) return;
  group.focus();
  putHere(Number(group.dataset.cell));
}

/** Place the chosen piece with its first cell here, or take the piece here off. */
function putHere(cell) {
  const width = grid.rows[0].length, row0 = Math.floor(cell / width), column0 = cell % width;
  const here = [...placed].find(([, cells]) => cells.includes(cell));
  if (here && !held) {
    if (fixed.has(here[0])) { say(`piece ${here[0]} is part of the level`); return; }
    const next = new Map(placed);
    next.delete(here[0]);
    change(next, `piece ${here[0]} taken off`);
    return;
  }
  if (!held) return;
  const taken = new Set([...placed.values()].flat()), [first] = held.shape;
  const cells = held.shape.map(([row, column]) => [row0 + row - first[0], column0 + column - first[1]]);
  const fits = cells.every(([row, column]) => row >= 0 && column >= 0 && row < grid.rows.length && column < width && grid.rows[row][column] !== "#" && !taken.has(numbersOf(row, column)));
  if (!fits) { find("fill-said").textContent = `Piece ${held.name} does not fit there.`; return; }
  change(new Map(placed).set(held.name, cells.map(([row, column]) => numbersOf(row, column))), `piece ${held.name} placed`);
}

function alter(way) {
  if (!held || running) return;
  held.shape = way(held.shape);
  drawPieces();
  say(`piece ${held.name} ${way === turned ? "turned" : "flipped"}`);
}

function press(event) {
  const group = event.target.closest("[data-cell]");
  if (!group) return;
  const cell = Number(group.dataset.cell), width = grid.rows[0].length;
  const steps = { ArrowUp: -width, ArrowDown: width, ArrowLeft: cell % width ? -1 : 0, ArrowRight: cell % width < width - 1 ? 1 : 0 };
  if (event.key in steps) {
    const next = find("place").querySelector(`[data-cell="${cell + steps[event.key]}"]`);
    if (next) { group.setAttribute("tabindex", "-1"); next.setAttribute("tabindex", "0"); next.focus(); }
  } else if ((event.key === "Enter" || event.key === " ") && !running) putHere(cell);
  else return;
  event.preventDefault();
}

// -- the text of the grid, as `lns exact polyomino` reads it

function text(pieces) {
  const width = grid.rows[0].length, canvas = grid.rows.map((line) => [...line].map((sign) => (sign === "#" ? "#" : ".")));
  for (const [name, cells] of pieces) for (const cell of cells) canvas[Math.floor(cell / width)][cell % width] = name;
  const pictures = Object.entries(grid.pieces).map(([name, shape]) => {
    const rows = Math.max(...shape.map(([row]) => row)) + 1, columns = Math.max(...shape.map(([, column]) => column)) + 1, filled = new Set(shape.map((cell) => cell.join()));
    return Array.from({ length: rows }, (_, row) => Array.from({ length: columns }, (_, column) => (filled.has(`${row},${column}`) ? name : ".")).join("")).join("\n");
  });
  return `${[canvas.map((line) => line.join("")).join("\n"), ...pictures].join("\n\n")}\n`;
}

function open(fields, name) {
  running?.stop();
  grid = fields;
  colours.clear();
  Object.keys(grid.pieces).forEach((piece, i) => colours.set(piece, 1 + (i % 40)));
  placed = new Map();
  grid.rows.forEach((line, row) => [...line].forEach((sign, column) => {
    if (sign !== "." && sign !== "#") placed.set(sign, [...(placed.get(sign) ?? []), numbersOf(row, column)]);
  }));
  fixed = new Set(placed.keys());
  [held, past, future] = [null, [], []];
  find("name").textContent = name;
  find("work").hidden = false;
  find("player").hidden = true;
  find("solve-said").textContent = "";
  put(find("figures"));
  refresh();
}

// -- solve

const CONTROLS = ["play", "cut", "solve", "clear", "undo", "redo", "turn", "flip", "weight", "zones", "count", "time", "file", "svg", "text"];

const solve = safely(async () => {
  const began = placed, line = find("solve-said");
  line.textContent = "";
  line.className = "";
  find("player").hidden = true;
  for (const id of CONTROLS) find(id).disabled = true;
  running = await job({ kind: "fill", text: text(began), weight: find("weight").value, zones: find("zones").checked, count: find("count").checked, time: Number(find("time").value) }, {
    progress: (message) => {
      draw(new Map([...began, ...message.placed]));
      figures(message);
    },
  }).catch((error) => { for (const id of CONTROLS) find(id).disabled = false; throw error; });
  find("stop").disabled = false;
  try {
    const result = await running.done;
    if (result.steps) figures(result);
    const fillings = `${count(result.solutions ?? 0)} ${result.solutions === 1 ? "filling" : "fillings"}`;
    if (result.status === "solved") line.textContent = find("count").checked ? `All ${fillings}; rotated and mirrored ones count.` : "Filled.";
    else if (result.status === "infeasible") line.textContent = "Proven: there is no filling.";
    else line.textContent = `${result.status === "interrupted" ? "Stopped" : "Time is over"}: ${fillings} so far.`;
    line.className = result.status === "solved" ? "good" : "";
    if (result.filling) {
      const next = new Map();
      result.filling.forEach((row, i) => [...row].forEach((name, column) => { if (name !== "#") next.set(name, [...(next.get(name) ?? []), numbersOf(i, column)]); }));
      past.push(placed);
      future = [];
      placed = next;
    }
    if (result.steps?.length) replay(began, result.steps);
  } finally {
    running = null;
    for (const id of CONTROLS) find(id).disabled = false;
    find("stop").disabled = true;
    refresh();
  }
});

function figures(message) {
  putFacts(find("figures"), [["placements tested", count(message.nodes)], ["fillings", count(message.solutions)], ["pruned by zones", count(message.pruned)],
    message.deepest !== undefined && ["deepest", `${message.deepest} of ${message.pieces} pieces`], message.options !== undefined && ["possible placements", count(message.options)], ["time", `${message.seconds.toFixed(2)} s`]]);
}

const OUTCOMES = ["", "taken back: a cell or a piece has no place left", "taken back: a zone cannot be filled", "a filling"];

/** The pieces after some steps: those of each level up to the last step. */
function replay(began, steps) {
  let first = true;  // the board stays as it ended until the first step is asked for
  new Player(find("player"), "Replay", steps.length, (at) => {
    if (first) { first = false; return ""; }
    if (!at) { draw(began); return "before the first piece"; }
    const [level, name, , outcome] = steps[at - 1], stack = [];
    for (let i = at - 1, wanted = level; i >= 0 && wanted >= 0; i--) if (steps[i][0] === wanted) { stack.unshift([steps[i][1], steps[i][2]]); wanted--; }
    draw(new Map([...began, ...stack]));
    return `piece ${name} at depth ${level + 1}${outcome ? `; ${OUTCOMES[outcome]}` : ""}`;
  });
}

// -- begin

find("play").addEventListener("click", safely(async () => {
  const placedCount = Number(find("tier").value), seed = Number(find("level").value);
  for (const id of CONTROLS) find(id).disabled = true;
  try {
    const made = await (await job({ kind: "level", placed: placedCount, seed, time: 60 })).done;
    open(made, `level ${seed}, ${placedCount} placed`);
  } finally {
    for (const id of CONTROLS) find(id).disabled = false;
    if (grid) refresh();
  }
}));
find("cut").addEventListener("click", safely(async () => {
  const [wide, high] = find("size").value.split("x").map(Number);
  const width = Number(find("width").value) || wide, height = Number(find("height").value) || high;
  open(await ask("polyomino/cut", { width, height, seed: Number(find("seed").value), pieces: Number(find("most").value) }), `${width} x ${height}, cut at random`);
}));
onFile(async (file) => open(await ask("polyomino/read", { text: await textOf(file) }), file.name));
find("turn").addEventListener("click", () => alter(turned));
find("flip").addEventListener("click", () => alter(flipped));
find("undo").addEventListener("click", () => { future.push(placed); placed = past.pop(); refresh(); });
find("redo").addEventListener("click", () => { past.push(placed); placed = future.pop(); refresh(); });
find("clear").addEventListener("click", () => change(new Map([...placed].filter(([name]) => fixed.has(name))), "all taken off"));
find("solve").addEventListener("click", solve);
find("stop").addEventListener("click", () => running?.stop());
find("text").addEventListener("click", () => download("grid.txt", text(placed)));
find("svg").addEventListener("click", () => {
  const copy = find("place").querySelector("svg").cloneNode(true);
  copy.querySelectorAll(".ring").forEach((ring) => ring.remove());
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  download("grid.svg", copy.outerHTML, "image/svg+xml");
});
addEventListener("keydown", (event) => {
  if (event.target.matches("input, textarea, select") || event.ctrlKey || event.metaKey) return;
  if (event.key === "r" || event.key === "R") alter(turned);
  if (event.key === "f" || event.key === "F") alter(flipped);
});

async function load() {
  const setup = await getSetup();
  useColours(setup);
  find("weight").append(...setup.weights.map((name) => h("option", {}, name)));
  open(await ask("polyomino/read", { text: "" }), "IQ Puzzler Pro, 11 x 5");
}
load().catch(complain);
