// The page of searches step by step: record the first nodes of a solver, then play them.
import { ask, complain, download, fileName, find, getSetup, h, job, safely, store } from "./common.js";
import { useColours } from "./draw.js";
import { Puzzle } from "./model.js";
import { watchSteps } from "./steps_view.js";

let asked = null, running = null, shown = null;

async function chosen() {
  const which = find("which").value;
  if (which === "board") {
    const kept = store.get("board", null);
    if (!kept) throw new Error("no board is open on the page Board");
    return { puzzle: kept.puzzle, board: kept.board };
  }
  return { puzzle: (await ask(`instance?name=${encodeURIComponent(which)}`)).puzzle, board: null };
}

find("begin").addEventListener("submit", safely(async (event) => {
  event.preventDefault();
  const line = find("steps-said");
  line.textContent = "recording ...";
  const mine = asked = {};
  try {
    Object.assign(mine, { kind: "trace", ...(await chosen()), solver: find("solver").value, most: Number(find("most").value), time: 120 });
    running?.stop();
    const recording = await job(mine, { note: (message) => { if (asked === mine) line.textContent = message.text; } });
    if (asked !== mine) { recording.stop(); return; }
    running = recording;
    const result = await recording.done;
    if (asked !== mine) return;
    if (!result.trace) throw new Error("the recording was stopped");
    const puzzle = new Puzzle(result.puzzle);
    find("name").textContent = `${puzzle.name}, ${puzzle.width} x ${puzzle.height}`;
    watchSteps(puzzle, result.trace);
    shown = mine;
    find("save").disabled = false;
    line.textContent = "";
  } catch (error) {
    if (asked === mine) line.textContent = error.message;
  }
}));
find("save").addEventListener("click", safely(async () => {
  const { html } = await (await job({ ...shown, page: true })).done;
  download(`${fileName(shown.puzzle.name)}-${shown.solver}.html`, html, "text/html");
}));

async function load() {
  const setup = await getSetup();
  useColours(setup);
  if (store.get("board", null)) find("which").append(h("option", { value: "board" }, "the board of the page Board"));
  find("which").append(...setup.instances.map((name) => h("option", { selected: name === "like-e2-5x5" }, name)));
  find("solver").append(...setup.traced.map(({ name, needs }) => h("option", { value: name, disabled: needs !== null }, name + (needs ? ` (needs ${needs})` : ""))));
  const about = () => { find("solver-about").textContent = setup.traced.find(({ name }) => name === find("solver").value)?.about ?? ""; };
  find("solver").addEventListener("change", about);
  about();
  find("begin").requestSubmit();  // so that there is something to see
}
load().catch(complain);
