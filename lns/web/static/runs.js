// The page of runs: a list that follows all runs, and one of them with its curve, boards and log.
import { ask, complain, count, duration, find, follow, followWhileSeen, getSetup, h, hoursInWords, job, moment, put, putFacts, safely, say, short, store, table } from "./common.js";
import { BoardView, picture, useColours } from "./draw.js";
import { Puzzle, judge } from "./model.js";
import uPlot from "./vendor/uplot.js";

let setup, runs = [], shown = null, leave = () => {}, plot = null, compared = new Set(), drawn = {};

// -- the list

function drawList() {
  const heads = ["compare", "run", "clues", "state", "score", "best since", "rate", "used", "left"];
  const rows = bySet(runs).map((run) => {
    if (run.heading) return h("tr", {}, h("th", { scope: "colgroup", colspan: heads.length }, run.heading));
    const name = h("a", { href: `/runs?name=${encodeURIComponent(run.name)}`, click: (event) => { event.preventDefault(); show(run.name); goTo(find("run-head")); } }, run.name || "(this directory)");
    if (run.state === "unreadable") return h("tr", {}, h("td"), h("td", {}, name), h("td", { class: "bad wrap", colspan: 7 }, run.error));
    const state = run.state === "running" || !run.ended ? run.state : `${run.state}: ${run.ended}`;
    return h("tr", { class: run.name === shown ? "chosen" : null },
      h("td", {}, h("input", { type: "checkbox", "aria-label": `compare ${run.name}`, ...(compared.has(run.name) ? { checked: true } : {}), change: (event) => compare(run.name, event.target.checked) })),
      h("td", {}, name, h("div", { class: "soft" }, run.instance)), h("td", {}, run.clues),
      h("td", { class: { running: "good", died: "bad" }[run.state] }, state),
      h("td", { class: "number" }, run.score < 0 ? "-" : `${run.score} of ${run.max_score}`),
      h("td", {}, run.best_at ? moment(run.best_at) : ""), h("td", { class: "number" }, run.state === "running" ? `${short(run.rate)} ${run.unit}/s` : ""),
      h("td", { class: "number" }, duration(run.elapsed_s)), h("td", { class: "number" }, duration(run.left_s)));
  });
  const focus = document.activeElement?.closest?.("#list") ? document.activeElement.getAttribute("href") ?? document.activeElement.getAttribute("aria-label") : null;
  put(find("list"), runs.length ? h("table", {}, h("caption", { class: "unseen" }, "Runs"),
    h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))), h("tbody", {}, rows))
    : h("p", { class: "soft" }, "There is no run below this directory yet. Start one here, or with `lns solve`."));
  if (focus) [...find("list").querySelectorAll("a, input")].find((element) => [element.getAttribute("href"), element.getAttribute("aria-label")].includes(focus))?.focus();
}

/** The runs of one set of pieces together, in any numbering and with any clues; a heading for each where there are several. */
function bySet(list) {
  const sets = [...new Set(list.map((run) => run.set_sha256))].map((key) => list.filter((run) => run.set_sha256 === key));
  if (sets.length < 2) return list;
  return sets.flatMap((of) => {
    const [{ set, max_score: most }] = of, best = Math.max(...of.map((run) => run.score ?? -1));
    return [{ heading: set ? `${set}: ${of.length} ${of.length === 1 ? "run" : "runs"}, best ${best < 0 ? "-" : best} of ${most}` : "unreadable" }, ...of];
  });
}

const compare = safely(async (name, wanted) => {
  if (wanted) compared.add(name); else compared.delete(name);
  if (shown === null) show(name);  // the chart is part of a run
  else await drawChart();
  say(wanted ? `${name} is in the chart` : `${name} is out of the chart`);
});

// -- one run

let stopping = null;  // the run that was asked to stop

