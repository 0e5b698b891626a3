// The page of a board: open, edit, re-solve with proof, solve exactly, share.
import { ask, complain, count, download, fileName, find, getSetup, h, job, onFile, put, putFacts, safely, say, store, textOf } from "./common.js";
import { useColours } from "./draw.js";
import { Editor, lookControls, undoControls } from "./editor.js";
import { Puzzle } from "./model.js";

const STARTER = 1, MODES = ["move", "turn", "pin", "rectangle", "rows", "brush"];
let setup, puzzle, editor;
const jobs = {};

// -- open

let opening = 0;  // number of the last request for a board: an earlier one that is answered later is left out

async function openText(text, name = "puzzle") {
  const number = ++opening;
  const fields = { text, name };
  if (puzzle) Object.assign(fields, { known: "yes", puzzle: puzzle.fields });
  const found = await ask("document", fields);
  await getSetup();  // the colours of a board that is opened while the page loads
  if (number !== opening) return;
  open(found);
  find("opener").open = found.notes.length > 0;
}

/** Open the board of a link; it is not kept before it is edited, so that the user's own one is not lost. */
async function openLink() {
  const number = ++opening, { puzzle: fields, board, pinned } = await unpacked(location.hash);
  const found = await ask("document", { text: JSON.stringify(fields), format: "json", name: "" });
  await ask("check", { puzzle: found.puzzle, board });  // the server refuses what is no board of it
  await getSetup();
  if (number === opening) open({ ...found, board, pinned: pinned.filter(Number.isInteger) }, true);
}
const isLink = () => location.hash.startsWith(LINK);

let borrowed = false;  // whether the board is that of a link, and not edited yet

function open(found, linked = false) {
  borrowed = linked;
  for (const running of Object.values(jobs)) running.stop();
  puzzle = new Puzzle(found.puzzle);
  editor = new Editor(puzzle, found.board ?? puzzle.start(), refresh);
  editor.selectionChanged = (cells) => { find("chosen").textContent = cells.size ? `${cells.size} selected` : "no cell is selected: around the mismatches"; };
  editor.board.pinned = new Set(found.pinned);
  if (isLink() && !linked) history.replaceState(null, "", location.pathname + location.search);
  chooseMode("move");
  find("name").textContent = `${puzzle.name}, ${puzzle.width} x ${puzzle.height}`;
  document.title = `${puzzle.name} - lns`;
  put(find("notes"), (found.notes ?? []).map((note) => h("li", {}, note)));
  find("work").hidden = false;
  for (const [id, most] of [["window-height", puzzle.height], ["window-width", puzzle.width]]) {
    find(id).max = most;
    find(id).value = Math.min(find(id).value, most);
  }
  editor.refresh(null);
  editor.select(new Set());
  keep();
  say(`${puzzle.name} is open`);
}

// -- what is shown

function refresh(judged) {
  const empty = puzzle.cells - puzzle.hole.size - judged.placed;
  putFacts(find("score"), [
    ["score", `${judged.score} of ${judged.maxScore}`, judged.solved ? "good" : ""],
    ["conflicts", String(judged.mismatches.length), judged.mismatches.length ? "bad" : "good"],
    [puzzle.framed || puzzle.rim ? "rim" : "grey", judged.rim.length ? `${judged.rim.length} ${judged.rim.length === 1 ? "fault" : "faults"}` : "right", judged.rim.length ? "bad" : "good"],
    puzzle.clueOf.size > STARTER && ["starter clue", judged.clues.includes(starter()) ? "not kept" : "kept", judged.clues.includes(starter()) ? "bad" : "good"],
    puzzle.clueOf.size > 0 && ["clues", `${puzzle.clueOf.size - judged.clues.length} of ${puzzle.clueOf.size}`, judged.clues.length ? "bad" : "good"],
    empty > 0 && ["empty", count(empty)],
  ]);
  keepSoon();
}

/** The clue of the middle of the board, which Eternity II gives to all; the others come with the clue puzzles. */
function starter() {
  const middle = [(puzzle.height - 1) / 2, (puzzle.width - 1) / 2];
  const far = (cell) => Math.hypot(Math.floor(cell / puzzle.width) - middle[0], (cell % puzzle.width) - middle[1]);
  return [...puzzle.clueOf.keys()].sort((a, b) => far(a) - far(b))[0];
}

// -- jobs

