// A puzzle, the board on the screen, and what can be undone. Cells, pieces and rotations as everywhere in lns:
// oriented piece = piece * 4 + clockwise quarter turns, colours up right down left, cell = row * width + column.

export const EMPTY = -1;

export class Puzzle {
  constructor(fields) {
    Object.assign(this, { clues: [], holes: [], framed: true, turns: true, mates: [], rim: 0 }, fields);
    this.fields = fields;
    this.cells = this.width * this.height;
    this.hole = new Set(this.holes);
    this.mate = new Map(this.mates.flatMap(([one, other]) => [[one, other], [other, one]]));
    this.clueOf = new Map(this.clues.map(([cell, piece, rotation]) => [cell, piece * 4 + rotation]));
    this.joints = [];
    for (let cell = 0; cell < this.cells; cell++) {
      for (const side of [1, 2]) {
        const other = this.beyond(cell, side);
        if (other >= 0) this.joints.push([cell, side, other]);
      }
    }
    this.maxScore = this.joints.length;
  }

  /** The cell beyond a side, -1 if there is none. */
  beyond(cell, side) {
    if (this.hole.has(cell)) return -1;
    const column = cell % this.width, row = Math.floor(cell / this.width);
    let other = -1;
    if (side === 0 && row > 0) other = cell - this.width;
    if (side === 1 && column < this.width - 1) other = cell + 1;
    if (side === 2 && row < this.height - 1) other = cell + this.width;
    if (side === 3 && column > 0) other = cell - 1;
    return this.hole.has(other) ? -1 : other;
  }

  /** Whether a side of a cell must be grey: it lies on the frame or faces a hole. */
  greySide(cell, side) {
    if (this.beyond(cell, side) >= 0) return false;
    if (this.framed) return true;
    const column = cell % this.width, row = Math.floor(cell / this.width);
    return [row > 0, column < this.width - 1, row < this.height - 1, column > 0][side];
  }

  /** Whether a colour breaks no rule of the rim and of holes on a side of a cell. */
  allows(cell, side, colour) {
    if (this.greySide(cell, side) !== (colour === 0)) return false;
    return colour === 0 || !this.rim || colour === this.rim || this.beyond(cell, side) >= 0;
  }

  /** Whether two facing colours match: they are mates, or equal and without mates. */
  match(here, there) {
    return here !== 0 && (this.mate.get(here) ?? here) === there;
  }

  /** The first mate of the pair of a colour, as which it is drawn; the colour itself if it has no mate. */
  first(colour) {
    return Math.min(colour, this.mate.get(colour) ?? colour);
  }

  colour(oriented, side) {
    return this.pieces[oriented >> 2][(side - (oriented & 3) + 4) % 4];
  }

  quad(oriented) {
    return [0, 1, 2, 3].map((side) => this.colour(oriented, side));
  }

  get colours() {
    return [...new Set(this.pieces.flat())].filter((colour) => colour > 0).sort((a, b) => a - b);
  }

  /** The board with nothing but the clues. */
  start() {
    const placements = new Array(this.cells).fill(EMPTY);
    for (const [cell, oriented] of this.clueOf) placements[cell] = oriented;
    return placements;
  }

  /** A cell in words; rows and columns count from 0, as in the messages of the server. */
  label(cell) {
    return `row ${Math.floor(cell / this.width)}, column ${cell % this.width}`;
  }
}

/** Score, mismatched joints and broken rules of a board; the server's verifier counts the same. */
export function judge(puzzle, placements) {
  let score = 0, placed = 0;
  const mismatches = [], rim = [], clues = [];
  for (const [cell, side, other] of puzzle.joints) {
    if (placements[cell] < 0 || placements[other] < 0) continue;
    if (puzzle.match(puzzle.colour(placements[cell], side), puzzle.colour(placements[other], (side + 2) % 4))) score++;
    else mismatches.push([cell, side, other]);
  }
  for (let cell = 0; cell < puzzle.cells; cell++) {
    if (placements[cell] < 0) continue;
    placed++;
    for (let side = 0; side < 4; side++) {
      if (!puzzle.allows(cell, side, puzzle.colour(placements[cell], side))) rim.push([cell, side]);
    }
  }
  for (const [cell, oriented] of puzzle.clueOf) {
    const wanted = puzzle.quad(oriented).join();
    if (placements[cell] < 0 || puzzle.quad(placements[cell]).join() !== wanted) clues.push(cell);
  }
  const full = placed === puzzle.cells - puzzle.hole.size;
  return { score, maxScore: puzzle.maxScore, placed, mismatches, rim, clues, full, solved: full && score === puzzle.maxScore && !rim.length && !clues.length };
}