function show(name) {
  leave();
  measuring?.stop();
  shown = name;
  drawn = {};
  for (const id of ["run-said", "run-notes", "estimate-said", "common", "next"]) find(id).textContent = "";
  for (const id of ["facts", "best", "elites", "islands", "parts", "counts", "sessions", "estimate-rows"]) put(find(id));
  for (const id of ["stop", "resume"]) find(id).disabled = true;
  drawChart();
  history.replaceState(null, "", `/runs?name=${encodeURIComponent(name)}`);
  find("run").hidden = false;
  find("run-head").textContent = name || "(this directory)";
  log.open(name);
  drawList();
  leave = followWhileSeen(`watch/run?name=${encodeURIComponent(name)}`, safely((run) => (name === shown ? drawRun(run) : undefined)));
}

/** Bring a heading into view, and the focus of the keyboard to it. */
function goTo(heading) {
  heading.focus();
  heading.scrollIntoView({ block: "start" });
}

async function drawRun(run) {
  if (run.type === "error") { find("run-notes").textContent = run.error; return; }
  const running = run.state === "running";
  const state = running || !run.ended ? run.state : `${run.state}: ${run.ended}`;
  putFacts(find("facts"), [
    ["state", state, { running: "good", died: "bad" }[run.state]],
    ["score", run.score < 0 ? "no board yet" : `${run.score} of ${run.max_score}`],
    run.best_at && ["since", moment(run.best_at)],
    running && ["rate", `${short(run.rate)} ${run.unit}/s`],
    running && ["workers", run.workers ?? "elsewhere"],
    ["used", duration(run.elapsed_s)], ["left", duration(run.left_s)], ["engine", run.engine], ["seed", String(run.seed)],
    run.target >= 0 && ["target", String(run.target)], run.certificate && ["certificate", run.certificate],
  ]);
  if (drawn.run?.score !== undefined && drawn.run.score !== run.score) say(`new best: ${run.score}`);
  if (drawn.run && drawn.run.state !== run.state) {  // what was asked for has happened
    find("run-said").textContent = running ? "The search goes on." : stopping === run.name ? "Stopped and saved." : "";
    stopping = null;
  }
  find("run-notes").textContent = [...run.notes, ...run.write_errors.map((file) => `${file} cannot be written`)].join("; ");
  find("stop").disabled = !running || stopping === run.name;
  find("resume").disabled = running;
  find("more").placeholder = run.left_s > 0 ? `${duration(run.left_s)} left` : "like 10m";
  const differs = (part) => JSON.stringify(run[part]) !== JSON.stringify(drawn.run?.[part]);
  const puzzle = drawn.puzzle ?? new Puzzle(run.puzzle);
  if (differs("best")) {
    put(find("best"), run.best ? picture(puzzle, run.best, judge(puzzle, run.best), `Best board, ${run.score} of ${run.max_score}`) : h("p", { class: "soft" }, "There is no board yet."));
  }
  if (differs("elites")) drawElites(puzzle, run.elites);
  if (differs("islands")) {
    const moves = run.islands.some((one) => one.moves);
    put(find("islands"), run.islands.length ? table(["island", "best", "placements", ...(moves ? ["moves"] : []), "boards"], run.islands.map((one) => [one.number + 1, one.best < 0 ? "-" : one.best, short(one.placements), ...(moves ? [short(one.moves)] : []), count(one.boards)]), "Islands")
      : h("p", { class: "soft" }, "There is no checkpoint yet."));
  }
  find("next").textContent = outlook(run);
  if (differs("parts")) {
    put(find("parts"), table(["part", "share of the cost", "boards", "bests", "edges gained"], largest(run.parts).map((part) => [part.name, h("span", {}, h("meter", { max: 1, value: part.share, "aria-hidden": "true" }), ` ${(part.share * 100).toFixed(1)}%`), count(part.boards), count(part.bests), count(part.edges)]), "Parts of the search"));
  }
  if (differs("counts") || run.elapsed_s !== drawn.run?.elapsed_s) {
    const hours = Math.max(run.elapsed_s, 1) / 3600;
    put(find("counts"), table(["score", "boards", "boards an hour"], run.counts.slice(0, 12).map(([score, boards]) => [score, count(boards), (boards / hours).toFixed(1)]), "Boards by score"));
  }
  if (differs("sessions")) {
    put(find("sessions"), table(["began", "ended", "search", "workers"], run.sessions.map((one) => [moment(one.started_at), one.ended || "-", duration(one.seconds), one.workers]), "Sessions"));
  }
  drawn = { run, puzzle };
  await drawChart();
  log.update();
}

