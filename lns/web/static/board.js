// The page of a board: open, edit, re-solve with proof, solve exactly, share.
import { ask, complain, count, download, fileName, find, getSetup, h, job, put, putFacts, safely, say, store } from "./common.js";
import { BoardView, ghostOf, pieceSvg, spoken, swatch, under, useColours } from "./draw.js";
import { Board, Puzzle, judge } from "./model.js";

const STARTER = 1;
let setup, puzzle, board, view, judged;
let mode = "move", selected = new Set(), held = null, filter = 0, jobs = {};

// -- open

async function openText(text, name = "puzzle") {
  const fields = { text, name };
  if (puzzle) Object.assign(fields, { known: "yes", puzzle: puzzle.fields });
  open(await ask("document", fields));
}

function open(found) {
  for (const running of Object.values(jobs)) running.stop();
  puzzle = new Puzzle(found.puzzle);
  board = new Board(puzzle, found.board, refresh);
  if (!found.board) {
    for (const [cell, oriented] of puzzle.clueOf) board.placements[cell] = oriented;
  }
  view = new BoardView(puzzle, { label: `Board of ${puzzle.name}` });
  selected = new Set();
  held = null;
  filter = 0;
  find("name").textContent = `${puzzle.name}, ${puzzle.width} x ${puzzle.height}`;
  document.title = `${puzzle.name} - lns`;
  put(find("notes"), found.notes.map((note) => h("li", {}, note)));
  find("work").hidden = false;
  put(find("place"), view.svg);
  listen(view.svg);
  put(find("filter"), [0, ...puzzle.colours].map((colour) => h("button", {
    type: "button", "aria-pressed": String(colour === 0), "aria-label": colour ? `colour ${colour}` : "any colour",
    click: (event) => { filter = colour; pressOnly(event.currentTarget, find("filter")); drawTray(); },
  }, colour ? swatch(colour) : "all")));
  find("window-height").max = puzzle.height;
  find("window-width").max = puzzle.width;
  refresh(null);
  select(new Set());
  keep();
  say(`${puzzle.name} is open`);
}

const pressOnly = (button, group) => {
  for (const other of group.querySelectorAll("button[aria-pressed]")) other.setAttribute("aria-pressed", String(other === button));
};

// -- what is shown

function refresh(cells) {
  view.draw(board.placements, board.pinned, cells);
  judged = judge(puzzle, board.placements);
  view.mark(judged);
  const empty = puzzle.cells - puzzle.hole.size - judged.placed;
  const broken = (n, one, many) => `${n} ${n === 1 ? one : many}`;
  putFacts(find("score"), [
    ["score", `${judged.score} of ${judged.maxScore}`, judged.solved ? "good" : ""],
    ["conflicts", String(judged.mismatches.length), judged.mismatches.length ? "bad" : "good"],
    [puzzle.framed ? "rim" : "grey", judged.rim.length ? broken(judged.rim.length, "fault", "faults") : "right", judged.rim.length ? "bad" : "good"],
    puzzle.clueOf.size > STARTER && ["starter clue", judged.clues.includes(starter()) ? "not kept" : "kept", judged.clues.includes(starter()) ? "bad" : "good"],
    puzzle.clueOf.size > 0 && ["clues", `${puzzle.clueOf.size - judged.clues.length} of ${puzzle.clueOf.size}`, judged.clues.length ? "bad" : "good"],
    empty > 0 && ["empty", count(empty)],
  ]);
  find("undo").disabled = !board.past.length;
  find("redo").disabled = !board.future.length;
  drawTray();
  keepSoon();
}

/** The clue of the middle of the board, which Eternity II gives to all; the others come with the clue puzzles. */
function starter() {
  const middle = [(puzzle.height - 1) / 2, (puzzle.width - 1) / 2];
  const far = (cell) => Math.hypot(Math.floor(cell / puzzle.width) - middle[0], (cell % puzzle.width) - middle[1]);
  return [...puzzle.clueOf.keys()].sort((a, b) => far(a) - far(b))[0];
}

