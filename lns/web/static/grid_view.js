// A grid of polyominoes as SVG, and the replay of a search that fills it.
import { find, put, s } from "./elements.js";
import { colourOf } from "./draw.js";
import { Player } from "./player.js";

export const SIDE = 24;

const colourOfPiece = (grid, name) => colourOf(1 + (Math.max(0, Object.keys(grid.pieces).indexOf(name)) % 40));

export function drawCell(grid, x, y, name, extra = {}) {
  return s("g", extra, s("rect", { x, y, width: SIDE, height: SIDE, fill: colourOfPiece(grid, name), stroke: "#000", "stroke-width": .6 }),
    s("text", { x: x + 12, y: y + 16.5, "text-anchor": "middle", "font-size": 12, fill: "#000", stroke: "#fff", "stroke-width": 2.2, "paint-order": "stroke" }, name));
}

/** The sides of a set of cells that face none of them. */
function outline(cells, width) {
  const inside = new Set(cells);
  let path = "";
  for (const cell of cells) {
    const x = SIDE * (cell % width), y = SIDE * Math.floor(cell / width);
    if (!inside.has(cell - width)) path += `M${x} ${y}h${SIDE}`;
    if (!inside.has(cell + width)) path += `M${x} ${y + SIDE}h${SIDE}`;
    if (cell % width === 0 || !inside.has(cell - 1)) path += `M${x} ${y}v${SIDE}`;
    if (cell % width === width - 1 || !inside.has(cell + 1)) path += `M${x + SIDE} ${y}v${SIDE}`;
  }
  return s("path", { d: path, fill: "none", stroke: "#000", "stroke-width": 2.4, "stroke-linecap": "round", "pointer-events": "none" });
}

/** The pieces that lie on a grid: name -> cells. */
export function placedOn(grid) {
  const placed = new Map();
  grid.rows.forEach((line, row) => [...line].forEach((sign, column) => {
    if (sign !== "." && sign !== "#") placed.set(sign, [...(placed.get(sign) ?? []), row * line.length + column]);
  }));
  return placed;
}

/** The grid with pieces on it; `click` and `keydown` listen. */
export function gridSvg(grid, pieces, { fixed = new Set(), focused = 0, ...listeners } = {}) {
  const width = grid.rows[0].length, height = grid.rows.length, nameOf = new Map();
  for (const [name, cells] of pieces) for (const cell of cells) nameOf.set(cell, name);
  const lines = grid.rows.map((line, row) => s("g", { role: "row" }, [...line].map((sign, column) => {
    const cell = row * width + column, x = SIDE * column, y = SIDE * row, name = nameOf.get(cell);
    const what = sign === "#" ? "outside" : name ? `piece ${name}${fixed.has(name) ? ", fixed" : ""}` : "free";
    const extra = { role: "gridcell", tabindex: cell === focused ? "0" : "-1", "data-cell": cell, "aria-label": `row ${row}, column ${column}: ${what}` };
    const ring = [s("rect", { class: "ring dark", x: x + 1.5, y: y + 1.5, width: 21, height: 21 }), s("rect", { class: "ring", x: x + 1.5, y: y + 1.5, width: 21, height: 21 })];
    const group = name ? drawCell(grid, x, y, name, extra) : s("g", extra, s("rect", { x, y, width: SIDE, height: SIDE, fill: sign === "#" ? "none" : "#3a3a3a", stroke: sign === "#" ? "none" : "#000", "stroke-width": .5 }));
    group.append(...ring);
    return group;
  })));
  return s("svg", { class: "board", viewBox: `-3 -3 ${SIDE * width + 6} ${SIDE * height + 6}`, role: "grid", "aria-label": "Grid", ...listeners }, lines, [...pieces.values()].map((cells) => outline(cells, width)));
}

/** `draw`, but calls that come before the page had three times as long for clicks and keys as for the last one are left out. */
export function sparingly(draw) {
  let resting = false;
  return (...given) => {
    if (resting) return;
    resting = true;
    const began = performance.now();
    draw(...given);
    requestAnimationFrame(() => setTimeout(() => setTimeout(() => { resting = false; }, 3 * (performance.now() - began))));  // the frame is painted between both
  };
}

const OUTCOMES = ["", "taken back: a cell or a piece has no place left", "taken back: a zone cannot be filled", "a filling"];

/** Play the steps of a search: `draw` gets the pieces after each. With `later` nothing is drawn before the first step is asked for. */
export function replay(title, began, steps, draw, later = false) {
  let waits = later;
  return new Player(find("player"), title, steps.length, (at) => {
    if (waits) { waits = false; return ""; }
    if (!at) { draw(began); return "before the first piece"; }
    const [level, name, , outcome] = steps[at - 1], stack = [];
    for (let i = at - 1, wanted = level; i >= 0 && wanted >= 0; i--) if (steps[i][0] === wanted) { stack.unshift([steps[i][1], steps[i][2]]); wanted--; }
    draw(new Map([...began, ...stack]));
    return `piece ${name} at depth ${level + 1}${outcome ? `; ${OUTCOMES[outcome]}` : ""}`;
  });
}

/** Play a recorded search on the page. */
export function watchGrid(grid, trace) {
  const began = placedOn(grid), fixed = new Set(began.keys());
  replay(`${trace.solver}: ${trace.steps.length.toLocaleString("en")} steps, ${trace.status}`, began, trace.steps, (pieces) => put(find("place"), gridSvg(grid, pieces, { fixed })));
}