const MOST_PARTS = 5;
/** The parts of a search that cost most, and all others as one. */
function largest(parts) {
  const sorted = [...parts].sort((a, b) => b.share - a.share), rest = sorted.slice(MOST_PARTS);
  if (rest.length < 2) return sorted;
  const sum = (name) => rest.reduce((total, part) => total + part[name], 0);
  return [...sorted.slice(0, MOST_PARTS), { name: `${rest.length} others`, share: sum("share"), boards: sum("boards"), bests: sum("bests"), edges: sum("edges") }];
}

/** The elites side by side: what they share, and what each has unlike the best one. */
function drawElites(puzzle, elites) {
  const [best] = elites;
  const shared = best ? best.board.map((oriented, cell) => (elites.every((elite) => elite.board[cell] === oriented) ? oriented : -1)) : [];
  const cells = shared.filter((oriented) => oriented >= 0).length;
  find("common").textContent = elites.length > 1 ? `${cells ? count(cells) : "No"} ${cells === 1 ? "cell is" : "cells are"} the same on all ${elites.length} boards.` : elites.length ? "There is one board so far." : "There is no board yet.";
  const tile = (view, board, ...words) => h("figure", {}, view.svg, h("figcaption", { class: "soft" }, words, " ", h("a", { href: "/board", click: () => store.set("board", { puzzle: puzzle.fields, board, pinned: [] }) }, "Open")));
  const draw = (board, label, dimmed) => {
    const view = new BoardView(puzzle, { label, still: true });
    view.draw(board);
    view.mark(judge(puzzle, board));
    view.shade(new Map(dimmed.map((cell) => [cell, ["#202020", .72, ""]])));
    return view;
  };
  const alike = (board) => find("unlike").checked ? [...board.keys()].filter((cell) => board[cell] === best.board[cell]) : [];
  put(find("elites"), elites.map((elite, i) => tile(draw(elite.board, `Board of score ${elite.score}`, i ? alike(elite.board) : []), elite.board,
    `${elite.score} after ${duration(elite.elapsed_s)}, ${elite.origin}${i ? `; ${count(elite.distance)} ${elite.distance === 1 ? "cell" : "cells"} unlike the best` : ""}.`)),
  cells ? tile(draw(shared, "What all these boards have in common", []), shared, "In common.") : null);
}

const ENOUGH = 10;  // boards that a rate needs
/** What the log tells of the time to the next score: it holds all boards of at least the best score less one. */
function outlook(run) {
  const [top = [run.score, 0], below = [run.score - 1, 0]] = [run.score, run.score - 1].map((score) => run.counts.find(([other]) => other === score));
  if (run.score < 0) return "";
  if (run.score === run.max_score) return "No score is higher.";
  const reached = run.improvements.at(-1)?.[1] ?? 0, hours = Math.max(run.elapsed_s - reached, 1) / 3600;
  if (below[1] + top[1] < ENOUGH || top[1] < 2) return `The log has ${count(top[1])} of ${run.score} and ${count(below[1])} of ${below[0]}: too few to tell. A measurement tells more; it runs the construction alone, on one core beside the search.`;
  const cost = (below[1] + top[1]) / top[1], each = hours / Math.max(1, top[1] - 1);
  return `A board of ${run.score} came every ${hoursInWords(each)} since the first. An edge more costs about ${cost.toFixed(1)} times as much by the boards of ${below[0]}, so ${run.score + 1} would take about ${hoursInWords(each * cost)} at this rate, uncertain by a factor of ${(1 + 2 / Math.sqrt(top[1])).toFixed(1)} or more.`;
}

