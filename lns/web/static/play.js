// The game of Cuvillier & Szymkowiak: make a perfect board by hand, with proven hints.
import { ask, complain, download, duration, fileName, find, getSetup, h, job, onFile, put, putFacts, safely, say, store, table, textOf } from "./common.js";
import { chooseColours, colourOf, useColours } from "./draw.js";
import { Editor, lookControls, undoControls } from "./editor.js";
import { Puzzle } from "./model.js";

const MOST_SAVED = 20, MOST_TIMES = 100;
const FIRST = { shape: "square", colours: 4, width: 4, height: 4 };  // of somebody who has not played yet
let game = null, editor = null, puzzle = null, running = null;

// -- sizes: all numbers of pieces of a shape, with what the server is asked for

function sizes(shape) {
  const found = [];
  if (!["rectangle", "triangle", "diamond"].includes(shape)) for (let n = 2; n <= 16; n++) found.push([n * n, { width: n, height: n }, `${n} x ${n}`]);
  if (shape === "triangle") for (let n = 2; n <= 16; n++) found.push([n * n, { side: n }, `${n} rows`]);
  if (shape === "diamond") for (let n = 2; n <= 11; n++) found.push([n * n + (n - 1) * (n - 1), { side: n }, `${n} a side`]);
  if (shape === "macmahon") found.unshift([24, { width: 6, height: 4 }, "6 x 4"]);  // in 3 colours all that there are
  if (shape === "rectangle") {
    for (let height = 2; height <= 16; height++) for (let width = height + 1; width * height <= 256 && width <= 2 * height + 2; width++) found.push([width * height, { width, height }, `${width} x ${height}`]);
    found.sort((a, b) => a[0] - b[0]);
  }
  return found;
}

function offerSizes() {
  const shape = find("shape").value, offered = sizes(shape), usual = { "scramble squares": [9], macmahon: [24] }[shape] ?? [16, 13, 12];
  if (shape === "macmahon") find("colours").value = 3;
  put(find("pieces"), offered.map(([pieces, size, text]) => h("option", { value: JSON.stringify(size), selected: usual.includes(pieces) }, `${pieces} (${text})`)));
}

// -- the clock

const elapsed = () => (game ? game.seconds + (game.since ? (Date.now() - game.since) / 1000 : 0) : 0);
const going = () => game !== null && game.since !== null;
function start() { if (!game.over) game.since = Date.now(); lock(); }
function hold() { game.seconds = elapsed(); game.since = null; lock(); }

function lock() {
  editor.locked = !going();
  find("place").hidden = !game.over && !going() && game.seconds > 0;
  find("pause").textContent = going() || game.over ? "Pause" : "Go on";
  for (const id of ["check", "hint", "give-up"]) find(id).disabled = game.over || !going() || running !== null;
  find("pause").disabled = game.over;
}

setInterval(() => {
  if (going()) { showFacts(); if (Math.round(elapsed()) % 5 === 0) keep(); }
}, 1000);

// -- a game

function open(fields) {
  running?.stop();
  running = null;
  game = { seconds: 0, since: null, over: false, hints: 0, solution: null, own: {}, ...fields };
  puzzle = new Puzzle(game.puzzle);
  chooseColours(game.own);
  editor = new Editor(puzzle, game.board ?? puzzle.start(), changed);
  for (const cell of puzzle.clueOf.keys()) editor.board.pinned.add(cell);
  chooseTurning(false);
  find("work").hidden = false;
  find("opener").open = false;
  find("name").textContent = game.title;
  find("play-said").textContent = "";
  start();
  editor.refresh(null);
  offerColours();
  say(`${game.title}: the clock is running`);
}

function showFacts() {
  const { judged } = editor;
  putFacts(find("score"), [
    ["time", duration(elapsed())], ["matched", `${judged.score} of ${judged.maxScore}`, judged.solved ? "good" : ""],
    ["conflicts", String(judged.mismatches.length + judged.rim.length), judged.mismatches.length + judged.rim.length ? "bad" : "good"],
    ["placed", `${judged.placed} of ${puzzle.pieces.length}`], ["hints", String(game.hints)],
  ]);
}

function changed(judged) {
  game.board = [...editor.board.placements];
  showFacts();
  if (judged.solved && !game.over && going()) won();
  keep();
}

const won = safely(async () => {
  hold();
  game.over = true;
  lock();
  const checked = await ask("check", { puzzle: puzzle.fields, board: game.board });
  if (!checked.valid || checked.score !== checked.max_score) throw new Error("the verifier does not agree that this is solved");
  const line = `Solved in ${duration(game.seconds)}${game.hints ? ` with ${game.hints} hints` : ""}.`;
  find("play-said").textContent = line;
  find("play-said").className = "good";
  const times = store.get("times", []);
  times.push({ title: game.title, seconds: game.seconds, hints: game.hints, on: new Date().toISOString().slice(0, 10) });
  times.sort((a, b) => a.title.localeCompare(b.title) || a.hints - b.hints || a.seconds - b.seconds);
  store.set("times", times.slice(0, MOST_TIMES));
  showTimes();
  keep();
});

