// A board that is edited by mouse, finger and keyboard, with the tray of its free pieces.
import { find, h, put, say, store } from "./common.js";
import { BoardView, chooseFlat, fitToWindow, ghostOf, nameOf, pieceSvg, spoken, swatch, under } from "./draw.js";
import { Board, judge } from "./model.js";

const MOST_SHOWN = 400;

export class Editor {
  /** The page has elements place, tray, tray-head, filter, undo and redo. `changed` gets the verdict of `judge` after every change. */
  constructor(puzzle, placements, changed) {
    this.puzzle = puzzle;
    this.changed = changed;
    this.board = new Board(puzzle, placements, (cells) => this.refresh(cells));
    this.view = new BoardView(puzzle, { label: `Board of ${puzzle.name}` });
    this.view.numbered = find("numbers").checked;
    this.mode = "move";
    this.selected = new Set();
    this.held = null;
    this.asked = -1;  // a free cell whose pieces the tray shows
    this.colour = 0;
    this.locked = false;
    this.selectionChanged = () => {};
    put(find("place"), this.view.svg);
    fitToWindow(this.view.svg);
    this.listen();
    this.drawFilter();
  }

  // -- what is shown

  refresh(cells) {
    this.view.draw(this.board.placements, this.board.pinned, cells);
    this.judged = judge(this.puzzle, this.board.placements);
    this.view.mark(this.judged);
    this.drawTray();
    find("undo").disabled = !this.board.past.length;
    find("redo").disabled = !this.board.future.length;
    this.changed(this.judged);
  }

  drawFilter() {
    const buttons = [0, ...this.puzzle.colours].map((colour) => h("button", {
      type: "button", "aria-pressed": String(colour === this.colour), "aria-label": colour ? `colour ${nameOf(this.puzzle, colour)}` : "any colour",
      click: () => {
        this.colour = colour;
        buttons.forEach((button, i) => button.setAttribute("aria-pressed", String([0, ...this.puzzle.colours][i] === colour)));
        this.drawTray();
      },
    }, colour ? swatch(this.puzzle, colour) : "all"));
    put(find("filter"), buttons);
  }

  drawTray() {
    const focused = document.activeElement?.closest("#tray button")?.dataset.piece;
    if (this.asked >= 0 && (this.locked || this.board.placements[this.asked] >= 0)) this.asked = -1;
    this.view.ask(this.asked);
    const fits = (piece) => this.asked < 0 || this.board.fits(piece, this.asked);
    const pieces = this.board.free.filter((piece) => (!this.colour || this.puzzle.pieces[piece].includes(this.colour)) && fits(piece));
    find("tray-head").textContent = `Free pieces${this.asked < 0 ? "" : ` that fit ${this.puzzle.label(this.asked)}`}: ${pieces.length}`;
    put(find("tray"), pieces.slice(0, MOST_SHOWN).map((piece) => h("button", {
      type: "button", "data-piece": piece, "aria-label": `piece ${piece + 1}: ${spoken(this.puzzle, this.puzzle.pieces[piece])}`,
      "aria-pressed": String(this.held?.piece === piece), pointerdown: (event) => this.dragFromTray(event, piece),
      click: (event) => { if (event.detail === 0) this.pickFromTray(piece); },
    }, pieceSvg(this.puzzle, this.puzzle.pieces[piece]))));
    if (this.asked >= 0) find("tray").append(h("button", { type: "button", class: "all", click: () => this.askNothing() }, "all"));
    if (focused !== undefined) (find("tray").querySelector(`[data-piece="${focused}"]`) ?? this.view.cells.find((group) => group.tabIndex === 0)).focus();
  }

  select(cells) {
    this.selected = cells;
    this.view.select(cells);
    this.selectionChanged(cells);
  }

  get selects() {
    return ["rectangle", "rows", "brush"].includes(this.mode);
  }

  // -- mouse and finger

  listen() {
    const { svg } = this.view;
    svg.addEventListener("contextmenu", (event) => {
      event.preventDefault();
      this.turn(this.view.cellOf(event.target), 1);
    });
    svg.addEventListener("pointerdown", (event) => {
      const cell = this.view.cellOf(event.target);
      if (cell < 0 || event.button !== 0 || this.locked || (event.pointerType === "touch" && !event.isPrimary)) return;
      this.view.focus(cell);
      if (this.held && !this.selects) this.tap(event, () => this.putDown(cell));
      else if (this.mode === "move") this.dragFromBoard(event, cell);
      else if (this.mode === "turn") this.tap(event, () => this.turn(cell, 1));
      else if (this.mode === "pin") this.tap(event, () => this.pin(cell));
      else this.dragSelection(event, cell);
    });
    svg.addEventListener("keydown", (event) => this.press(event));
  }