function drawTray() {
  const pieces = board.free.filter((piece) => !filter || puzzle.pieces[piece].includes(filter));
  find("tray-head").textContent = `Free pieces: ${pieces.length}`;
  put(find("tray"), pieces.slice(0, 400).map((piece) => h("button", {
    type: "button", "data-piece": piece, "aria-label": `piece ${piece + 1}: ${spoken(puzzle.pieces[piece])}`,
    "aria-pressed": String(held?.piece === piece), pointerdown: (event) => dragFromTray(event, piece),
    click: (event) => { if (event.detail === 0) pickFromTray(piece); },
  }, pieceSvg(puzzle.pieces[piece]))));
}

function select(cells) {
  selected = cells;
  view.select(selected);
  find("chosen").textContent = cells.size ? `${cells.size} selected` : "no cell is selected: around the mismatches";
}

// -- drag and drop

function listen(svg) {
  svg.addEventListener("contextmenu", (event) => {
    event.preventDefault();
    turn(view.cellOf(event.target), 1);
  });
  svg.addEventListener("pointerdown", (event) => {
    const cell = view.cellOf(event.target);
    if (cell < 0 || event.button !== 0) return;
    view.focus(cell);
    if (mode === "move") dragFromBoard(event, cell);
    else dragSelection(event, cell);
  });
  svg.addEventListener("keydown", press);
}

/** Follow the pointer until it is let go; `drop` gets the cell under it, -1 outside, and whether it moved. */
function drag(event, oriented, drop) {
  event.preventDefault();
  const size = view.cells[0].getBoundingClientRect().width;
  let ghost = null, x = event.clientX, y = event.clientY, frame = 0;
  const [x0, y0] = [x, y];
  const paint = () => { frame = 0; ghost.style.transform = `translate(${x - size / 2}px, ${y - size / 2}px)`; };
  const move = (moved) => {
    [x, y] = [moved.clientX, moved.clientY];
    if (!ghost && Math.hypot(x - x0, y - y0) > 4) ghost = ghostOf(puzzle.quad(oriented), size);
    if (ghost && !frame) frame = requestAnimationFrame(paint);
  };
  const end = (ended) => {
    removeEventListener("pointermove", move);
    removeEventListener("pointerup", end);
    removeEventListener("pointercancel", end);
    cancelAnimationFrame(frame);
    ghost?.remove();
    if (ended.type === "pointerup") drop(view.cellOf(under(ended.clientX, ended.clientY)), ghost !== null, under(ended.clientX, ended.clientY));
  };
  addEventListener("pointermove", move);
  addEventListener("pointerup", end);
  addEventListener("pointercancel", end);
}

function dragFromBoard(event, cell) {
  if (held) { putDown(cell); return; }
  if (board.placements[cell] < 0 || board.fixed(cell)) return;
  drag(event, board.placements[cell], (target, moved, element) => {
    if (!moved) return;
    if (target >= 0) { if (board.move(cell, target)) view.focus(target); }
    else if (element?.closest("#tray")) board.remove(cell);
  });
}

function dragFromTray(event, piece) {
  if (event.button !== 0) return;
  drag(event, piece * 4, (target, moved) => {
    if (moved && target >= 0) placePiece(piece, target);
    else if (!moved) pickFromTray(piece);
  });
}

function placePiece(piece, cell) {
  if (board.place(piece * 4 + board.bestRotation(piece, cell), cell)) view.focus(cell);
}