export class Board {
  /** `changed` is called after every change with the cells that changed, null for all. */
  constructor(puzzle, placements, changed = () => {}) {
    this.puzzle = puzzle;
    this.placements = placements ? Int32Array.from(placements) : new Int32Array(puzzle.cells).fill(EMPTY);
    this.pinned = new Set();
    this.past = [];
    this.future = [];
    this.changed = changed;
  }

  get free() {
    const used = new Set([...this.placements].filter((oriented) => oriented >= 0).map((oriented) => oriented >> 2));
    return this.puzzle.pieces.map((_, piece) => piece).filter((piece) => !used.has(piece));
  }

  fixed(cell) {
    return this.pinned.has(cell) || this.puzzle.hole.has(cell);
  }

  /** Make a change of some cells that can be undone: [[cell, oriented], ...]. */
  change(entries, what) {
    const differing = entries.filter(([cell, oriented]) => this.placements[cell] !== oriented);
    if (!differing.length) return false;
    if (differing.some(([cell]) => this.fixed(cell))) return false;
    this.past.push({ what, before: differing.map(([cell]) => [cell, this.placements[cell]]), after: differing });
    this.future = [];
    this.apply(differing);
    return true;
  }

  apply(entries) {
    for (const [cell, oriented] of entries) this.placements[cell] = oriented;
    this.changed(entries.map(([cell]) => cell));
  }

  undo() {
    const last = this.past.pop();
    if (!last) return null;
    this.future.push(last);
    this.apply(last.before);
    return last.what;
  }

  redo() {
    const next = this.future.pop();
    if (!next) return null;
    this.past.push(next);
    this.apply(next.after);
    return next.what;
  }

  /** Move the piece of a cell onto another one; a piece there comes back. */
  move(from, to) {
    if (from === to || this.placements[from] < 0) return false;
    return this.change([[from, this.placements[to]], [to, this.placements[from]]], this.placements[to] < 0 ? "move" : "swap");
  }

  /** Put a free piece on a cell; a piece there goes to the tray. */
  place(oriented, cell) {
    return this.change([[cell, oriented]], "place");
  }

  remove(cell) {
    return this.change([[cell, EMPTY]], "remove");
  }

  rotate(cell, turns = 1) {
    const oriented = this.placements[cell];
    if (oriented < 0 || !this.puzzle.turns) return false;
    return this.change([[cell, (oriented & ~3) | ((oriented + turns) & 3)]], "turn");
  }

  replace(placements, what) {
    return this.change([...placements].map((oriented, cell) => [cell, oriented]).filter(([cell]) => !this.fixed(cell)), what);
  }

  /** Whether a free piece matches all that lies around a cell, in some rotation. */
  fits(piece, cell) {
    return [0, 1, 2, 3].slice(0, this.puzzle.turns ? 4 : 1).some((rotation) => [0, 1, 2, 3].every((side) => {
      const colour = this.puzzle.colour(piece * 4 + rotation, side), other = this.puzzle.beyond(cell, side);
      if (!this.puzzle.allows(cell, side, colour)) return false;
      return other < 0 || this.placements[other] < 0 || this.puzzle.match(colour, this.puzzle.colour(this.placements[other], (side + 2) % 4));
    }));
  }

  /** The rotation in which a free piece breaks no rule of the rim on a cell and fits best. */
  bestRotation(piece, cell) {
    let best = 0, most = -Infinity;
    for (let rotation = 0; rotation < (this.puzzle.turns ? 4 : 1); rotation++) {
      let points = 0;
      for (let side = 0; side < 4; side++) {
        const colour = this.puzzle.colour(piece * 4 + rotation, side);
        if (!this.puzzle.allows(cell, side, colour)) points -= 10;
        const other = this.puzzle.beyond(cell, side);
        if (other >= 0 && this.placements[other] >= 0) {
          points += this.puzzle.match(colour, this.puzzle.colour(this.placements[other], (side + 2) % 4)) ? 1 : 0;
        }
      }
      if (points > most) { most = points; best = rotation; }
    }
    return best;
  }
}
