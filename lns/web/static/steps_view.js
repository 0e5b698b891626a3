// A recorded search on its board: what stands, what was tried last, and why it was taken back.
import { find, put } from "./elements.js";
import { BoardView } from "./draw.js";
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

export function watchSteps(puzzle, { steps, status, solver }) {
  const view = new BoardView(puzzle, { label: `Search of ${puzzle.name}` });
  put(find("place"), view.svg);
  return new Player(find("player"), `${solver}: ${steps.length} steps, ${status}`, steps.length, (at) => {
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
  });
}