function showTimes() {
  const times = store.get("times", []);
  put(find("times"), times.length ? table(["game", "time", "hints", "on"], times.map((one) => [one.title, duration(one.seconds), one.hints, one.on]), "Best times")
    : h("p", { class: "soft" }, "No game is solved yet."));
}

const begin = safely(async (event) => {
  event.preventDefault();
  const shape = find("shape").value, colours = Number(find("colours").value);
  const made = await ask("game", { shape, colours, ...JSON.parse(find("pieces").value) });
  open({ puzzle: made.puzzle, solution: made.solution, title: `${shape}, ${made.puzzle.pieces.length} pieces, ${colours} colours` });
});

// -- hints and the end

/**
 * A handler of Hint, Check or Give up: while one is at work no other begins, and what it finds is for the game that was open then.
 * `act` gets a token, which is `running` as long as that holds.
 */
const alone = (act) => safely(async () => {
  if (running) return;
  const asked = { stop() {} };
  running = asked;
  try {
    await act(asked);
  } catch (error) {
    if (running !== asked) return;
    find("play-said").textContent = error.message;
    throw error;
  } finally {
    if (running === asked) { running = null; lock(); }
  }
});

/** The answer of a solver to the pieces as they lie: a perfect board that keeps them, null if there is none or another game was opened. */
async function completed(asked, board) {
  lock();
  const note = (message) => { if (running === asked) find("play-said").textContent = message.text; };
  const search = await job({ kind: "solve", puzzle: puzzle.fields, board, solver: "colorpairs", time: 120 }, { note });
  asked.stop = search.stop;
  if (running !== asked) search.stop();
  const result = await search.done;
  if (result.board) return result.board;
  if (result.status === "infeasible") return null;
  throw new Error(`not known: ${result.status}`);
}

/** A perfect board with the pieces as they lie; null, and the player is told, if there is none or they were moved meanwhile. */
async function completion(asked, begun = "") {
  const line = find("play-said");
  line.className = "";
  line.textContent = `${begun}Looking for a perfect board with these pieces ...`;
  const before = [...editor.board.placements];
  const known = game.solution && before.every((oriented, cell) => oriented < 0 || oriented === game.solution[cell]) ? game.solution : null;
  const board = known ?? await completed(asked, before);
  if (running !== asked) return null;
  if (before.some((oriented, cell) => oriented !== editor.board.placements[cell])) {
    line.textContent = "The board has changed since you asked. Ask again.";
    return null;
  }
  if (!board) {
    line.textContent = "Proven: no perfect board has these pieces on these cells. Take some off.";
    line.className = "bad";
  }
  return board;
}

const hint = alone(async (asked) => {
  const board = await completion(asked);
  if (!board) return;
  const open = [...editor.board.placements.keys()].filter((cell) => editor.board.placements[cell] < 0 && !puzzle.hole.has(cell));
  const nearby = (cell) => [0, 1, 2, 3].filter((side) => { const other = puzzle.beyond(cell, side); return other < 0 || editor.board.placements[other] >= 0; }).length;
  const cell = open.sort((a, b) => nearby(b) - nearby(a) || a - b)[0];
  if (cell === undefined) return;
  game.hints++;
  editor.board.place(board[cell], cell);
  editor.view.focus(cell);
  find("play-said").textContent = `Piece ${(board[cell] >> 2) + 1} at ${puzzle.label(cell)}: proven, this can still be completed.`;
});

const giveUp = alone(async (asked) => {
  const line = find("play-said");
  line.textContent = "";
  const board = game.solution ?? await completed(asked, puzzle.start());
  if (running !== asked) return;
  hold();
  game.over = true;
  if (board) editor.board.replace(board, "give up");
  line.textContent = board ? "Given up: this is a solution." : "Given up. Proven: there is no solution.";
  lock();
  keep();
});

const check = alone(async (asked) => {
  const found = await ask("check", { puzzle: puzzle.fields, board: game.board });
  if (running !== asked) return;
  const wrong = editor.judged.mismatches.length + editor.judged.rim.length;
  const line = find("play-said");
  line.className = wrong ? "bad" : "good";
  line.textContent = wrong ? `${wrong} sides do not fit.` : `All ${found.placed} pieces fit so far.`;
  if (wrong || game.over || !going() || !await completion(asked, `${line.textContent} `)) return;
  line.className = "good";
  line.textContent = `All ${found.placed} pieces fit so far. Proven: this can still be completed.`;
});

// -- games that are kept

const saved = () => store.get("games", []);
let kept = 0;
function keep() {
  clearTimeout(kept);
  kept = setTimeout(() => { if (game) store.set("game", { ...game, seconds: elapsed(), since: null }); }, 300);
}

