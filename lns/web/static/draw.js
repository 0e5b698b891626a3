// Boards and pieces as SVG: four triangles a cell, a pattern over every colour beyond the first eight.
import { h, s } from "./elements.js";

const CELL = 24, HALF = 12, RIM = 6;
const TRIANGLES = ["M0 0h24L12 12z", "M24 0v24L12 12z", "M0 24h24L12 12z", "M0 0v24L12 12z"];
const SIDES = ["up", "right", "down", "left"];

let look = null, own = {};
let drawings = 0;

/** Must be called once with the answer of the server to `setup`. */
export function useColours(setup) {
  look = setup;
}

/** Colours of one's own, #rrggbb by number of the colour. */
export function chooseColours(chosen) {
  own = Object.fromEntries(Object.entries(chosen).filter(([, code]) => /^#[0-9a-f]{6}$/i.test(code)));
}

export const colourOf = (colour) => own[colour] ?? (colour === 0 ? look.grey : look.palette[(colour - 1) % look.palette.length]);
const patternOf = (colour) => own[colour] ? 0 : Math.floor(Math.max(0, colour - 1) / 8);

/** What a reader of the screen hears of a piece. */
export const spoken = (quad) => SIDES.map((side, i) => `${side} ${quad[i] === 0 ? "grey" : quad[i]}`).join(", ");

function patterns(colours, prefix) {
  const numbers = [...new Set(colours.map(patternOf))].filter(Boolean);
  return s("defs", {}, numbers.map((number) => {
    const [ink, motif, slant] = look.patterns[(number - 1) % look.patterns.length];
    const apart = 4 + Math.floor((number - 1) / look.patterns.length);
    const mark = motif === "line"
      ? s("path", { stroke: ink, "stroke-width": ".8", "stroke-opacity": ".6", d: `M0 .5h${apart}` })
      : s("circle", { cx: 1, cy: 1, r: ".8", fill: ink, "fill-opacity": ".7" });
    return s("pattern", { id: `${prefix}${number}`, width: apart, height: apart, patternUnits: "userSpaceOnUse", patternTransform: `rotate(${slant})` }, mark);
  }));
}

/** The triangle at a side, with its pattern if the colour has one. */
function triangle(colour, side, prefix) {
  const plain = s("path", { d: TRIANGLES[side], fill: colourOf(colour), stroke: "#000", "stroke-opacity": ".55", "stroke-width": ".5" });
  return patternOf(colour) ? [plain, s("path", { d: TRIANGLES[side], fill: `url(#${prefix}${patternOf(colour)})` })] : [plain];
}

/** The four triangles of a piece. */
const triangles = (quad, prefix) => quad.flatMap((colour, side) => triangle(colour, side, prefix));

/** A piece alone, as a small picture. */
export function pieceSvg(quad, title = "") {
  const prefix = `t${++drawings}-`;
  return s("svg", { viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false" }, patterns(quad, prefix),
    title ? s("title", {}, title) : null, triangles(quad, prefix));
}

/** A colour alone. */
export function swatch(colour) {
  const prefix = `t${++drawings}-`;
  return s("svg", { viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false" }, patterns([colour], prefix),
    s("rect", { width: 24, height: 24, fill: colourOf(colour) }),
    patternOf(colour) ? s("rect", { width: 24, height: 24, fill: `url(#${prefix}${patternOf(colour)})` }) : null);
}

const barPath = (cell, side, width) => {
  const x = RIM + CELL * (cell % width) + (side === 1 ? CELL : 0), y = RIM + CELL * Math.floor(cell / width) + (side === 2 ? CELL : 0);
  return side % 2 ? `M${x} ${y + 2}v${CELL - 4}` : `M${x + 2} ${y}h${CELL - 4}`;
};
const squarePath = (cells, width, inset) => cells.map((cell) => {
  const x = RIM + CELL * (cell % width) + inset, y = RIM + CELL * Math.floor(cell / width) + inset, size = CELL - 2 * inset;
  return `M${x} ${y}h${size}v${size}h-${size}z`;
}).join("");

/** A board that can be redrawn cell by cell; a grid for screen readers and the keyboard. */
export class BoardView {
  constructor(puzzle, { label = "board", still = false } = {}) {
    this.puzzle = puzzle;
    this.prefix = `b${++drawings}-`;
    const width = 2 * RIM + CELL * puzzle.width, height = 2 * RIM + CELL * puzzle.height;
    this.cells = [];
    this.contents = [];
    const rows = [];
    for (let row = 0; row < puzzle.height; row++) {
      const line = s("g", still ? {} : { role: "row" });
      for (let column = 0; column < puzzle.width; column++) {
        const cell = row * puzzle.width + column;
        const content = s("g");
        const group = s("g", {
          transform: `translate(${RIM + CELL * column} ${RIM + CELL * row})`, "data-cell": cell,
          role: still ? null : "gridcell", tabindex: still ? null : cell === 0 ? "0" : "-1",
        }, content, still ? null : s("rect", { class: "ring dark", x: 1.5, y: 1.5, width: 21, height: 21 }),
          still ? null : s("rect", { class: "ring", x: 1.5, y: 1.5, width: 21, height: 21 }));
        this.cells.push(group);
        this.contents.push(content);
        line.append(group);
      }
      rows.push(line);
    }
    this.heat = s("g", { "pointer-events": "none" });
    this.clues = s("g", { "pointer-events": "none", fill: "none" });
    this.bars = s("g", { "pointer-events": "none", "stroke-linecap": "round", fill: "none" });
    this.chosen = s("g", { "pointer-events": "none" });
    this.svg = s("svg", {
      class: still ? "board still" : "board", viewBox: `0 0 ${width} ${height}`, role: still ? "img" : "grid", "aria-label": label,
      "aria-rowcount": still ? null : puzzle.height, "aria-colcount": still ? null : puzzle.width,
    }, patterns(puzzle.colours, this.prefix), s("rect", { width, height, fill: look.grey }), rows, this.heat, this.clues, this.bars, this.chosen);
  }

  /** Draw some cells again, null for all. */
  draw(placements, pinned = new Set(), cells = null) {
    for (const cell of cells ?? placements.keys()) {
      const oriented = placements[cell], group = this.cells[cell], content = this.contents[cell];
      const where = this.puzzle.label(cell);
      if (this.puzzle.hole.has(cell)) {
        content.replaceChildren(s("rect", { class: "hole", width: CELL, height: CELL }));
        group.setAttribute("aria-label", `${where}, hole`);
      } else if (oriented < 0) {
        content.replaceChildren(s("rect", { class: "empty", width: CELL, height: CELL }),
          s("path", { d: "M9 12h6M12 9v6", stroke: look.grey, fill: "none" }));
        group.setAttribute("aria-label", `${where}, empty`);
      } else {
        const quad = this.puzzle.quad(oriented);
        content.replaceChildren(...triangles(quad, this.prefix),
          ...(pinned.has(cell) ? [s("path", { d: "M12 8.2l3.8 3.8-3.8 3.8-3.8-3.8z", fill: "#fff", stroke: "#000" })] : []));
        group.setAttribute("aria-label", `${where}, piece ${(oriented >> 2) + 1}: ${spoken(quad)}${pinned.has(cell) ? ", pinned" : ""}`);
      }
    }
  }

  /** Draw triangles that have a colour, before it is known which piece they are of: cell -> [four colours, null for none; piece or null]. */
  paint(known) {
    for (let cell = 0; cell < this.cells.length; cell++) {
      if (this.puzzle.hole.has(cell)) { this.draw([-1], new Set(), [cell]); continue; }
      const [quad, piece] = known.get(cell) ?? [[null, null, null, null], null];
      const look = JSON.stringify([quad, piece]);
      if (this.painted?.[cell] === look) continue;
      (this.painted ??= [])[cell] = look;
      this.contents[cell].replaceChildren(s("rect", { class: "empty", width: CELL, height: CELL }), s("path", { d: "M0 0l24 24M24 0L0 24", stroke: "#000", "stroke-width": .5 }),
        ...quad.flatMap((colour, side) => (colour === null ? [] : triangle(colour, side, this.prefix))),
        ...(piece === null ? [] : [s("text", { x: HALF, y: 15.5, "text-anchor": "middle", "font-size": 9, fill: "#fff", stroke: "#000", "stroke-width": 2, "paint-order": "stroke" }, String(piece + 1))]));
      const colours = SIDES.map((side, i) => `${side} ${quad[i] === null ? "open" : quad[i] === 0 ? "grey" : quad[i]}`).join(", ");
      this.cells[cell].setAttribute("aria-label", `${this.puzzle.label(cell)}, ${piece === null ? "no piece yet" : `piece ${piece + 1}`}: ${colours}`);
    }
  }

  /** Mark mismatched joints and broken rules of the rim with red bars edged in white. */
  mark(judged) {
    const path = [...judged.mismatches, ...judged.rim].map(([cell, side]) => barPath(cell, side, this.puzzle.width)).join("");
    this.bars.replaceChildren(s("path", { d: path, stroke: "#fff", "stroke-width": 5.2 }), s("path", { d: path, stroke: look.mismatch, "stroke-width": 3.4 }));
    const outlines = squarePath([...this.puzzle.clueOf.keys()], this.puzzle.width, 2);
    this.clues.replaceChildren(s("path", { d: outlines, stroke: "#000", "stroke-width": 3.4 }), s("path", { d: outlines, stroke: look.clue, "stroke-width": 1.8 }));
  }

  /** Outline chosen cells. */
  select(cells) {
    const path = squarePath([...cells], this.puzzle.width, 1.2);
    this.chosen.replaceChildren(s("path", { d: path, class: "selected white" }), s("path", { d: path, class: "selected" }));
    this.cells.forEach((group, cell) => {
      if (cells.has(cell)) group.setAttribute("aria-selected", "true");
      else group.removeAttribute("aria-selected");
    });
  }

  /** Shade cells: a colour and an opacity by cell; null for none. A sign stands in the cell for those who see no hue. */
  shade(byCell) {
    this.heat.replaceChildren(...[...byCell].map(([cell, [colour, opacity, sign]]) => {
      const x = RIM + CELL * (cell % this.puzzle.width), y = RIM + CELL * Math.floor(cell / this.puzzle.width);
      return s("g", {}, s("rect", { x, y, width: CELL, height: CELL, fill: colour, "fill-opacity": opacity }),
        sign ? s("text", { x: x + HALF, y: y + 16, "text-anchor": "middle", "font-size": 12, fill: "#fff", stroke: "#000", "stroke-width": 2.2, "paint-order": "stroke" }, sign) : null);
    }));
  }

  cellOf(target) {
    const group = target?.closest?.("[data-cell]");
    return group && this.svg.contains(group) ? Number(group.dataset.cell) : -1;
  }

  focus(cell) {
    this.cells.forEach((group, other) => group.setAttribute("tabindex", other === cell ? "0" : "-1"));
    this.cells[cell].focus();
  }

  get focused() {
    return this.cellOf(document.activeElement);
  }
}

/** A small board that only shows something. */
export function picture(puzzle, placements, judged, label) {
  const view = new BoardView(puzzle, { label, still: true });
  view.draw(placements);
  view.mark(judged);
  return view.svg;
}

/** The cell, tray or nothing under a point of the screen. */
export const under = (x, y) => document.elementFromPoint(x, y);

/** A picture that follows the pointer while something is dragged. */
export function ghostOf(quad, size) {
  const ghost = h("div", { class: "ghost", "aria-hidden": "true" }, pieceSvg(quad));
  ghost.style.width = ghost.style.height = `${size}px`;
  document.body.append(ghost);
  return ghost;
}