const curves = new Map();
/** A run that is drawn into the chart; asked for again only when the list says that it has changed. */
async function curveOf(name) {
  if (name === shown) return drawn.run;
  const stamp = JSON.stringify(runs.find((run) => run.name === name));
  if (curves.get(name)?.stamp !== stamp) curves.set(name, { stamp, run: await ask(`run?name=${encodeURIComponent(name)}`).catch(() => null) });
  return curves.get(name).run;
}

let charts = 0;
async function drawChart() {
  const series = [], number = ++charts;
  const names = [...new Set([shown, ...compared])].filter((name) => name !== null);
  for (const name of names) {
    const run = await curveOf(name);
    if (number !== charts) return;  // it is drawn anew meanwhile
    if (run?.improvements.length) series.push([name, run.improvements.map(([score, at]) => [Math.max(at, 0.1), score]), Math.max(run.elapsed_s, 0.2)]);
  }
  const times = [...new Set(series.flatMap(([, points, end]) => [...points.map(([at]) => at), end]))].sort((a, b) => a - b);
  const values = series.map(([, points, end]) => {
    let next = 0, last = null;
    return times.map((at) => {
      while (next < points.length && points[next][0] <= at) last = points[next++][1];
      return at > end ? null : last;
    });
  });
  const style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue("--ink").trim(), line = style.getPropertyValue("--line").trim();
  const strokes = [style.getPropertyValue("--accent").trim(), "#d7875f", "#00875f", "#af5f87", "#8a6d00", "#5f87af"];
  plot?.destroy();
  put(find("chart"));
  put(find("improvements"), drawn.run ? table(["score", "after", "time of day", "by"], drawn.run.improvements.map(([score, at, day, origin]) => [score, duration(at), moment(day), origin]).reverse(), "New bests") : null);
  if (!series.length) return;
  const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line } };
  plot = new uPlot({
    width: Math.max(240, find("chart").clientWidth), height: 240,
    scales: { x: { time: false, distr: 3, log: 10 }, y: { range: (_, low, high) => [Math.floor((low ?? 0) - 1), Math.ceil((high ?? 1) + 1)] } },
    axes: [{ ...axis, values: (_, marks) => marks.map((mark) => (mark === null ? "" : duration(mark))) }, { ...axis, values: (_, marks) => marks.map((mark) => (Number.isInteger(mark) ? mark : "")) }],
    series: [{ label: "search", value: (_, at) => (at === null ? "" : duration(at)) },
      ...series.map(([name], i) => ({ label: name || "run", stroke: strokes[i % strokes.length], width: 2, dash: i ? [4 + 3 * i, 3] : undefined, paths: uPlot.paths.stepped({ align: 1 }), points: { show: times.length < 60 } }))],
  }, [times, ...values], find("chart"));
}
new ResizeObserver(() => { if (plot && find("chart").clientWidth > 0) plot.setSize({ width: find("chart").clientWidth, height: 240 }); }).observe(find("chart"));

// -- the log: only the lines that are seen are in the page, so a log of a million lines opens at once

