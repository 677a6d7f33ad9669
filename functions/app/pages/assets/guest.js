// The panel of feedback on the page of a link: what guests wrote and members let through, and the forms of a guest. What
// arrives was written by others, and enters the page as text, never as markup.

import { part, plain, time } from "./exhibit.js";
import { solve } from "./pow.js";

const drawer = part("feedback");
let name; // the field for who writes
let first; // the form that begins a thread
const { publicId } = document.querySelector("main").dataset;
const within = (of, field) => of.querySelector(`[data-field="${field}"]`);
const patience = 20_000;
const pause = 30_000; // between two looks that polls lead to

// The tab keeps who the guest is and what is being written, or the page does as long as it lives.

const prefix = `vitrine:guest:${publicId}:`;
const memory = new Map();

function keep(what, value) {
  memory.set(what, value);
  try {
    if (value === undefined) sessionStorage.removeItem(prefix + what);
    else sessionStorage.setItem(prefix + what, JSON.stringify(value));
  } catch {
    // a browser that keeps nothing
  }
}

function kept(what) {
  if (memory.has(what)) return memory.get(what);
  try {
    return JSON.parse(sessionStorage.getItem(prefix + what)) ?? undefined;
  } catch {
    return undefined;
  }
}

const draftOf = (form) => `draft:${form.dataset.letter}`;
const fields = (form) => [...form.elements].filter(({ name, type }) => name && type !== "submit");
const written = (form) => [...form.querySelectorAll("textarea")].some(({ value }) => value.trim());
const values = (form) =>
  Object.fromEntries(
    fields(form)
      .filter(({ type, checked }) => type !== "radio" || checked)
      .map(({ name, value }) => [name, value]),
  );

drawer.addEventListener("input", ({ target }) => {
  if (target === name) return keep("name", name.value);
  const { form } = target;
  if (form) keep(draftOf(form), written(form) ? { ...kept(draftOf(form)), values: values(form) } : undefined);
});

// restore fills a form in with what was typed.
function restore(form) {
  const typed = kept(draftOf(form))?.values;
  if (!typed) return;
  for (const [field, value] of Object.entries(typed)) if (form.elements[field]) form.elements[field].value = value;
  const fold = form.closest(".fold");
  if (fold) fold.open = true;
}

// introduce asks who writes, once.
function introduce() {
  const known = kept("token") !== undefined && kept("name");
  part("who").hidden = Boolean(known);
  part("known-as").hidden = !known;
  within(drawer, "known-as").textContent = known || "";
  name.value = kept("name") ?? "";
}

// What others wrote is asked for when an artifact comes on show, when the panel opens, after a letter, and while the page
// polls.

function post(path, more) {
  const link = { public_id: publicId, blob: location.hash.slice(1), token: kept("token") };
  return opening.send(path, { ...link, ...more }, AbortSignal.timeout(patience));
}

let asked; // the fragment of the address that the threads on show belong to
let drawn; // the answer on show
let looked = 0; // when it was asked for
let looking = Promise.resolve();

function look() {
  return (looking = looking.then(read));
}

async function read() {
  const { hash } = location;
  if (hash !== asked) drawn = undefined;
  asked = hash;
  looked = Date.now();
  try {
    const answer = await post("/api/access-links/feedback/threads");
    if (!answer.ok) return;
    const text = await answer.text();
    const told = JSON.parse(text);
    const none = !told.writes && !told.threads.length && !told.waiting.length;
    if (!none) await (furnished ??= furnish());
    if (hash !== location.hash) return;
    drawer.hidden = none;
    if (!none && text !== drawn) draw(told);
    drawn = text;
  } catch {
    // no network, or not the answer that we asked for: the next look tells it
    if (!first) furnished = undefined;
  }
}

// furnish loads what is in the panel, and its style, which most links do without.
let furnished;
async function furnish() {
  const signal = AbortSignal.timeout(patience);
  const answer = await fetch(new URL("guest.html", import.meta.url), { redirect: "error", signal });
  if (!answer.ok) throw new Error(answer.status);
  const inside = new DOMParser().parseFromString(await answer.text(), "text/html");
  const style = document.createElement("link");
  style.rel = "stylesheet";
  style.href = new URL("threads.css", import.meta.url);
  await new Promise((done) => {
    style.onload = style.onerror = done;
    document.head.append(style);
  });
  drawer.querySelector(".sheet").replaceChildren(...inside.head.childNodes, ...inside.body.childNodes);
  name = document.getElementById("guest-name");
  first = drawer.querySelector('[data-letter="new"]');
  restore(first);
  offer();
}