function showSaved() {
  const games = saved();
  put(find("saved"), games.length ? h("h3", {}, "Saved games") : null, h("ul", { class: "plain" }, games.map((one, i) => h("li", {},
    h("button", { type: "button", click: () => open(one) }, `${one.title}, ${duration(one.seconds)}, saved ${one.on}`), " ",
    h("button", { type: "button", "aria-label": `remove ${one.title}`, click: () => { games.splice(i, 1); store.set("games", games); showSaved(); } }, "Remove")))));
}

function save() {
  const one = { ...game, seconds: elapsed(), since: null, on: new Date().toISOString().slice(0, 16).replace("T", " ") };
  if (!store.set("games", [one, ...saved()].slice(0, MOST_SAVED))) throw new Error("the browser has no room for another game");
  showSaved();
  find("play-said").textContent = "Saved in this browser.";
}

async function openFile(file) {
  await coloured;  // a game needs them
  const text = await textOf(file);
  let fields = null;
  try { fields = JSON.parse(text); } catch { /* some other format */ }
  if (fields?.lns_game === 1) {
    const checked = await ask("check", { puzzle: fields.puzzle, board: fields.board });  // the server refuses what is no board
    const solution = fields.solution ? (await ask("check", { puzzle: fields.puzzle, board: fields.solution })).valid && fields.solution : null;
    open({ puzzle: fields.puzzle, board: fields.board, solution, title: String(fields.title).slice(0, 100), seconds: Math.max(0, Number(fields.seconds) || 0), hints: Math.max(0, Math.floor(Number(fields.hints)) || 0), over: checked.score === checked.max_score && fields.over === true });
    return;
  }
  const found = await ask("document", { text, name: file.name });
  open({ puzzle: found.puzzle, board: null, title: `${found.puzzle.name}, ${found.puzzle.pieces.length} pieces` });
}

// -- colours of one's own

function offerColours() {
  put(find("own"), [...new Set(puzzle.colours.map((colour) => puzzle.first(colour)))].map((colour) => h("label", {}, `${colour} `, h("input", {
    type: "color", value: colourOf(colour).toLowerCase(), "aria-label": `colour ${colour}`,
    change: (event) => { game.own[colour] = event.target.value; repaint(); },
  }))));
}

function repaint() {
  chooseColours(game.own);
  editor.drawFilter();
  editor.refresh(null);
}

// -- begin

find("shape").addEventListener("change", offerSizes);
find("new").addEventListener("submit", begin);
onFile(openFile);
find("pause").addEventListener("click", () => { if (going()) { hold(); say("paused"); } else { start(); say("going on"); } keep(); });
/** Whether a click turns a piece: a finger has no right button. */
function chooseTurning(turning) {
  editor.askNothing();
  editor.mode = turning ? "turn" : "move";
  find("turn").setAttribute("aria-pressed", String(turning));
}
find("turn").addEventListener("click", () => chooseTurning(editor.mode !== "turn"));
find("check").addEventListener("click", check);
find("hint").addEventListener("click", hint);
find("give-up").addEventListener("click", giveUp);
find("save").addEventListener("click", safely(save));
find("download").addEventListener("click", () => download(`${fileName(game.title)}.json`, JSON.stringify({ lns_game: 1, ...game, seconds: elapsed(), since: undefined })));
find("own-none").addEventListener("click", () => { if (game) { game.own = {}; repaint(); offerColours(); } });
undoControls(() => editor);
lookControls(() => editor);
addEventListener("pagehide", () => { if (game) store.set("game", { ...game, seconds: elapsed(), since: null }); });

/** A game that nobody has begun begins with the first press on its board. */
const beginHere = (event) => {
  if (event.type === "keydown" && !["Enter", " "].includes(event.key)) return;
  if (game && !going() && !game.over && game.seconds === 0) start();
};
for (const type of ["pointerdown", "keydown"]) for (const id of ["place", "tray"]) find(id).addEventListener(type, beginHere, true);

const coloured = getSetup().then((setup) => {
  useColours(setup);
  find("shape").append(...setup.games.map((shape) => h("option", {}, shape)));
});
async function load() {
  await coloured;
  offerSizes();
  showSaved();
  showTimes();
  const last = store.get("game", null);
  const kept = last && !last.over, seconds = kept ? last.seconds : 0;
  if (kept) open(last);
  else {
    const made = await ask("game", FIRST);
    if (game) return;  // a file was opened meanwhile
    open({ ...made, title: `${FIRST.shape}, ${made.puzzle.pieces.length} pieces, ${FIRST.colours} colours` });
    find("opener").open = true;
  }
  hold();
  game.seconds = seconds;
  lock();
  say(kept ? "the last game is paused" : "a first game is ready, and paused");
}
load().catch(complain);