const LINE = 20, MOST_HEIGHT = 8_000_000;
const log = {
  name: null, total: 0, space: h("div", { class: "space" }), lines: h("div", { class: "lines" }), asked: "",
  open(name) {
    Object.assign(this, { name, total: 0, asked: "" });
    this.space.style.height = "0";
    put(this.lines);
    this.space.append(this.lines);
    put(find("log"), this.space);
    this.update();
  },
  async update() {
    const { name } = this, box = find("log");
    const atEnd = box.scrollTop + box.clientHeight >= box.scrollHeight - 2 * LINE;
    const found = await ask(`log?name=${encodeURIComponent(name)}&first=-1&count=1`).catch(() => null);
    if (!found || name !== this.name || found.total === this.total) return;
    this.total = found.total;
    find("log-total").textContent = `${count(this.total)} ${this.total === 1 ? "line" : "lines"}`;
    this.space.style.height = `${Math.min(this.total * LINE, MOST_HEIGHT)}px`;
    if (atEnd) box.scrollTop = box.scrollHeight;
    this.asked = "";
    this.draw();
  },
  async draw() {
    const box = find("log"), visible = Math.ceil(box.clientHeight / LINE) + 20;
    const reach = Math.max(1, box.scrollHeight - box.clientHeight), share = Math.min(1, box.scrollTop / reach);
    const first = this.total * LINE <= MOST_HEIGHT ? Math.max(0, Math.floor(box.scrollTop / LINE) - 10) : Math.max(0, Math.floor(share * (this.total - visible)));
    const wanted = `${first} ${visible}`;
    if (wanted === this.asked || !this.total) return;
    this.asked = wanted;
    const found = await ask(`log?name=${encodeURIComponent(this.name)}&first=${first}&count=${visible}`).catch(complain);
    if (!found || this.asked !== wanted) return;
    this.lines.textContent = found.lines.join("\n");
    this.lines.style.top = `${this.total * LINE <= MOST_HEIGHT ? first * LINE : box.scrollTop}px`;
  },
};
find("log").addEventListener("scroll", () => requestAnimationFrame(() => log.draw()));

// -- start, stop, resume

function seconds(text) {
  const match = /^(\d+(?:\.\d*)?|\.\d+)\s*([smhd]?)$/.exec(text.trim());
  if (!match) throw new Error(`'${text}' is no duration; expected seconds, or like 10m, 2h, 7d`);
  return Number(match[1]) * { "": 1, s: 1, m: 60, h: 3600, d: 86400 }[match[2]];
}