function dragSelection(event, from) {
  event.preventDefault();
  const before = new Set(selected), add = !selected.has(from), touched = new Set();
  const stretch = (to) => {
    const [r0, c0, r1, c1] = [Math.floor(from / puzzle.width), from % puzzle.width, Math.floor(to / puzzle.width), to % puzzle.width];
    const inside = (cell) => {
      const row = Math.floor(cell / puzzle.width), column = cell % puzzle.width;
      const rows = row >= Math.min(r0, r1) && row <= Math.max(r0, r1);
      return mode === "rows" ? rows : rows && column >= Math.min(c0, c1) && column <= Math.max(c0, c1);
    };
    if (mode === "brush") touched.add(to);
    const cells = new Set(before);
    for (let cell = 0; cell < puzzle.cells; cell++) {
      if (mode === "brush" ? touched.has(cell) : inside(cell)) { if (add && !puzzle.hole.has(cell)) cells.add(cell); else cells.delete(cell); }
    }
    select(cells);
  };
  stretch(from);
  const move = (moved) => { const cell = view.cellOf(under(moved.clientX, moved.clientY)); if (cell >= 0) stretch(cell); };
  const end = () => { removeEventListener("pointermove", move); removeEventListener("pointerup", end); };
  addEventListener("pointermove", move);
  addEventListener("pointerup", end);
}

// -- keyboard

function turn(cell, turns) {
  if (cell >= 0 && board.rotate(cell, turns)) say(view.cells[cell].getAttribute("aria-label"));
}

function pickFromTray(piece) {
  held = held?.piece === piece ? null : { piece };
  drawTray();
  say(held ? `piece ${piece + 1} picked up; choose a cell` : "let go");
  if (held) view.focus(Math.max(0, [...board.placements.keys()].find((cell) => board.placements[cell] < 0 && !board.fixed(cell)) ?? 0));
}

function putDown(cell) {
  const done = held.piece !== undefined ? (placePiece(held.piece, cell), board.placements[cell] >> 2 === held.piece) : board.move(held.cell, cell);
  held = null;
  drawTray();
  say(done ? view.cells[cell].getAttribute("aria-label") : "nothing moved");
}

