// Boards and pieces as SVG: four triangles a cell, each with half of the motif of its colour.
import { h, s } from "./elements.js";

const CELL = 24, HALF = 12, RIM = 8, MOST_ZOOM = 8, LEAST_SEEN = 2 * CELL;
const TRIANGLES = ["M0 0h24L12 12z", "M24 0v24L12 12z", "M0 24h24L12 12z", "M0 0v24L12 12z"];
const SIDES = ["up", "right", "down", "left"];

let look = null, own = {}, flat = false;

/** Must be called once with the answer of the server to `setup`. */
export function useColours(setup) {
  look = setup;
}

/** Colours of one's own, #rrggbb by number of the colour. */
export function chooseColours(chosen) {
  own = Object.fromEntries(Object.entries(chosen).filter(([, code]) => /^#[0-9a-f]{6}$/i.test(code)));
}

export const colourOf = (colour) => own[colour] ?? (colour === 0 ? look.grey : look.palette[(colour - 1) % look.palette.length]);

/** Whether colours have no motifs. */
export function chooseFlat(chosen) {
  flat = chosen;
}

/** Black or white, whichever stands out more on a colour, #rrggbb. */
function inkOn(ground) {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(ground.slice(at, at + 2), 16));
  return 0.299 * red + 0.587 * green + 0.114 * blue > 120 ? "#000" : "#fff";
}

/** A colour in words: mates have one number, and one of them is drawn as a hole. */
export function nameOf(puzzle, colour) {
  const first = puzzle.first(colour);
  return first === colour ? (colour === 0 ? "grey" : String(colour)) : `hole of ${first}`;
}

/** What a reader of the screen hears of a piece. */
export const spoken = (puzzle, quad) => SIDES.map((side, i) => `${side} ${nameOf(puzzle, quad[i])}`).join(", ");

/** What a colour fills: that of its pair; half covered by ink for the second mate where no motif tells it from the first. */
function fillOf(puzzle, colour) {
  const first = puzzle.first(colour), ground = colourOf(first);
  return first === colour || !flat ? ground : `color-mix(in srgb, ${ground}, ${inkOn(ground)})`;
}

/** The half motif of a colour at a side, from the 25th to the 48th colour as an outline; of a second mate, as a hole in a plate. */
function motif(puzzle, colour, side) {
  const first = puzzle.first(colour), number = first - 1, ground = colourOf(first), ink = inkOn(ground), paint = first === colour ? ink : ground;
  const hollow = Math.floor(number / look.motifs.length) % 2 === 1, transform = `rotate(${90 * side} 12 12) translate(12 0)`;
  const shape = s("path", { class: "motif", d: look.motifs[number % look.motifs.length], transform,
    ...(hollow ? { fill: "none", stroke: paint, "stroke-width": "1.1" } : { fill: paint }) });
  return first === colour ? [shape] : [s("path", { d: look.socket, transform, fill: ink }), shape];
}

/** The triangle at a side, and its half motif. */
function triangle(puzzle, colour, side) {
  const plain = s("path", { d: TRIANGLES[side], fill: fillOf(puzzle, colour), stroke: "#000", "stroke-opacity": ".55", "stroke-width": ".5" });
  return colour === 0 || flat ? [plain] : [plain, ...motif(puzzle, colour, side)];
}

/** The four triangles of a piece. */
const triangles = (puzzle, quad) => quad.flatMap((colour, side) => triangle(puzzle, colour, side));

/** A piece alone, as a small picture. */
export function pieceSvg(puzzle, quad) {
  return s("svg", { viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false" }, triangles(puzzle, quad));
}

/** A colour alone. */
export function swatch(puzzle, colour) {
  const halves = flat ? [] : ["translate(0 12)", "rotate(180 12 12) translate(0 12)"];
  return s("svg", { viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false" }, s("rect", { width: 24, height: 24, fill: fillOf(puzzle, colour) }),
    halves.map((transform) => s("g", { transform }, motif(puzzle, colour, 0))));
}

/** What is seen around a board: the frame, or the colour that all sides along its edge have. */
const groundOf = (puzzle) => (puzzle.framed ? look.grey : puzzle.rim ? colourOf(puzzle.first(puzzle.rim)) : "#ffffff");

const barPath = (cell, side, width) => {
  const x = RIM + CELL * (cell % width) + (side === 1 ? CELL : 0), y = RIM + CELL * Math.floor(cell / width) + (side === 2 ? CELL : 0);
  return side % 2 ? `M${x} ${y + 2}v${CELL - 4}` : `M${x + 2} ${y}h${CELL - 4}`;
};
const squarePath = (cells, width, inset) => cells.map((cell) => {
  const x = RIM + CELL * (cell % width) + inset, y = RIM + CELL * Math.floor(cell / width) + inset, size = CELL - 2 * inset;
  return `M${x} ${y}h${size}v${size}h-${size}z`;
}).join("");

/** The number of a piece, from 1, in the middle of its cell. */
const numberOf = (piece) => s("text", { x: HALF, y: 15.5, "text-anchor": "middle", "font-size": 9, fill: "#fff", stroke: "#000", "stroke-width": 2, "paint-order": "stroke" }, String(piece + 1));

/** The numbers of columns and rows on the rim. */
function labels(puzzle) {
  const label = (x, y, number) => s("text", { x, y, "text-anchor": "middle", "font-size": 6 }, String(number));
  const middle = (number) => RIM + CELL * number + HALF;
  return s("g", { "pointer-events": "none", "aria-hidden": "true", fill: inkOn(groundOf(puzzle)) }, [...Array(puzzle.width).keys()].map((column) => label(middle(column), RIM - 2, column)),
    [...Array(puzzle.height).keys()].map((row) => label(RIM / 2, middle(row) + 2, row)));
}

/** A board that can be redrawn cell by cell; a grid for screen readers and the keyboard. */
export class BoardView {
  constructor(puzzle, { label = "board", still = false } = {}) {
    this.puzzle = puzzle;
    this.numbered = false;  // whether each piece shows its number, from 1
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
    this.asking = s("g", { "pointer-events": "none" });
    this.svg = s("svg", {
      class: still ? "board still" : "board", viewBox: `0 0 ${width} ${height}`, role: still ? "img" : "grid", "aria-label": label,
      "aria-rowcount": still ? null : puzzle.height, "aria-colcount": still ? null : puzzle.width,
    }, s("rect", { width, height, fill: groundOf(puzzle) }), rows, this.heat, this.clues, this.bars, this.chosen, this.asking, labels(puzzle));
    this.size = [width, height];
    this.least = Math.max(width / MOST_ZOOM, Math.min(width, LEAST_SEEN), width * Math.min(1, LEAST_SEEN / height));  // width of the smallest part
    this.seen = [0, 0, width, height];  // left, top, width and height of the part that is shown
    if (!still) this.listen();
  }

  // -- zoom: Ctrl and the wheel, two fingers, the keys + - 0, and the middle button to pan

  listen() {
    const fingers = new Map(), gone = new AbortController(), { signal } = gone;
    const center = () => { const all = [...fingers.values()]; return [(all[0][0] + all[1][0]) / 2, (all[0][1] + all[1][1]) / 2, Math.hypot(all[0][0] - all[1][0], all[0][1] - all[1][1])]; };
    this.svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && this.seen[2] === this.size[0] && this.focused < 0) return;  // the page scrolls
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 500), event.clientX, event.clientY);
    }, { passive: false });
    this.svg.addEventListener("keydown", (event) => {
      const factor = { "+": 1.25, "=": 1.25, "-": 0.8, 0: 1 / MOST_ZOOM }[event.key];
      if (!factor || event.ctrlKey || event.metaKey || this.focused < 0) return;
      const at = this.cells[this.focused].getBoundingClientRect();
      this.zoom(factor, at.x + at.width / 2, at.y + at.height / 2);
      event.preventDefault();
    });
    this.svg.addEventListener("pointerdown", (event) => {
      if (event.button === 1) { event.preventDefault(); fingers.clear(); fingers.set("middle", [event.clientX, event.clientY]); }
      if (event.pointerType !== "touch") return;
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
      if (fingers.size === 2) dispatchEvent(new Event("pointercancel"));  // what the first finger began
    });
    addEventListener("pointermove", (event) => {
      if (!this.svg.isConnected) { gone.abort(); return; }  // another board has taken its place
      const middle = fingers.get("middle"), was = middle ?? fingers.get(event.pointerId);
      if (!was) return;
      if (middle) {
        fingers.set("middle", [event.clientX, event.clientY]);
        this.pan(event.clientX - was[0], event.clientY - was[1]);
      } else if (fingers.size === 2) {
        const [x, y, apart] = center();
        fingers.set(event.pointerId, [event.clientX, event.clientY]);
        const [toX, toY, now] = center();
        this.zoom(now / Math.max(apart, 1), x, y);
        this.pan(toX - x, toY - y);
      } else fingers.set(event.pointerId, [event.clientX, event.clientY]);
    }, { signal });
    for (const type of ["pointerup", "pointercancel"]) addEventListener(type, (event) => { fingers.delete(event.pointerId); fingers.delete("middle"); }, { signal });
  }

  /** Show a part that is `factor` times smaller; the point at these coordinates of the screen stays where it is. */
  zoom(factor, clientX, clientY) {
    const from = this.at(clientX, clientY), [width, height] = this.size;
    const shown = Math.min(width, Math.max(this.least, this.seen[2] / factor)), scale = shown / this.seen[2];
    this.seen = [from.x - (from.x - this.seen[0]) * scale, from.y - (from.y - this.seen[1]) * scale, shown, height * shown / width];
    this.clamp();
  }

  /** Move the part that is shown by pixels of the screen. */
  pan(x, y) {
    const from = this.at(0, 0), to = this.at(x, y);
    this.seen[0] -= to.x - from.x;
    this.seen[1] -= to.y - from.y;
    this.clamp();
  }

  at(clientX, clientY) {
    return new DOMPoint(clientX, clientY).matrixTransform(this.svg.getScreenCTM().inverse());
  }

  clamp() {
    for (const axis of [0, 1]) this.seen[axis] = Math.min(Math.max(0, this.seen[axis]), this.size[axis] - this.seen[axis + 2]);
    this.svg.setAttribute("viewBox", this.seen.join(" "));
  }

  /** Draw some cells again, null for all. */
  draw(placements, pinned = new Set(), cells = null) {
    for (const cell of cells ?? placements.keys()) {
      const oriented = placements[cell], group = this.cells[cell], content = this.contents[cell];
      const where = this.puzzle.label(cell);
      if (this.puzzle.hole.has(cell)) {
        content.replaceChildren(s("rect", { class: this.puzzle.rim ? null : "hole", fill: look.grey, width: CELL, height: CELL }));
        group.setAttribute("aria-label", `${where}, hole`);
      } else if (oriented < 0) {
        content.replaceChildren(s("rect", { class: "empty", width: CELL, height: CELL }),
          s("path", { d: "M9 12h6M12 9v6", stroke: look.grey, fill: "none" }));
        group.setAttribute("aria-label", `${where}, empty`);
      } else {
        const quad = this.puzzle.quad(oriented);
        content.replaceChildren(...triangles(this.puzzle, quad),
          ...(pinned.has(cell) ? [s("path", { d: "M12 8.2l3.8 3.8-3.8 3.8-3.8-3.8z", fill: "#fff", stroke: "#000" })] : []),
          ...(this.numbered ? [numberOf(oriented >> 2)] : []));
        group.setAttribute("aria-label", `${where}, piece ${(oriented >> 2) + 1}: ${spoken(this.puzzle, quad)}${pinned.has(cell) ? ", pinned" : ""}`);
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
        ...quad.flatMap((colour, side) => (colour === null ? [] : triangle(this.puzzle, colour, side))),
        ...(piece === null ? [] : [numberOf(piece)]));
      const colours = SIDES.map((side, i) => `${side} ${quad[i] === null ? "open" : nameOf(this.puzzle, quad[i])}`).join(", ");
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

  /** Outline a free cell that was asked about; -1 none. */
  ask(cell) {
    this.asking.replaceChildren(...(cell < 0 ? [] : [s("path", { class: "asked", d: squarePath([cell], this.puzzle.width, 2) })]));
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
    for (const [axis, number] of [[0, cell % this.puzzle.width], [1, Math.floor(cell / this.puzzle.width)]]) {  // a zoomed board follows
      const least = RIM + CELL * number, most = least + CELL, at = least + HALF - this.seen[axis];
      if (at < 0 || at > this.seen[axis + 2]) this.seen[axis] = Math.min(least, Math.max(this.seen[axis], most - this.seen[axis + 2]));
    }
    this.clamp();
  }

  get focused() {
    return this.cellOf(document.activeElement);
  }
}

const LEAST_HEIGHT = 240, BELOW = 12;
/** Keep a board as high as the window has room for, wherever it begins. */
export function fitToWindow(svg) {
  const fit = () => requestAnimationFrame(() => {
    if (!svg.isConnected) { observer.disconnect(); removeEventListener("resize", fit); return; }
    const above = svg.getBoundingClientRect().top + scrollY;
    svg.style.maxHeight = `${Math.max(LEAST_HEIGHT, innerHeight - above - BELOW)}px`;
  });
  const observer = new ResizeObserver(fit);  // what lies above may become higher
  observer.observe(document.querySelector("main"));
  addEventListener("resize", fit);
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
export function ghostOf(puzzle, quad, size) {
  const ghost = h("div", { class: "ghost", "aria-hidden": "true" }, pieceSvg(puzzle, quad));
  ghost.style.width = ghost.style.height = `${size}px`;
  document.body.append(ghost);
  return ghost;
}