find("start").addEventListener("submit", safely(async (event) => {
  event.preventDefault();
  const params = {};
  for (const input of find("params").querySelectorAll("input")) {
    if (input.value === "") continue;
    const [section, name] = input.name.split(".");
    (params[section] ??= {})[name] = Number(input.value);
  }
  const target = find("target").value, line = find("start-said");
  const button = find("start").querySelector("button[type=submit]");
  button.disabled = true;
  line.className = "";
  line.textContent = "starting ...";
  put(find("start-notes"));
  try {
    const started = await ask("run/start", {
      instance: find("instance-file").value.trim() || find("instance").value, time: seconds(find("time").value), workers: Number(find("workers").value), seed: find("seed").value === "" ? null : Number(find("seed").value),
      engine: find("engine").value, target: target === "" ? null : Number(target), params, clues: find("clues").value.trim(), start: find("begin").checked,
    });
    put(find("start-notes"), started.notes.map((note) => h("li", {}, note)));
    line.textContent = `starting ${started.run} ...`;
    let last = null;
    attend(started.id, (message) => {
      last = message;
      if (message.type === "done") line.textContent = `${started.run} has ended: ${message.status}`;
      else fail(line, message.error);
    });
    while (!runs.some((run) => run.name === started.run)) {
      if (last?.type === "error") return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    if (!last) line.textContent = `${started.run} is started. It goes on when this page is closed.`;
    show(started.run);
    goTo(find("run-head"));
  } catch (error) {
    fail(line, error.message);
  } finally {
    button.disabled = false;
  }
}));

function fail(line, sentence) {
  line.textContent = sentence;
  line.className = "bad";
}

/** Wait for the last message of a job that goes on without this page. */
function attend(id, ended) {
  const leave = followWhileSeen(`watch/job?id=${id}`, (message) => {
    if (message.type !== "done" && message.type !== "error") return;
    leave();
    ended(message);
  });
}

find("stop").addEventListener("click", safely(async () => {
  await ask("run/stop", { name: shown });
  stopping = shown;
  find("stop").disabled = true;
  find("run-said").className = "";
  find("run-said").textContent = "Stopping and saving ...";
}));
find("resume").addEventListener("click", safely(async () => {
  const more = find("more").value.trim(), name = shown, line = find("run-said");
  line.className = "";
  if (!more && drawn.run.left_s <= 0) {
    fail(line, "The time of this run is used up: write how long it shall go on.");
    find("more").focus();
    return;
  }
  const started = await ask("run/resume", { name, time: more ? seconds(more) : null, workers: null });
  find("resume").disabled = true;
  line.textContent = "Going on ...";
  attend(started.id, (message) => {
    if (name !== shown) return;
    find("resume").disabled = drawn.run?.state === "running";
    if (message.type === "error") fail(line, message.error);
  });
}));
let measuring = null;
find("estimate").addEventListener("click", safely(async () => {
  const line = find("estimate-said"), name = shown;
  find("estimate").disabled = true;
  line.textContent = "starting ...";
  put(find("estimate-rows"));
  try {
    measuring = await job({ name, time: Number(find("estimate-time").value) }, { note: (message) => { line.textContent = message.text; }, progress: (message) => { line.textContent = `${duration(message.seconds)}: ${message.text}`; } }, "run/estimate");
    find("estimate-stop").disabled = false;
    const result = await measuring.done;
    if (!result.rows) { line.textContent = "Stopped before the first board."; return; }
    line.textContent = `Of one core, measured up to ${result.measured_score}${result.rows.some(([score]) => score > result.measured_score) ? " and extrapolated above it" : ""}, in ${duration(result.seconds)}; more cores divide the time.`;
    const time = (rate) => (rate > 0 ? hoursInWords(1 / rate) : "more than 1,000 years");
    put(find("estimate-rows"), table(["score", "seen", "a board takes", "at least", "at most"], result.rows.slice(0, 14).map(([score, seen, expected, low, high]) => [score, seen, time(expected), time(high), time(low)]), "Time for each score"));
  } catch (error) {
    line.textContent = error.message;
  } finally {
    measuring = null;
    find("estimate").disabled = false;
    find("estimate-stop").disabled = true;
  }
}));
find("estimate-stop").addEventListener("click", () => measuring?.stop());
find("unlike").addEventListener("change", () => { if (drawn.run) drawElites(drawn.puzzle, drawn.run.elites); });
find("edit").addEventListener("click", (event) => {
  if (!drawn.run?.best) { event.preventDefault(); complain(new Error("there is no board yet")); return; }
  store.set("board", { puzzle: drawn.run.puzzle, board: drawn.run.best, pinned: [] });
});

// -- begin

async function begin() {
  setup = await getSetup();
  useColours(setup);
  find("root").textContent = `below ${setup.root}`;
  find("instance").append(...setup.instances.map((name) => h("option", { selected: name === "like-e2-16x16" }, name)));
  find("engine").append(...setup.engines.map((name) => h("option", {}, name)));
  find("workers").max = setup.max_workers;
  find("workers").value = setup.cores;
  put(find("files"), setup.files.map((name) => h("option", { value: name })));
  const { sections } = await ask("params");
  put(find("params"), Object.entries(sections).map(([section, { about, parameters }]) => h("details", {}, h("summary", {}, `${section}: ${about}`),
    parameters.map((one) => h("p", {}, h("label", {}, `${one.name} `, h("input", { name: `${section}.${one.name}`, type: "number", step: "any", min: one.low, max: one.high, placeholder: one.default })),
      h("span", { class: "soft" }, ` ${one.doc}${one.low === null ? "" : ` (${one.low} to ${one.high ?? "any"})`}`))))));
  followWhileSeen("watch/runs", (message) => { runs = message.runs; drawList(); });
  const name = new URLSearchParams(location.search).get("name");
  if (name !== null) show(name);
}
begin().catch(complain);