function press(event) {
  const cell = view.focused;
  if (cell < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
  const steps = { ArrowUp: -puzzle.width, ArrowDown: puzzle.width, ArrowLeft: -1, ArrowRight: 1 };
  const column = cell % puzzle.width;
  if (event.key in steps) {
    const to = cell + steps[event.key];
    const leaves = (event.key === "ArrowLeft" && column === 0) || (event.key === "ArrowRight" && column === puzzle.width - 1);
    if (!leaves && to >= 0 && to < puzzle.cells) view.focus(to);
  } else if (event.key === "Home") view.focus(cell - column);
  else if (event.key === "End") view.focus(cell - column + puzzle.width - 1);
  else if (event.key === "Enter" || event.key === " ") {
    if (held) putDown(cell);
    else if (board.placements[cell] >= 0 && !board.fixed(cell)) { held = { cell }; say(`picked up ${view.cells[cell].getAttribute("aria-label")}`); }
  } else if (event.key === "Escape") { if (held) { held = null; drawTray(); say("let go"); } }
  else if (event.key === "r" || event.key === "R") turn(cell, event.shiftKey ? 3 : 1);
  else if (event.key === "Delete" || event.key === "Backspace") board.remove(cell);
  else if (event.key === "p" || event.key === "P") pin(cell);
  else if (event.key === "s" || event.key === "S") { const cells = new Set(selected); if (!cells.delete(cell)) cells.add(cell); select(cells); }
  else return;
  event.preventDefault();
}

function pin(cell) {
  if (board.placements[cell] < 0) return;
  if (!board.pinned.delete(cell)) board.pinned.add(cell);
  refresh([cell]);
  say(view.cells[cell].getAttribute("aria-label"));
}

const undo = () => { const what = board?.undo(); if (what) say(`undone: ${what}`); };
const redo = () => { const what = board?.redo(); if (what) say(`done again: ${what}`); };

// -- jobs

/** Start a job with its buttons and line; at most one of each name runs. */
async function work(name, fields, { start, stop, said, busy }, on) {
  find(start).disabled = true;
  find(stop).disabled = false;
  if (busy) find(busy).hidden = false;
  find(said).className = "";
  find(said).textContent = "starting ...";
  try {
    const running = await job(fields, { note: (message) => { find(said).textContent = message.text; }, ...on });
    jobs[name] = running;
    return await running.done;
  } catch (error) {
    find(said).textContent = error.message;
    find(said).className = "bad";
    return null;
  } finally {
    delete jobs[name];
    find(start).disabled = false;
    find(stop).disabled = true;
    if (busy) find(busy).hidden = true;
  }
}

const current = () => ({ puzzle: puzzle.fields, board: [...board.placements] });
const figures = (message) => `${count(message.nodes)} nodes, ${message.seconds.toFixed(1)} s`;

async function resolve() {
  const cells = [...selected].filter((cell) => !board.pinned.has(cell));
  const target = find("again-target").value === "" ? null : Number(find("again-target").value);
  const result = await work("again", { kind: "improve", ...current(), cells, target, time: Number(find("again-time").value) },
    { start: "again", stop: "again-stop", said: "again-said", busy: "again-busy" }, {
      progress: (message) => { find("again-said").textContent = `score ${message.score}, at most ${message.bound}; ${figures(message)}`; },
      board: (message) => { board.replace(message.board, "better board"); },
    });
  if (!result) return;
  if (result.board) board.replace(result.board, "re-solved");
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
  view.shade(new Map());
  const result = await work("windows", { kind: "windows", ...current(), height, width, nodes: Number(find("window-nodes").value), time: 3600 },
    { start: "windows", stop: "windows-stop", said: "windows-said" }, {
      window: (message) => {
        done++;
        for (let row = message.row; row < message.row + height; row++) {
          for (let column = message.column; column < message.column + width; column++) {
            const cell = row * puzzle.width + column;
            if (!worst.has(cell) || rank[message.outcome] > rank[worst.get(cell)]) worst.set(cell, message.outcome);
          }
        }
        if (message.board) board.replace(message.board, "better board");
        view.shade(new Map([...worst].map(([cell, outcome]) => [cell, looks[outcome]])));
        find("windows-said").textContent = `window ${done} of ${total}`;
      },
    });
  if (!result?.windows) { if (result) find("windows-said").textContent = `stopped after ${done} of ${total} windows`; return; }
  const { proven, improved, open: unknown } = result.windows;
  find("windows-said").textContent = `${proven} windows proven (green), ${improved} improved (+), ${unknown} open (?); score ${result.score}`;
}

async function solveExactly(keepPieces) {
  const solver = find("solver").value;
  const fields = { kind: "solve", puzzle: puzzle.fields, board: keepPieces ? [...board.placements] : null, solver, time: Number(find("exact-time").value) };
  const result = await work("exact", fields, { start: keepPieces ? "complete" : "solve", stop: "exact-stop", said: "exact-said", busy: "exact-busy" }, {
    progress: (message) => { find("exact-said").textContent = `${count(message.nodes)} nodes, ${message.seconds.toFixed(1)} s` + (message.explored > 1e-4 ? `, about ${(message.explored * 100).toFixed(1)}% of the tree` : ""); },
  });
  if (!result) return;
  const line = find("exact-said");
  const effort = result.nodes >= 0 ? ` (${solver}: ${figures(result)})` : result.seconds === undefined ? "" : ` (${solver}: ${result.seconds.toFixed(1)} s)`;
  if (result.board) {
    board.replace(result.board, "solved");
    line.textContent = `${keepPieces ? "Yes: this can be completed" : "Solved"}${effort}.`;
    line.className = "good";
  } else if (result.status === "infeasible") {
    line.textContent = `Proven: ${keepPieces ? "no perfect board has these pieces" : "there is no perfect board"}${effort}.`;
    line.className = "bad";
  } else line.textContent = `Not known: ${result.status}${effort}.`;
}

// -- share

async function render(format) {
  return ask("render", { ...current(), format });
}

const ENDINGS = { svg: "svg", url: "url", best: "json", json: "json", solution: "solution.txt", csv16: "csv" };

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

async function check() {
  const found = await ask("check", current());
  const line = find("checked");
  line.className = found.valid ? "good" : "bad";
  line.textContent = `Verified by the server: ${found.score} of ${found.max_score}, ${found.valid ? "valid" : `not valid: ${found.problems.slice(0, 3).join("; ")}`}.`;
}

// -- keep the board while the page is closed

let waiting = 0;
function keep() {
  store.set("board", { puzzle: puzzle.fields, board: [...board.placements], pinned: [...board.pinned] });
}
function keepSoon() {
  clearTimeout(waiting);
  waiting = setTimeout(keep, 800);
}

// -- begin

async function begin() {
  setup = await getSetup();
  useColours(setup);
  find("shipped").append(...setup.instances.map((name) => h("option", {}, name)));
  find("solver").append(...setup.solvers.map((solver) => h("option", { value: solver.name, disabled: solver.needs !== null }, solver.name + (solver.needs ? ` (needs ${solver.needs})` : ""))));
  const about = () => { find("exact-about").textContent = setup.solvers.find((solver) => solver.name === find("solver").value)?.about ?? ""; };
  find("solver").addEventListener("change", about);
  about();
  find("format").append(h("option", { value: "url" }, "viewer URL"), h("option", { value: "svg" }, "SVG"),
    ...Object.entries(setup.formats).filter(([name]) => name !== "url").map(([name, holds]) => h("option", { value: name }, `${name} (${holds})`)));
  const query = new URLSearchParams(location.search);
  let found = null;
  if (query.has("opened")) found = await ask("opened");
  else if (query.has("instance")) found = await ask(`instance?name=${encodeURIComponent(query.get("instance"))}`);
  const kept = found ? null : store.get("board", null);
  if (found) open(found);
  else if (kept) {
    open({ ...kept, notes: [] });
    board.pinned = new Set(kept.pinned);
    refresh(null);
  } else find("opener").open = true;
}

find("open").addEventListener("click", safely(() => openText(find("text").value)));
find("file").addEventListener("change", safely(async (event) => {
  const file = event.target.files[0];
  if (file) await openFile(file);
  event.target.value = "";
}));
async function openFile(file) {
  if (file.size > 1_000_000) throw new Error(`${file.name} has ${count(file.size)} bytes; expected at most 1,000,000`);
  await openText(await file.text(), file.name);
}
find("shipped").addEventListener("change", safely(async (event) => {
  if (event.target.value) open(await ask(`instance?name=${encodeURIComponent(event.target.value)}`));
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
addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.target.matches("input, textarea")) return;
  if (event.key === "z" && !event.shiftKey) { undo(); event.preventDefault(); }
  else if (event.key === "y" || (event.key === "z" && event.shiftKey) || event.key === "Z") { redo(); event.preventDefault(); }
});
for (const name of ["move", "rectangle", "rows", "brush"]) {
  find(`mode-${name}`).addEventListener("click", (event) => {
    mode = name;
    for (const other of ["move", "rectangle", "rows", "brush"]) find(`mode-${other}`).setAttribute("aria-pressed", String(other === name));
    event.currentTarget.focus();
  });
}
find("undo").addEventListener("click", undo);
find("redo").addEventListener("click", redo);
find("clear").addEventListener("click", () => board.replace(board.placements.map(() => -1), "take all off"));
find("around").addEventListener("click", () => {
  const cells = new Set(judged.mismatches.flatMap(([cell, , other]) => [cell, other]));
  for (let cell = 0; cell < puzzle.cells; cell++) if (board.placements[cell] < 0 && !puzzle.hole.has(cell)) cells.add(cell);
  select(cells);
});
find("none").addEventListener("click", () => select(new Set()));
find("again").addEventListener("click", safely(resolve));
find("again-stop").addEventListener("click", () => jobs.again?.stop());
find("windows").addEventListener("click", safely(sweep));
find("windows-stop").addEventListener("click", () => jobs.windows?.stop());
find("complete").addEventListener("click", safely(() => solveExactly(true)));
find("solve").addEventListener("click", safely(() => solveExactly(false)));
find("exact-stop").addEventListener("click", () => jobs.exact?.stop());
find("show").addEventListener("click", safely(show));
find("save").addEventListener("click", safely(save));
find("png").addEventListener("click", safely(savePng));
find("check").addEventListener("click", safely(check));
begin().catch(complain);