// draw shows what an answer tells, and keeps what is being typed and where.
function draw({ writes, threads, waiting }) {
  const { activeElement: at } = document;
  const list = part("threads");
  const focus = list.contains(at) && { thread: at.closest(".thread")?.id, range: [at.selectionStart, at.selectionEnd] };
  const open = threads.filter(({ state }) => state === "open").length;
  part("guest").hidden = !writes;
  part("closed-to-guests").hidden = writes;
  part("feedback-count").textContent = open ? `${open} open` : "";
  if (drawn !== undefined) part("feedback-said").textContent = "The feedback has changed.";
  introduce();
  const rows = (all) => all.map((thread) => talk(thread, writes));
  const note = "Nobody else sees this until the people who shared the artifact let it through.";
  list.replaceChildren(...group("Waiting", note, rows(waiting)), ...group("Threads", "", rows(threads)));
  for (const form of list.querySelectorAll("form")) restore(form);
  if (!focus) return;
  const thread = focus.thread && document.getElementById(focus.thread);
  const field = thread?.querySelector("form:not([hidden]) textarea");
  (field || thread || list).focus();
  if (field) field.setSelectionRange(...focus.range);
}

function group(heading, note, rows) {
  if (!rows.length) return [];
  const title = document.createElement("h3");
  title.textContent = heading;
  const about = document.createElement("p");
  about.className = "fine";
  about.textContent = note;
  const list = document.createElement("ul");
  list.className = "rows";
  list.append(...rows);
  return note ? [title, about, list] : [title, list];
}

const clone = (template) => part(template).content.firstElementChild.cloneNode(true);
const states = { open: "Open", addressed: "Addressed", resolved: "Resolved" };

function talk({ id, state, about, messages, hidden, own, reply }, writes) {
  const row = clone("talk");
  const form = row.querySelector("form");
  const { body } = form.elements;
  const waits = state === "held";
  row.id = waits ? `held-${id}` : id;
  within(row, "state").hidden = waits;
  within(row, "state").textContent = states[state] ?? state;
  if (states[state]) within(row, "state").classList.add(state);
  within(row, "own").hidden = waits || !own;
  within(row, "place").append(reply ? "A reply about: " : "", ...place(about));
  within(row, "quote").textContent = about.quote ?? "";
  within(row, "quote").parentElement.hidden = !about.quote;
  within(row, "messages").append(...messages.map(message));
  if (hidden) within(row, "messages").firstElementChild.after(omitted(hidden));
  form.hidden = !writes || state === "resolved" || Boolean(reply); // the thread itself has a form
  form.dataset.letter = id;
  body.id = `reply-${row.id}`;
  form.querySelector("label").htmlFor = body.id;
  if (waits) form.querySelector("label").textContent = "Add to it";
  return row;
}

// place names what a thread is about.
function place({ kind, path, from, to }) {
  if (kind === "artifact") return ["The artifact"];
  const file = document.createElement("bdi");
  file.textContent = path;
  if (kind === "lines") return [from === to ? `Line ${from} of ` : `Lines ${from} to ${to} of `, file];
  return kind === "text" ? ["A quote of ", file] : [file];
}

// omitted says how many messages stand between the first and the newest ones.
function omitted(count) {
  const line = document.createElement("p");
  line.className = "fine";
  line.textContent = count === 1 ? "1 message is left out here." : `${count} messages are left out here.`;
  return line;
}

function message({ author, trust, text, at, deleted }) {
  const said = clone("message");
  within(said, "author").textContent = author;
  within(said, "trust").textContent = { agent: "Agent", guest: "Guest" }[trust] ?? "(member)";
  within(said, "trust").className = trust === "member" ? "" : "badge";
  time(within(said, "at"), at);
  within(said, "text").textContent = deleted ? "Its author deleted this message." : text;
  return said;
}

// A letter is sent, with a key that makes its repetition harmless.

drawer.addEventListener("submit", async (event) => {
  const { target: form } = event;
  event.preventDefault();
  if (form.dataset.busy || !complete(form)) return;
  form.dataset.busy = "yes";
  say(form, "Sending…");
  try {
    const { token, held } = await send(form, letterOf(form));
    keep("token", token);
    keep("name", name.value.trim());
    keep(draftOf(form), undefined);
    for (const field of form.querySelectorAll("textarea, [name=from], [name=to]")) field.value = "";
    introduce();
    await look();
    const done = held ? "Sent. It waits until the people who shared the artifact let it through." : "Sent.";
    say(form, done);
    part("feedback-said").textContent = done;
  } catch ({ message }) {
    say(form, message, "problem");
  } finally {
    delete form.dataset.busy;
  }
});