/** The result of a job with its buttons and line, of which at most one runs; null if it fails, or another board is opened meanwhile. */
async function work(name, fields, { starts, stop, said, busy }, on) {
  const asked = puzzle, here = () => puzzle === asked;
  const handlers = Object.entries({ note: (message) => { find(said).textContent = message.text; }, ...on });
  for (const start of starts) find(start).disabled = true;
  find(stop).disabled = false;
  if (busy) find(busy).hidden = false;
  find(said).className = "";
  find(said).textContent = "starting ...";
  try {
    const running = await job(fields, Object.fromEntries(handlers.map(([type, act]) => [type, (message) => { if (here()) act(message); }])));
    jobs[name] = running;
    if (!here()) running.stop();
    const result = await running.done;
    find(said).textContent = "";
    return here() ? result : null;
  } catch (error) {
    find(said).textContent = here() ? error.message : "";
    find(said).className = "bad";
    return null;
  } finally {
    delete jobs[name];
    for (const start of starts) find(start).disabled = false;
    find(stop).disabled = true;
    if (busy) find(busy).hidden = true;
  }
}

const current = () => ({ puzzle: puzzle.fields, board: [...editor.board.placements] });
const figures = (message) => `${count(message.nodes)} nodes, ${message.seconds.toFixed(1)} s`;

async function resolve() {
  const cells = [...editor.selected].filter((cell) => !editor.board.pinned.has(cell));
  const target = find("again-target").value === "" ? null : Number(find("again-target").value);
  const result = await work("again", { kind: "improve", ...current(), cells, target, time: Number(find("again-time").value) },
    { starts: ["again"], stop: "again-stop", said: "again-said", busy: "again-busy" }, {
      progress: (message) => { find("again-said").textContent = `score ${message.score}, at most ${message.bound}; ${figures(message)}`; },
      board: (message) => { editor.board.replace(message.board, "better board"); },
    });
  if (!result) return;
  if (result.board) editor.board.replace(result.board, "re-solved");
  const gained = result.score - result.score_before;
  const better = gained > 0 ? `better by ${gained}: ${result.score}. ` : "";
  let sentence = `${better}Open: nothing better was found, ${result.bound} is not excluded`;
  if (result.status === "interrupted") sentence = `${better}Stopped; ${result.bound ?? "nothing"} is not excluded`;
  else if (result.status === "target refuted") sentence = `Proven: no refill of these ${result.cells.length} cells reaches ${target}`;
  else if (result.status === "target reached") sentence = `Reached: ${result.score}`;
  else if (result.proven) sentence = `${better}Proven: no refill of these ${result.cells.length} cells is better`;
  else if (gained > 0) sentence = `${better}Open: ${result.bound} is not excluded`;
  find("again-said").textContent = `${sentence} (${result.nodes === undefined ? "" : figures(result)}).`;
  find("again-said").className = result.proven || result.status === "target refuted" ? "good" : "";
}

async function sweep() {
  const height = Number(find("window-height").value), width = Number(find("window-width").value);
  const worst = new Map(), looks = { proven: ["#0a6b3d", .45, ""], improved: ["#ffd75f", .6, "+"], open: ["#b00020", .5, "?"] };
  const rank = { proven: 0, improved: 1, open: 2 };
  let done = 0;
  const total = (puzzle.height - height + 1) * (puzzle.width - width + 1);
  editor.view.shade(new Map());
  const result = await work("windows", { kind: "windows", ...current(), height, width, nodes: Number(find("window-nodes").value), time: 3600 },
    { starts: ["windows"], stop: "windows-stop", said: "windows-said" }, {
      window: (message) => {
        done++;
        for (let row = message.row; row < message.row + height; row++) {
          for (let column = message.column; column < message.column + width; column++) {
            const cell = row * puzzle.width + column;
            if (!worst.has(cell) || rank[message.outcome] > rank[worst.get(cell)]) worst.set(cell, message.outcome);
          }
        }
        if (message.board) editor.board.replace(message.board, "better board");
        editor.view.shade(new Map([...worst].map(([cell, outcome]) => [cell, looks[outcome]])));
        find("windows-said").textContent = `window ${done} of ${total}`;
      },
    });
  if (!result?.windows) { if (result) find("windows-said").textContent = `stopped after ${done} of ${total} windows`; return; }
  const { proven, improved, open: unknown } = result.windows;
  find("windows-said").textContent = `${proven} windows proven (green), ${improved} improved (+), ${unknown} open (?); score ${result.score}`;
}

