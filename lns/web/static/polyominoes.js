// Polyominoes on a grid, as Perrin & Beaujard: place, turn and flip by hand; solve, stop, replay.
import { ask, complain, count, download, find, getSetup, h, job, onFile, put, putFacts, s, safely, say, textOf } from "./common.js";
import { under, useColours } from "./draw.js";
import { SIDE, drawCell, gridSvg, placedOn, replay, sparingly } from "./grid_view.js";

let grid = null, placed = new Map(), fixed = new Set(), held = null, current = 0, past = [], future = [], running = null, overlay = null, dragged = null;
const numbersOf = (row, column) => row * grid.rows[0].length + column;

// -- shapes

function normal(cells) {
  const top = Math.min(...cells.map(([row]) => row)), left = Math.min(...cells.map(([, column]) => column));
  return cells.map(([row, column]) => [row - top, column - left]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
}
const turned = (shape) => normal(shape.map(([row, column]) => [column, -row]));
const flipped = (shape) => normal(shape.map(([row, column]) => [row, -column]));

// -- drawing

function draw(pieces = placed) {
  const within = document.activeElement?.dataset?.cell !== undefined;
  const svg = gridSvg(grid, pieces, { fixed, focused: current, click: chooseCell, keydown: press, focusin: (event) => { current = Number(event.target.dataset.cell); } });
  overlay = s("g", { class: "preview", "pointer-events": "none" });
  svg.append(overlay);
  put(find("place"), svg);
  if (within) svg.querySelector(`[data-cell="${current}"]`)?.focus();
}

function drawPieces() {
  const loose = Object.keys(grid.pieces).filter((name) => !placed.has(name));
  find("pieces-head").textContent = `Pieces: ${loose.length} not placed`;
  put(find("pieces"), loose.map((name) => {
    const shape = held?.name === name ? held.shape : grid.pieces[name];
    const height = Math.max(...shape.map(([row]) => row)) + 1, width = Math.max(...shape.map(([, column]) => column)) + 1, side = Math.max(height, width);
    return h("button", { type: "button", "data-name": name, "aria-label": `piece ${name}, ${shape.length} cells`, "aria-pressed": String(held?.name === name), click: (event) => choosePiece(name, shape, event.detail === 0), pointerdown: (event) => dragPiece(event, name, shape) }, shapeSvg(name, shape, side));
  }));
  find("undo").disabled = !past.length || running !== null;
  find("redo").disabled = !future.length || running !== null;
  for (const id of ["turn", "flip"]) find(id).disabled = !held || running !== null;
  if (!loose.length && !running) { find("fill-said").textContent = "The grid is filled."; find("fill-said").className = "good"; }
  else { find("fill-said").textContent = held ? `Piece ${held.name}: choose the cell of its first cell. R turns, F flips.` : "Drag a piece onto the grid, or choose it, then a cell: its first cell goes there. R or the wheel turns, F flips."; find("fill-said").className = "soft"; }
}

/** A piece alone, in a square of `side` cells. */
const shapeSvg = (name, shape, side) => s("svg", { viewBox: `-2 -2 ${side * SIDE + 4} ${side * SIDE + 4}`, "aria-hidden": "true" }, shape.map(([row, column]) => drawCell(grid, SIDE * column, SIDE * row, name)));

function refresh() { draw(); drawPieces(); }

/** Take a piece up, or let it go; with the keyboard the focus goes on to the grid. */
function choosePiece(name, shape, byKey) {
  held = held?.name === name ? null : { name, shape };
  drawPieces();
  if (!byKey) return;
  if (held) find("place").querySelector("[tabindex='0']").focus();
  else find("pieces").querySelector(`[data-name="${name}"]`).focus();
}

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

/** The cells of the chosen piece, [row, column], with its first cell on this one, and whether it fits there. */
function footprint(cell) {
  const width = grid.rows[0].length, row0 = Math.floor(cell / width), column0 = cell % width;
  const taken = new Set([...placed.values()].flat()), [first] = held.shape;
  const cells = held.shape.map(([row, column]) => [row0 + row - first[0], column0 + column - first[1]]);
  const fits = cells.every(([row, column]) => row >= 0 && column >= 0 && row < grid.rows.length && column < width && grid.rows[row][column] !== "#" && !taken.has(numbersOf(row, column)));
  return { cells, fits };
}

/** The cell of the grid under a point of the screen, -1 elsewhere. */
function cellUnder(x, y) {
  const group = under(x, y)?.closest?.("#place [data-cell]");
  return group ? Number(group.dataset.cell) : -1;
}

/** Show where the chosen piece would lie. */
function preview(cell) {
  const { cells, fits } = held && !running && cell >= 0 ? footprint(cell) : { cells: [], fits: false };
  put(overlay, cells.map(([row, column]) => s("rect", { x: SIDE * column, y: SIDE * row, width: SIDE, height: SIDE, fill: fits ? "#fff" : "#f00", "fill-opacity": .45, stroke: "#000" })));
}

/** Drag a piece from the tray: R or the wheel turns it, F flips it, a second finger turns it too. A press without a move chooses it. */
function dragPiece(event, name, shape) {
  if (event.button !== 0 || running || dragged || !event.isPrimary) return;
  const [x0, y0] = [event.clientX, event.clientY], side = find("place").querySelector("[data-cell]").getBoundingClientRect().width;
  let ghost = null, at = [x0, y0];
  const paint = () => {
    const [first] = held.shape, square = Math.max(...held.shape.flat()) + 1;
    ghost.style.width = `${side * square}px`;
    put(ghost, shapeSvg(name, held.shape, square));
    ghost.style.transform = `translate(${at[0] - side * (first[1] + .5)}px, ${at[1] - side * (first[0] + .5)}px)`;
    preview(cellUnder(...at));
  };
  const move = (moved) => {
    if (moved.pointerId !== event.pointerId) return;
    at = [moved.clientX, moved.clientY];
    if (!ghost && Math.hypot(at[0] - x0, at[1] - y0) <= 4) return;
    if (!ghost) {
      held = { name, shape };
      dragged = paint;
      ghost = h("div", { class: "ghost", "aria-hidden": "true" });
      document.body.append(ghost);
    }
    paint();
  };
  const wheel = (turning) => { if (ghost) { turning.preventDefault(); alter(turned); } };
  const second = (pressed) => { if (ghost && pressed.pointerId !== event.pointerId) alter(turned); };
  const end = (ended) => {
    if (ended.pointerId !== event.pointerId) return;
    for (const [type, listener] of listeners) removeEventListener(type, listener);
    dragged = null;
    if (!ghost) return;
    ghost.remove();
    const swallow = (click) => click.stopPropagation();  // the end of a drag is no click
    addEventListener("click", swallow, { capture: true, once: true });
    setTimeout(() => removeEventListener("click", swallow, true));
    const cell = ended.type === "pointerup" ? cellUnder(...at) : -1;
    if (cell >= 0) putHere(cell);
    if (!held) return;  // it lies there
    held = null;
    refresh();
    if (cell >= 0) find("fill-said").textContent = `Piece ${name} does not fit there.`;
  };
  const listeners = [["pointermove", move], ["pointerup", end], ["pointercancel", end], ["pointerdown", second]];
  for (const [type, listener] of listeners) addEventListener(type, listener);
  addEventListener("wheel", wheel, { passive: false });
  listeners.push(["wheel", wheel]);
}

/** Place the chosen piece with its first cell here, or take the piece here off. */
function putHere(cell) {
  const here = [...placed].find(([, cells]) => cells.includes(cell));
  if (here && !held) {
    if (fixed.has(here[0])) { say(`piece ${here[0]} is part of the level`); return; }
    const next = new Map(placed);
    next.delete(here[0]);
    change(next, `piece ${here[0]} taken off`);
    return;
  }
  if (!held) return;
  const { cells, fits } = footprint(cell);
  if (!fits) { find("fill-said").textContent = `Piece ${held.name} does not fit there.`; return; }
  change(new Map(placed).set(held.name, cells.map(([row, column]) => numbersOf(row, column))), `piece ${held.name} placed`);
}

function alter(way) {
  if (!held || running) return;
  held.shape = way(held.shape);
  if (dragged) dragged();
  else drawPieces();
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
  else if (event.key === "Escape" && held) choosePiece(held.name, held.shape, true);
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
  placed = placedOn(grid);
  fixed = new Set(placed.keys());
  [held, current, past, future] = [null, 0, [], []];
  find("name").textContent = name;
  find("work").hidden = false;
  find("player").hidden = true;
  find("solve-said").textContent = "";
  put(find("figures"));
  refresh();
}

// -- solve

const CONTROLS = ["play", "cut", "solve", "clear", "undo", "redo", "turn", "flip", "weight", "zones", "dead-ends", "count", "time", "random", "file", "svg", "text"];

const solve = safely(async () => {
  const began = placed, line = find("solve-said");
  line.textContent = "";
  line.className = "";
  find("player").hidden = true;
  for (const id of CONTROLS) find(id).disabled = true;
  running = await job({ kind: "fill", text: text(began), weight: find("weight").value, zones: find("zones").checked, dead_ends: find("dead-ends").checked, count: find("count").checked, time: Number(find("time").value) }, {
    progress: sparingly((message) => {
      draw(new Map([...began, ...message.placed]));
      figures(message);
    }),
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
    if (result.steps?.length) replay("Replay", began, result.steps, draw, true);
  } finally {
    running = null;
    for (const id of CONTROLS) find(id).disabled = false;
    find("stop").disabled = true;
    refresh();
  }
});

function figures(message) {
  putFacts(find("figures"), [["placements tested", count(message.nodes)], ["fillings", count(message.solutions)], ["pruned by zones", count(message.pruned)], message.branches !== undefined && ["branches", count(message.branches)],
    message.deepest !== undefined && ["deepest", `${message.deepest} of ${message.pieces} pieces`], message.options !== undefined && ["possible placements", count(message.options)], ["time", `${message.seconds.toFixed(2)} s`]]);
}

// -- begin

find("place").addEventListener("pointermove", (event) => { if (held && !dragged) preview(cellUnder(event.clientX, event.clientY)); });
find("place").addEventListener("pointerleave", () => { if (overlay && !dragged) put(overlay); });
find("play").addEventListener("click", safely(async () => {
  const name = find("level").value;
  open(await ask(`polyomino/level?name=${encodeURIComponent(name)}`), `IQ Puzzler Pro, ${name}`);
}));
find("random").addEventListener("click", safely(async () => {
  const placedCount = Number(find("placed").value), seed = Number(find("level-seed").value);
  for (const id of CONTROLS) find(id).disabled = true;
  try {
    const made = await (await job({ kind: "level", placed: placedCount, seed, time: 60 })).done;
    open(made, `IQ Puzzler Pro, ${placedCount} placed, number ${seed}`);
  } finally {
    for (const id of CONTROLS) find(id).disabled = false;
    if (grid) refresh();
  }
}));
find("cut").addEventListener("click", safely(async () => {
  const [wide, high] = find("size").value.split("x").map(Number), number = (id) => (find(id).value === "" ? null : Number(find(id).value));
  const width = number("width") ?? wide, height = number("height") ?? high;
  const limits = { smallest: number("smallest"), largest: number("largest"), longest: number("longest"), thinnest: number("thinnest"), distinct: find("distinct").checked };
  open(await ask("polyomino/cut", { width, height, seed: Number(find("seed").value), pieces: Number(find("most").value), ...limits }), `${width} x ${height}, cut at random`);
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
  find("level").append(...setup.levels.map(([name, loose]) => h("option", { value: name }, `${name}, ${loose} to place`)));
  open(await ask("polyomino/read", { text: "" }), "IQ Puzzler Pro, 11 x 5");
}
load().catch(complain);