// complete reports whether a form has what it needs, and says what is missing.
function complete(form) {
  const { body } = form.elements;
  const missing = [name, body].find(({ value }) => !value.trim());
  for (const field of [name, body]) field.removeAttribute("aria-invalid");
  if (!missing) return true;
  say(form, missing === name ? "Say first who you are." : "Write something first.", "problem");
  missing.setAttribute("aria-invalid", "true");
  missing.focus();
  return false;
}

// letterOf returns what a form says. It throws what to tell the writer.
function letterOf(form) {
  const { about, path, from, to, quote, body } = values(form);
  const letter = { name: name.value.trim(), body };
  if (form !== first) return { ...letter, thread_id: form.dataset.letter };
  Object.assign(letter, { revision_id: shown.revision_id, anchor: { kind: about } });
  if (about === "artifact") return letter;
  letter.path = path.trim();
  if (!letter.path) throw new Error("Name the file that it is about.");
  if (about === "text") letter.anchor.exact = quote;
  if (about !== "lines") return letter;
  const lines = [from, to || from].map(Number);
  if (!lines.every((line) => Number.isInteger(line) && line > 0)) {
    throw new Error("Name the first and the last line by their numbers.");
  }
  [letter.anchor.from, letter.anchor.to] = lines;
  return letter;
}

// keyOf returns the key of a letter: the one that it was sent with before, or a fresh one.
function keyOf(form, letter) {
  const draft = kept(draftOf(form));
  const text = JSON.stringify(letter);
  if (draft?.letter === text) return draft.key;
  const random = crypto.getRandomValues(new Uint8Array(16));
  const key = Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
  keep(draftOf(form), { values: values(form), letter: text, key });
  return key;
}

// send returns the answer to a letter. It throws what to tell the writer. A busy server asks for work first, once.
async function send(form, letter, work) {
  let answer;
  let told;
  try {
    answer = await post("/api/access-links/feedback", { ...letter, ...work, key: keyOf(form, letter) });
    told = await answer.json();
  } catch {
    throw new Error("This could not be sent. Your words are kept: try again in a moment.");
  }
  if (answer.ok) return told;
  if (!told.challenge || work) throw new Error(refusal(answer, told.error, letter));
  say(form, "Many people write just now. Your browser solves a task first…");
  return send(form, letter, { challenge: told.challenge, counter: await solve(told.challenge) });
}

function refusal({ status, headers }, { code, message }, { path }) {
  if (code === "pow_invalid") return "The check by your browser took too long. Send it again.";
  const minutes = Math.ceil((Number(headers.get("Retry-After")) || 60) / 60);
  const wait = minutes === 1 ? "a minute" : `${minutes} minutes`;
  const gone = path ? "There is no such file" : "The thread is gone";
  const known = {
    400: message,
    404: `${gone}, or this link takes no more feedback. Your words are kept.`,
    409: `${message} Your words are kept.`,
    429: `Too much is written through this link just now. Send it again in ${wait}.`,
  };
  return known[status] ?? "This could not be sent. Your words are kept: try again in a moment.";
}

function say(form, text, how = "fine") {
  const said = form.querySelector('[data-part="sent"]');
  said.className = how;
  said.textContent = text;
}

let shown; // the artifact on show

// offer offers its files to write about.
function offer() {
  const options = shown.files.filter(({ path }) => path === plain(path)).map(({ path }) => {
    const option = document.createElement("option");
    option.value = path;
    return option;
  });
  first.querySelector("datalist").replaceChildren(...options);
  aim(shown.entrypoint);
}

// aim makes a file the one to write about, unless something is written.
function aim(path) {
  if (!written(first)) first.elements.path.value = path;
}

document.addEventListener("vitrine:shown", ({ detail }) => {
  shown = detail.agent_view;
  if (first) offer();
  if (!detail.comments) drawer.hidden = true;
  else if (location.hash !== asked || drawer.hidden) look();
});

// The file on show is the one to write about.
document.addEventListener("vitrine:moved", () => {
  const at = new URLSearchParams(location.search).get("at")?.split(/[?#]/)[0];
  if (at && first && [...first.querySelectorAll("option")].some(({ value }) => value === at)) aim(at);
});

document.addEventListener("vitrine:heard", () => {
  if (!drawer.hidden && Date.now() - looked >= pause) look();
});

drawer.addEventListener("toggle", () => drawer.open && look());