async function solveExactly(keepPieces) {
  const solver = find("solver").value;
  const fields = { kind: "solve", puzzle: puzzle.fields, board: keepPieces ? [...editor.board.placements] : null, solver, time: Number(find("exact-time").value) };
  const result = await work("exact", fields, { starts: ["complete", "solve"], stop: "exact-stop", said: "exact-said", busy: "exact-busy" }, {
    progress: (message) => { find("exact-said").textContent = figures(message) + (message.explored > 1e-4 ? `, about ${(message.explored * 100).toFixed(1)}% of the tree` : ""); },
  });
  if (!result) return;
  const line = find("exact-said");
  const effort = result.nodes >= 0 ? ` (${solver}: ${figures(result)})` : result.seconds === undefined ? "" : ` (${solver}: ${result.seconds.toFixed(1)} s)`;
  if (result.board) {
    editor.board.replace(result.board, "solved");
    line.textContent = `${keepPieces ? "Yes: this can be completed" : "Solved"}${effort}.`;
    line.className = "good";
  } else if (result.status === "infeasible") {
    line.textContent = `Proven: ${keepPieces ? "no perfect board has these pieces" : "there is no perfect board"}${result.because ? `: ${result.because}` : effort}.`;
    line.className = "bad";
  } else line.textContent = `Not known: ${result.status}${effort}.`;
}

// -- share

async function render(format) {
  return ask("render", { ...current(), format });
}

// Firefox renames a file that ends with .url, which Windows runs.
const ENDINGS = { svg: "svg", url: "url.txt", best: "json", json: "json", solution: "solution.txt", csv16: "csv" };

async function save() {
  const format = find("format").value;
  const { text } = await render(format);
  download(`${fileName(puzzle.name)}.${ENDINGS[format] ?? "txt"}`, text, format === "svg" ? "image/svg+xml" : "text/plain");
}

async function savePng() {
  const { text } = await render("svg");
  const picture = new Image();
  picture.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  await picture.decode();
  const canvas = h("canvas", { width: picture.naturalWidth, height: picture.naturalHeight });
  canvas.getContext("2d").drawImage(picture, 0, 0);
  URL.revokeObjectURL(picture.src);
  canvas.toBlob((blob) => download(`${fileName(puzzle.name)}.png`, blob));
}

async function show() {
  const { text, notes } = await render(find("format").value);
  find("shared").hidden = false;
  find("shared").value = text;
  find("shared").select();
  put(find("checked"), notes.join("; "));
}

const LINK = "#lns=", MOST_LETTERS = 200_000, MOST_BYTES = 2_000_000;