  /** Act at once; of a finger only when it is let go, as a second one may come to zoom. */
  tap(event, act) {
    if (event.pointerType !== "touch") { act(); return; }
    const end = (ended) => {
      for (const type of ["pointerup", "pointercancel"]) removeEventListener(type, end);
      if (ended.type === "pointerup") act();
    };
    for (const type of ["pointerup", "pointercancel"]) addEventListener(type, end);
  }

  /** Follow the pointer until it is let go; `drop` gets the cell under it, -1 outside, whether it moved, and the element. */
  drag(event, oriented, drop) {
    event.preventDefault();
    const size = this.view.cells[0].getBoundingClientRect().width;
    let ghost = null, x = event.clientX, y = event.clientY, frame = 0;
    const [x0, y0] = [x, y];
    const paint = () => { frame = 0; ghost.style.transform = `translate(${x - size / 2}px, ${y - size / 2}px)`; };
    const move = (moved) => {
      [x, y] = [moved.clientX, moved.clientY];
      if (!ghost && Math.hypot(x - x0, y - y0) > 4) ghost = ghostOf(this.puzzle, this.puzzle.quad(oriented), size);
      if (ghost && !frame) frame = requestAnimationFrame(paint);
    };
    const end = (ended) => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", end);
      removeEventListener("pointercancel", end);
      cancelAnimationFrame(frame);
      ghost?.remove();
      if (ended.type !== "pointerup") return;
      const element = under(ended.clientX, ended.clientY);
      drop(this.view.cellOf(element), ghost !== null, element);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", end);
    addEventListener("pointercancel", end);
  }

  dragFromBoard(event, cell) {
    if (this.board.placements[cell] < 0 && !this.board.fixed(cell)) { this.tap(event, () => this.ask(cell)); return; }
    if (this.board.fixed(cell)) return;
    this.drag(event, this.board.placements[cell], (target, moved, element) => {
      if (!moved) return;
      if (target >= 0) { if (this.board.move(cell, target)) this.view.focus(target); }
      else if (element?.closest("#tray")) this.board.remove(cell);
    });
  }

  dragFromTray(event, piece) {
    if (event.button !== 0 || this.locked) return;
    this.drag(event, piece * 4, (target, moved) => {
      if (moved && target >= 0) this.placePiece(piece, target);
      else if (!moved) this.pickFromTray(piece);
    });
  }

  /** Show in the tray the pieces that fit a free cell; asked once more, all. A piece that is picked then goes there. */
  ask(cell) {
    this.asked = this.asked === cell ? -1 : cell;
    this.drawTray();
    say(find("tray-head").textContent);
  }

  /** Show all free pieces again. */
  askNothing() {
    if (this.asked >= 0) this.ask(this.asked);
  }

  placePiece(piece, cell) {
    if (this.board.place(piece * 4 + this.board.bestRotation(piece, cell), cell)) this.view.focus(cell);
  }

  /** Select cells from where the pointer goes down to where it is: a rectangle, rows, or what it touches. */
  dragSelection(event, from) {
    event.preventDefault();
    const { puzzle, mode } = this;
    const before = new Set(this.selected), add = !before.has(from), touched = new Set();
    const at = (cell) => [Math.floor(cell / puzzle.width), cell % puzzle.width];
    const stretch = (to) => {
      const [[r0, c0], [r1, c1]] = [at(from), at(to)];
      touched.add(to);
      const inside = (cell) => {
        if (mode === "brush") return touched.has(cell);
        const [row, column] = at(cell), rows = row >= Math.min(r0, r1) && row <= Math.max(r0, r1);
        return rows && (mode === "rows" || (column >= Math.min(c0, c1) && column <= Math.max(c0, c1)));
      };
      const cells = new Set(before);
      for (let cell = 0; cell < puzzle.cells; cell++) {
        if (!inside(cell)) continue;
        if (add && !puzzle.hole.has(cell)) cells.add(cell);
        else cells.delete(cell);
      }
      this.select(cells);
    };
    stretch(from);
    const move = (moved) => { const cell = this.view.cellOf(under(moved.clientX, moved.clientY)); if (cell >= 0) stretch(cell); };
    const ends = ["pointerup", "pointercancel"];
    const end = () => { removeEventListener("pointermove", move); for (const type of ends) removeEventListener(type, end); };
    addEventListener("pointermove", move);
    for (const type of ends) addEventListener(type, end);
  }

