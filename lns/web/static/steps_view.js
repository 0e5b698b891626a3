// A recorded search on its board: what stands, what was tried last, and why it was taken back.
import { find, put } from "./elements.js";
import { BoardView, fitToWindow } from "./draw.js";
import { judge } from "./model.js";
import { Player } from "./player.js";

const SHADES = { placed: ["#ffffff", .25, ""], refused: ["#b00020", .55, "x"], solution: ["#0a6b3d", .4, ""] };

/** The pieces that stand after a number of steps. */
export function standing(puzzle, steps, at) {
  const placements = Int32Array.from(puzzle.start());
  if (!at) return placements;
  let wanted = steps[at - 1][4] - 1;
  if (steps[at - 1][3] === "solution") wanted = steps[at - 1][0];
  for (let i = at - 1; i >= 0 && wanted >= 0; i--) {
    const [depth, cell, oriented, outcome] = steps[i];
    if (depth === wanted && outcome !== "refused") { placements[cell] = oriented; wanted--; }
  }
  return placements;
}

/** Play a recording: the nodes of a tree search, or what a SAT solver paints. */
export function watchSteps(puzzle, trace) {
  const view = new BoardView(puzzle, { label: `Search of ${puzzle.name}` });
  put(find("place"), view.svg);
  fitToWindow(view.svg);
  const show = trace.view === "triangles" ? paintings(puzzle, view, trace.steps) : nodes(puzzle, view, trace.steps);
  return new Player(find("player"), `${trace.solver}: ${trace.steps.length.toLocaleString("en")} steps, ${trace.status}`, trace.steps.length, show);
}

function nodes(puzzle, view, steps) {
  return (at) => {
    const placements = standing(puzzle, steps, at);
    if (!at) {
      view.draw(placements);
      view.mark(judge(puzzle, placements));
      view.shade(new Map());
      return "before the first decision";
    }
    const [depth, cell, oriented, outcome, after, why] = steps[at - 1];
    if (outcome === "refused") placements[cell] = oriented;
    view.draw(placements);
    view.mark(judge(puzzle, placements));
    view.shade(new Map([[cell, SHADES[outcome]]]));
    const back = after <= depth && outcome !== "solution" ? after < depth ? `, and back to ${after} decisions` : ", taken back" : "";
    return `decision ${depth + 1}: piece ${(oriented >> 2) + 1} at ${puzzle.label(cell)}: ${outcome}${back}${why ? `. ${why[0].toUpperCase()}${why.slice(1)}` : ""}.`;
  };
}

/** What is painted after some steps, by the decisions on which it hangs: [[kind, cell, ...], ...] for each depth. */
export function painted(steps, at) {
  const levels = [[]];
  for (let i = 0; i < at; i++) {
    const [depth, , , triangles, pieces] = steps[i];
    levels.length = Math.min(levels.length, depth + 1);
    for (const [cell, side, colour, level] of triangles) (levels[level] ??= []).push([cell, side, colour]);
    for (const [cell, piece, level] of pieces) (levels[level] ??= []).push([cell, -1, piece]);
  }
  const known = new Map();
  for (const [cell, side, value] of levels.flatMap((level) => level ?? [])) {
    if (!known.has(cell)) known.set(cell, [[null, null, null, null], null]);
    if (side < 0) known.get(cell)[1] = value;
    else known.get(cell)[0][side] = value;
  }
  return known;
}

/** On the edge of a board without frame no clause tells the colours: there they are those of the piece, once it is clear how it lies. */
function withOuterSides(puzzle, known) {
  for (const [cell, [quad, piece]] of puzzle.framed || puzzle.rim ? [] : known) {
    const told = (side) => puzzle.beyond(cell, side) >= 0 || puzzle.greySide(cell, side);
    const turned = piece === null ? [] : [0, 1, 2, 3].slice(0, puzzle.turns ? 4 : 1).map((turns) => puzzle.quad(piece * 4 + turns));
    const lies = turned.find((colours) => colours.every((colour, side) => !told(side) || colour === quad[side]));
    quad.forEach((colour, side) => { if (!told(side)) quad[side] = lies ? lies[side] : null; });
  }
  return known;
}

function paintings(puzzle, view, steps) {
  return (at) => {
    view.paint(withOuterSides(puzzle, painted(steps, at)));
    if (!at) { view.shade(new Map()); return "nothing is known yet"; }
    const [depth, words, outcome, triangles, pieces, why] = steps[at - 1];
    const touched = new Set([...triangles, ...pieces].map(([cell]) => cell));
    view.shade(new Map([...touched].map((cell) => [cell, SHADES[outcome === "solution" ? "solution" : "placed"]])));
    if (outcome === "solution") return "solution: all triangles are painted.";
    const follows = `${triangles.length} ${triangles.length === 1 ? "triangle" : "triangles"} painted`;
    const back = why ? `${why}; ` : "";
    if (outcome === "learned") return why ? `conflict or restart: ${back}learned: ${words}; ${follows}.` : `without a decision: ${words}; ${follows}.`;
    return `${back}decision ${depth + 1}: ${words}; ${follows}.`;
  };
}
