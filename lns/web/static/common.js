// What all pages share: requests, elements, messages, event streams, downloads, the theme.

const TOKEN = document.querySelector('meta[name="token"]').content;

export { find, h, put, s } from "./elements.js";
import { find, h, put } from "./elements.js";

/** Ask the server; with a body, tell it. Throws an Error with the server's sentence. */
export async function ask(path, body) {
  const options = body === undefined ? {} : {
    method: "POST",
    headers: { "content-type": "application/json", "x-lns-token": TOKEN },
    body: JSON.stringify(body),
  };
  let answer;
  try {
    answer = await fetch(`/api/${path}`, options);
  } catch {
    throw new Error("the server does not answer; `lns web` may have ended");
  }
  const found = await answer.json().catch(() => ({ error: `the server answered with status ${answer.status}` }));
  if (!answer.ok) throw new Error(found.error || `the server answered with status ${answer.status}`);
  return found;
}

/** A sentence for people who hear the page. */
export function say(sentence) {
  find("said").textContent = sentence;
}

let hide;
/** Show what went wrong, until the next click or Escape, or for ten seconds. */
export function complain(error) {
  const box = find("problem");
  box.textContent = error.message || String(error);
  box.hidden = false;
  clearTimeout(hide);
  hide = setTimeout(() => { box.hidden = true; }, 10000);
}
addEventListener("pointerdown", () => { find("problem").hidden = true; });
addEventListener("keydown", (event) => { if (event.key === "Escape") find("problem").hidden = true; });

/** A handler whose errors are shown. */
export const safely = (handler) => async (...given) => {
  try {
    return await handler(...given);
  } catch (error) {
    complain(error);
    return undefined;
  }
};

/** Follow an event stream; returns a function that ends it. */
export function follow(path, receive, ended = () => {}) {
  const source = new EventSource(`/api/${path}`);
  source.onmessage = (event) => receive(JSON.parse(event.data));
  source.addEventListener("end", () => { source.close(); ended(); });
  source.onerror = () => { if (source.readyState === EventSource.CLOSED) ended(); };
  addEventListener("pagehide", () => source.close());
  return () => source.close();
}

/** The same while the page is seen: a browser has six connections for all tabs of a server, and a hidden one needs none. */
export function followWhileSeen(path, receive) {
  let leave = null;
  const look = () => {
    leave?.();
    leave = document.hidden ? null : follow(path, receive);
  };
  document.addEventListener("visibilitychange", look);
  look();
  return () => {
    document.removeEventListener("visibilitychange", look);
    leave?.();
  };
}

/** Start a job, at another address than `job` if one is given. `on` has functions by the type of message. Returns a promise of its last message, with `stop`. */
export async function job(fields, on = {}, path = "job") {
  const { id } = await ask(path, fields);
  const done = new Promise((resolve, reject) => {
    let last = null;
    follow(`watch/job?id=${id}`, (message) => {
      if (message.type === "done") { last = message; resolve(message); }
      else if (message.type === "error") { last = message; reject(new Error(message.error)); }
      else if (on[message.type]) on[message.type](message);
    }, () => { if (!last) reject(new Error("the job ended without a result")); });
  });
  return { id, done, stop: safely(() => ask("job/stop", { id })) };
}

const MOST_BYTES = 1_000_000;
/** The text of a file that the user gave. Throws an Error for one that the server would refuse. */
export async function textOf(file) {
  if (file.size > MOST_BYTES) throw new Error(`${file.name} has ${count(file.size)} bytes; expected at most ${count(MOST_BYTES)}`);
  return file.text();
}

/** Open each file that is chosen on the page; the same one may be chosen again. */
export function onFile(open) {
  find("file").addEventListener("change", safely(async (event) => {
    const file = event.target.files[0];
    if (file) await open(file);
    event.target.value = "";
  }));
}

export function download(name, content, type = "text/plain") {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** A name for a file, from the name of a puzzle. */
export const fileName = (name) => name.replace(/[^A-Za-z0-9_.-]+/g, "-").slice(0, 60) || "board";

export function duration(seconds) {
  if (seconds > 0 && seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds), two = (n) => String(n).padStart(2, "0");
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}:${two(whole % 60)}`;
  if (whole < 86400) return `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
  return `${Math.floor(whole / 86400)} d ${Math.floor(whole / 3600) % 24} h`;
}

/** A moment in UTC as the clock of this machine shows it. */
export function moment(text) {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? text : at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}

const UNITS = [["year", 8766], ["day", 24], ["hour", 1], ["minute", 1 / 60]];
/** Hours in words, such as "about 2 hours". */
export function hoursInWords(hours) {
  if (hours > 8.8e6) return "more than 1,000 years";
  const [unit, size] = UNITS.find(([, hoursOf]) => hours >= .95 * hoursOf) ?? ["second", 1 / 3600];
  const number = hours / size < 1 ? 1 : Number((hours / size).toPrecision(hours / size < 9.5 ? 1 : 2));
  return `${count(number)} ${unit}${number === 1 ? "" : "s"}`;
}

export const count = (number) => number.toLocaleString("en");

export function short(number) {
  for (const [size, sign] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (number >= size) return `${(number / size).toFixed(1)} ${sign}`;
  }
  return String(Math.round(number));
}

/** Show named facts, [name, value, kind], in a list of definitions; false entries are left out. */
export function putFacts(list, entries) {
  put(list, entries.filter(Boolean).map(([name, value, kind]) => h("div", {}, h("dt", {}, name), h("dd", { class: kind }, value))));
}

/** A table; numbers stand on the right. */
export function table(heads, rows, caption) {
  const numeric = heads.map((_, i) => rows.length > 0 && rows.every((row) => /^[\d.,%\s-]*$/.test(String(row[i] ?? ""))));
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, h("table", {},
    h("caption", { class: "unseen" }, caption),
    h("thead", {}, h("tr", {}, heads.map((head, i) => h("th", { scope: "col", class: numeric[i] ? "number" : null }, head)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, i) => h("td", { class: numeric[i] ? "number" : null }, cell ?? "")))))));
}

// -- theme

const THEMES = ["system", "light", "dark"];
function applyTheme(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  find("theme").textContent = `Theme: ${theme}`;
}
let theme = localStorage.getItem("lns-theme") || "system";
applyTheme(THEMES.includes(theme) ? theme : "system");
find("theme").addEventListener("click", () => {
  theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  localStorage.setItem("lns-theme", theme);
  applyTheme(theme);
});

/** Keep something in the browser; what does not fit is not kept. */
export const store = {
  get(name, otherwise) {
    try { return JSON.parse(localStorage.getItem(`lns-${name}`)) ?? otherwise; } catch { return otherwise; }
  },
  set(name, value) {
    try { localStorage.setItem(`lns-${name}`, JSON.stringify(value)); return true; } catch { return false; }
  },
};

let setup;
/** Colours, solvers, instances and limits, asked for once. */
export const getSetup = () => (setup ??= ask("setup"));