/** A link to this page that holds the puzzle, the board and what is pinned. */
async function link() {
  const text = JSON.stringify({ ...current(), pinned: [...editor.board.pinned] });
  const packed = new Uint8Array(await new Response(new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"))).arrayBuffer());
  const letters = btoa(Array.from(packed, (byte) => String.fromCharCode(byte)).join("")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  if (letters.length > MOST_LETTERS || text.length > MOST_BYTES) throw new Error(`a link that holds this board would have ${count(letters.length)} letters; expected at most ${count(MOST_LETTERS)}: Download it instead`);
  find("shared").hidden = false;
  find("shared").value = `${location.origin}/board${LINK}${letters}`;
  find("shared").select();
  let copied = "The link is copied";
  try {
    await navigator.clipboard.writeText(find("shared").value);
  } catch {  // not allowed, or the page is neither on localhost nor encrypted
    if (!document.execCommand("copy")) copied = "The link stands selected below: copy it";
  }
  put(find("checked"), `${copied}. To open it a friend starts lns web, opens the address that it prints and pastes this link under Board; or: lns show LINK.`);
}

/** What a link holds. Throws an Error if it holds no board. */
async function unpacked(hash) {
  const bad = new Error("this link holds no board; expected one that the button Link has made");
  const letters = hash.slice(LINK.length).replaceAll("-", "+").replaceAll("_", "/");
  if (letters.length > MOST_LETTERS) throw bad;
  try {
    const bytes = Uint8Array.from(atob(letters), (letter) => letter.charCodeAt(0));
    const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader(), parts = [];
    for (let total = 0, part = await reader.read(); !part.done; part = await reader.read()) {
      total += part.value.length;
      if (total > MOST_BYTES) throw bad;
      parts.push(part.value);
    }
    const found = JSON.parse(await new Blob(parts).text());
    if (typeof found.puzzle !== "object" || !Array.isArray(found.board) || !Array.isArray(found.pinned)) throw bad;
    return found;
  } catch {
    throw bad;
  }
}

addEventListener("hashchange", safely(async () => { if (isLink()) await openLink(); }));

async function check() {
  const found = await ask("check", current());
  const line = find("checked");
  line.className = found.valid ? "good" : "bad";
  line.textContent = `Verified by the server: ${found.score} of ${found.max_score}, ${found.valid ? "valid" : `not valid: ${found.problems.slice(0, 3).join("; ")}`}.`;
}

// -- keep the board while the page is closed

let waiting = 0;
function keep() {
  if (borrowed && !editor.board.past.length && !editor.board.future.length) return;
  if (borrowed) history.replaceState(null, "", location.pathname);  // from now on it is the user's own
  borrowed = false;
  store.set("board", { puzzle: puzzle.fields, board: [...editor.board.placements], pinned: [...editor.board.pinned] });
}
function keepSoon() {
  clearTimeout(waiting);
  waiting = setTimeout(keep, 800);
}

addEventListener("pagehide", () => { if (editor) keep(); });

// -- begin

async function begin() {
  const query = new URLSearchParams(location.search);
  const asked = query.has("opened") ? ask("opened") : query.has("instance") ? ask(`instance?name=${encodeURIComponent(query.get("instance"))}`) : null;
  asked?.catch(() => {});  // it is awaited below
  setup = await getSetup();
  useColours(setup);
  find("shipped").append(...setup.instances.map((name) => h("option", {}, name)));
  find("solver").append(...setup.solvers.map((solver) => h("option", { value: solver.name, disabled: solver.needs !== null }, solver.name + (solver.needs ? ` (needs ${solver.needs})` : ""))));
  const about = () => { find("exact-about").textContent = setup.solvers.find((solver) => solver.name === find("solver").value)?.about ?? ""; };
  find("solver").addEventListener("change", about);
  about();
  find("format").append(h("option", { value: "url" }, "viewer URL"), h("option", { value: "svg" }, "SVG"),
    ...Object.entries(setup.formats).filter(([name]) => name !== "url").map(([name, holds]) => h("option", { value: name }, `${name} (${holds})`)));
  const found = await asked, first = "like-e2-16x16";
  if (isLink()) await openLink().catch(complain);
  if (puzzle) return;
  const shown = found ?? store.get("board", null) ?? await ask(`instance?name=${first}`);
  if (!puzzle) open(shown);  // nothing was pasted meanwhile
}

find("open").addEventListener("click", safely(() => openText(find("text").value)));
const openFile = async (file) => openText(await textOf(file), file.name);
onFile(openFile);
find("shipped").addEventListener("change", safely(async (event) => {
  if (!event.target.value) return;
  const number = ++opening, found = await ask(`instance?name=${encodeURIComponent(event.target.value)}`);
  if (number !== opening) return;
  open(found);
  find("opener").open = false;
}));
addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.add("drop-here"); });
addEventListener("dragleave", (event) => { if (!event.relatedTarget) document.body.classList.remove("drop-here"); });
addEventListener("drop", safely(async (event) => {
  event.preventDefault();
  document.body.classList.remove("drop-here");
  const file = event.dataTransfer.files[0], text = event.dataTransfer.getData("text/plain");
  if (file) await openFile(file);
  else if (text) await openText(text);
}));
undoControls(() => editor);
lookControls(() => editor);
function chooseMode(name) {
  if (editor) { editor.mode = name; editor.askNothing(); }
  for (const other of MODES) find(`mode-${other}`).setAttribute("aria-pressed", String(other === name));
}
for (const name of MODES) find(`mode-${name}`).addEventListener("click", () => chooseMode(name));
find("clear").addEventListener("click", () => editor.board.replace(editor.board.placements.map(() => -1), "take all off"));
find("around").addEventListener("click", () => {
  const cells = new Set(editor.judged.mismatches.flatMap(([cell, , other]) => [cell, other]));
  for (let cell = 0; cell < puzzle.cells; cell++) if (editor.board.placements[cell] < 0 && !puzzle.hole.has(cell)) cells.add(cell);
  editor.select(cells);
});
find("none").addEventListener("click", () => editor.select(new Set()));
find("again").addEventListener("click", safely(resolve));
find("again-stop").addEventListener("click", () => jobs.again?.stop());
find("windows").addEventListener("click", safely(sweep));
find("windows-stop").addEventListener("click", () => jobs.windows?.stop());
find("complete").addEventListener("click", safely(() => solveExactly(true)));
find("solve").addEventListener("click", safely(() => solveExactly(false)));
find("exact-stop").addEventListener("click", () => jobs.exact?.stop());
find("link").addEventListener("click", safely(link));
find("show").addEventListener("click", safely(show));
find("save").addEventListener("click", safely(save));
find("png").addEventListener("click", safely(savePng));
find("check").addEventListener("click", safely(check));
begin().catch(complain);