  // -- keyboard

  label(cell) {
    return this.view.cells[cell].getAttribute("aria-label");
  }

  turn(cell, turns) {
    if (cell >= 0 && !this.locked && this.board.rotate(cell, turns)) say(this.label(cell));
  }

  pickFromTray(piece) {
    if (this.locked) return;
    if (this.asked >= 0) {
      const cell = this.asked;
      this.held = null;
      this.placePiece(piece, cell);
      say(this.label(cell));
      return;
    }
    this.held = this.held?.piece === piece ? null : { piece };
    this.drawTray();
    say(this.held ? `piece ${piece + 1} picked up; choose a cell` : "let go");
    if (!this.held) return;
    const { placements } = this.board;
    this.view.focus(Math.max(0, placements.findIndex((oriented, cell) => oriented < 0 && !this.board.fixed(cell))));
  }

  putDown(cell) {
    const { held } = this;
    this.held = null;
    if (held.piece === undefined) this.board.move(held.cell, cell);
    else this.placePiece(held.piece, cell);
    this.drawTray();
    say(this.label(cell));
  }

  press(event) {
    const { puzzle, view, board } = this, cell = view.focused, column = cell % puzzle.width;
    if (cell < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const steps = { ArrowUp: -puzzle.width, ArrowDown: puzzle.width, ArrowLeft: -1, ArrowRight: 1 };
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (key in steps) {
      const to = cell + steps[key];
      const leaves = (key === "ArrowLeft" && column === 0) || (key === "ArrowRight" && column === puzzle.width - 1);
      if (leaves || to < 0 || to >= puzzle.cells) { event.preventDefault(); return; }
      view.focus(to);
      if (event.shiftKey) this.select(new Set([...this.selected, cell, to].filter((chosen) => !puzzle.hole.has(chosen))));
    } else if (key === "Home") view.focus(cell - column);
    else if (key === "End") view.focus(cell - column + puzzle.width - 1);
    else if (key === "Escape" && this.held) { this.held = null; this.drawTray(); say("let go"); }
    else if (key === "Escape" && this.asked >= 0) this.askNothing();
    else if (key === "s") { const cells = new Set(this.selected); if (!cells.delete(cell)) cells.add(cell); this.select(cells); }
    else if (this.locked) return;
    else if (key === "Enter" || key === " ") {
      if (this.held) this.putDown(cell);
      else if (board.placements[cell] < 0 && !board.fixed(cell)) this.ask(cell);
      else if (board.placements[cell] >= 0 && !board.fixed(cell)) { this.held = { cell }; say(`picked up ${this.label(cell)}`); }
    } else if (key === "r") this.turn(cell, event.shiftKey ? 3 : 1);
    else if (key === "Delete" || key === "Backspace") board.remove(cell);
    else if (key === "p") this.pin(cell);
    else return;
    event.preventDefault();
  }

  pin(cell) {
    if (this.board.placements[cell] < 0) return;
    if (!this.board.pinned.delete(cell)) this.board.pinned.add(cell);
    this.refresh([cell]);
    say(this.label(cell));
  }

  undo() {
    const what = this.locked ? null : this.board.undo();
    if (what) say(`undone: ${what}`);
  }

  redo() {
    const what = this.locked ? null : this.board.redo();
    if (what) say(`done again: ${what}`);
  }
}

/** The buttons undo and redo, and Ctrl+Z and Ctrl+Y, but these not while text is written. */
export function undoControls(current) {
  find("undo").addEventListener("click", () => current().undo());
  find("redo").addEventListener("click", () => current().redo());
  addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.target.matches("input, textarea") || !current()) return;
    const key = event.key.toLowerCase();
    if (key === "z" && !event.shiftKey) current().undo();
    else if (key === "y" || key === "z") current().redo();
    else return;
    event.preventDefault();
  });
}

/** The boxes for piece numbers and motifs; what is chosen is kept. */
export function lookControls(current) {
  const look = store.get("look", { numbers: false, flat: false });
  const show = () => {
    chooseFlat(look.flat);
    if (!current()) return;
    current().view.numbered = look.numbers;
    current().drawFilter();
    current().refresh(null);
  };
  find("numbers").checked = look.numbers;
  find("motifs").checked = !look.flat;
  chooseFlat(look.flat);
  find("numbers").addEventListener("change", (event) => { look.numbers = event.target.checked; store.set("look", look); show(); });
  find("motifs").addEventListener("change", (event) => { look.flat = !event.target.checked; store.set("look", look); show(); });
}
