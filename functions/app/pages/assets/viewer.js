// Opens one access link: frames what it resolves to, which the script that stands in the page has asked for already.
// Everything that arrives was chosen by strangers: it enters the page as text and as checked URLs, never as markup.

import { bytes, contentURL, empty, frame, loaded, outdated, ownURL, part, plain, swap, time } from "./exhibit.js";

const stage = document.querySelector("main");
const { publicId, site } = stage.dataset;
const views = new Map([...stage.querySelectorAll("[data-view]")].map((view) => [view.dataset.view, view]));
const field = (name) => document.querySelector(`[data-field="${name}"]`);

const headings = {
  loading: "Opening…",
  gone: "This link opens nothing",
  busy: "Many people are looking",
  unavailable: "Not available right now",
};

const { wish, send, resolve } = opening;

let attempt; // the AbortController of the newest opening: an older one must not touch the page any more
let ticking; // the timer of the visible view

function show(name, heading = headings[name]) {
  for (const [key, view] of views) view.hidden = key !== name;
  for (const chrome of ["placard", "drawer", "strip"]) part(chrome).hidden = name !== "artifact";
  if (name !== "artifact") part("feedback").hidden = true; // guest.js knows whether there is any
  document.title = `${heading} | ${site}`;
}

function clear() {
  live?.stop();
  attempt?.abort();
  clearInterval(ticking);
  empty();
}

async function open() {
  clear();
  const mine = (attempt = new AbortController());
  const blob = location.hash.slice(1);
  if (!blob) return show("gone");
  show("loading");
  const patience = setTimeout(() => mine.abort(), 20_000);
  const { first } = opening;
  opening.first = {};
  let answer, body;
  try {
    answer = await (first.blob === blob ? first.answer : resolve(blob, mine.signal));
    body = await answer.json();
  } catch {
    body = undefined; // no network, no answer in time, or no JSON
  }
  clearTimeout(patience);
  if (mine !== attempt) return;
  if (answer?.status === 400 || answer?.status === 404) return show("gone");
  if (answer?.status === 429) return busy(Number(answer.headers.get("Retry-After")));
  if (answer?.ok && body) {
    try {
      exhibitOf(body, frame);
      return follow(blob, body);
    } catch {
      clear(); // not the answer that we asked for
    }
  }
  unavailable(answer?.headers.get("X-Request-Id"));
}

function busy(seconds) {
  const until = Date.now() + 1000 * Math.min(Math.max(seconds || 60, 1), 3600);
  const tick = () => {
    const left = Math.ceil((until - Date.now()) / 1000);
    if (left <= 0) return open();
    field("wait").textContent = left === 1 ? "1 second" : `${left} seconds`;
  };
  tick();
  show("busy");
  ticking = setInterval(tick, 250);
}

function unavailable(requestId) {
  part("request").hidden = !requestId;
  field("request").textContent = requestId ?? "";
  show("unavailable");
}

// exhibitOf puts what a link shows on show; place frames it. current says that it is the newest revision.
function exhibitOf(resolved, place, current = true) {
  const { agent_view: view, iframe_src: src, render_mode: mode, pinned, title: given } = resolved;
  const runs = resolved.scripts_run !== false;
  const source = contentURL(src);
  const own = current ? ownURL(resolved.own_src) : undefined;
  const title = plain(given);
  const entry = view.files.find((file) => file.path === view.entrypoint);
  for (const [note, of] of [["unclaimed", true], ["asleep", false]]) {
    part(note).hidden = true; // until the frame tells that it has scripts
    part(note).dataset.applies = !runs && of === (view.ephemeral_tier === true);
  }

  // The frame comes first, because it takes longest.
  const elsewhere = entry && entry.url !== source.href.split("#", 1)[0]; // a place that the server says frames show
  const framed = source.pathname.startsWith("/r/") || !entry || elsewhere || shownByBrowsers(entry.content_type);
  part("case").hidden = !framed;
  part("parcel").hidden = framed;
  show("artifact", title);
  if (framed) place({ source, own, app: view.app === true, title, runs, size: entry?.size_bytes });
  else {
    empty(false);
    parcel(source, entry);
  }
  field("title").textContent = field("title").title = title;
  field("mode").textContent = mode;
  time(field("created"), view.created_at);
  expiry(view.expires_at, pinned === true);
  if (live) tell(resolved);
}

const tell = (resolved) => document.dispatchEvent(new CustomEvent("vitrine:shown", { detail: resolved }));

// besides loads what stands beside the frame, once what is on show is there, and again if the line broke.
let live; // the module
async function besides() {
  await loaded();
  document.querySelector("body > iframe")?.remove(); // its connection is in use
  if (live) return;
  for (let pause = 1000; !live; pause *= 2) {
    [live] = await Promise.all([import("./live.js"), import("./panel.js"), import("./guest.js")]).catch(
      () => new Promise((again) => setTimeout(again, pause, [])),
    );
  }
  if (seen) tell(seen[at].resolved);
}

// What this page has shown since it was opened, oldest first: { resolved, number }, with the number where it is known.
// at is on show; newest is what the server told last. Steps go back and forth among these alone.
let seen, at, newest, following;
let shares; // whether the link follows the newest revision; undefined: not known yet

async function follow(blob, resolved) {
  const revision = resolved.agent_view.revision_id;
  seen = [{ resolved }];
  at = 0;
  newest = { revision };
  following = true;
  shares = undefined;
  strip();
  const mine = attempt;
  await besides();
  if (mine !== attempt) return;
  live.watch({
    ask: (signal) => send(`/api/live/access-links/${publicId}`, { blob, revision_id: newest.revision }, signal),
    answered: (answer) => {
      const claimed = answer.headers.get("Vitrine-Claimed") === "true";
      if (claimed && seen[at].resolved.agent_view.ephemeral_tier === true) return open(); // its scripts run now
      shares = answer.headers.get("Vitrine-Follows") !== "revision";
      strip();
      document.dispatchEvent(new CustomEvent("vitrine:heard"));
    },
    news: async ({ pointer }) => {
      const told = { revision: pointer.revision_id, number: pointer.number };
      if (following) await catchUp(blob, told);
      else {
        newest = told;
        outdated();
      }
      strip();
    },
    close: () => {
      clear();
      show("gone");
    },
  });
  part("follow").onclick = async () => {
    following = !following;
    if (following) await catchUp(blob, newest).catch(() => (following = false));
    strip();
  };
  part("older").onclick = () => step(-1);
  part("later").onclick = () => step(1);
}

// catchUp shows a revision that the server told of, as the link shows it now. It throws if that fails, and the page
// stays as it is.
async function catchUp(blob, told) {
  const mine = attempt;
  let to = seen.findIndex(({ resolved }) => resolved.agent_view.revision_id === told.revision);
  if (to < 0) {
    const answer = await resolve(blob, mine.signal);
    if (!answer.ok) throw new Error(`the link answers ${answer.status}`);
    const resolved = await answer.json();
    if (mine !== attempt) throw new Error("the page shows another link");
    const { revision_id: revision } = resolved.agent_view;
    // What is newer than what the server told has its number with the next poll.
    seen.push({ resolved, number: revision === told.revision ? told.number : undefined });
    to = seen.length - 1;
    told = { revision, number: seen[to].number };
  }
  newest = told;
  turnTo(to);
}

function step(by) {
  const to = at + by;
  if (to < 0 || to >= seen.length) return;
  following = false;
  turnTo(to);
  strip();
}

function turnTo(to) {
  if (to === at) return;
  clearInterval(ticking);
  exhibitOf(seen[to].resolved, swap, seen[to].resolved.agent_view.revision_id === newest.revision);
  at = to;
  field("announcement").textContent = `Updated to ${named(seen[to].number)}`;
}

const named = (number) => (number ? `revision ${number}` : at ? "another revision" : "the revision that you opened");

// strip says which revision is on show.
function strip() {
  const { resolved, number } = seen[at];
  const last = resolved.agent_view.revision_id === newest.revision;
  let text = "As you opened it";
  if (shares === false) text = "This link shows one revision";
  else if (last && shares) text = number ? `Revision ${number}, the newest` : "The newest revision";
  else if (!last) text = number ? `Revision ${number}` : "The revision that you opened";
  field("revision").textContent = text;
  field("newer").hidden = last;
  field("newer").textContent = newest.number ? `Revision ${newest.number} is available.` : "A newer revision is available.";
  part("steps").hidden = shares === false || (last && seen.length === 1);
  part("older").setAttribute("aria-disabled", at === 0);
  part("later").setAttribute("aria-disabled", at === seen.length - 1);
  part("follow").setAttribute("aria-pressed", following);
}

const never = Date.UTC(2100, 0, 1); // the expiry of an artifact that has none

// expiry tells until when the artifact is there, or that it is kept or never ends.
function expiry(end, kept) {
  const lasts = kept || Date.parse(end) === never;
  part("expiry").hidden = lasts;
  part("kept").hidden = !lasts;
  field("until").textContent = kept ? "never, while it is kept" : "does not expire";
  if (lasts) return;
  time(field("expires"), end);
  field("until").textContent = field("expires").textContent;
  const remain = () => (field("remaining").textContent = remaining(new Date(end)));
  remain();
  ticking = setInterval(remain, 15_000);
}

// shownByBrowsers tells whether a browser renders the type inside a frame instead of downloading it.
function shownByBrowsers(contentType) {
  const type = contentType.split(";", 1)[0].trim().toLowerCase();
  if (type === "text/csv") return false;
  return /^(text|image|audio|video)\/|^application\/(json|javascript|xml)$/.test(type);
}

function parcel(source, entry) {
  field("name").textContent = plain(entry.path.split("/").at(-1));
  field("kind").textContent = `${entry.content_type.split(";", 1)[0]}, ${bytes(entry.size_bytes)}`;
  field("download").href = source.href;
}

let relative;
const units = { day: 86_400_000, hour: 3_600_000, minute: 60_000 };

// remaining says how long until an instant, rounded down, so that it never promises too much.
function remaining(at) {
  relative ??= new Intl.RelativeTimeFormat("en", { numeric: "always" });
  const left = at - Date.now();
  if (left <= 0) return "now";
  for (const [unit, length] of Object.entries(units)) {
    // two days are called hours until they are three: "in 47 hours" helps more than "in 1 day"
    if (left >= length * (unit === "day" ? 3 : 1)) return relative.format(Math.floor(left / length), unit);
  }
  return "in less than a minute";
}

part("run")?.addEventListener("click", async () => {
  try {
    sessionStorage.setItem(wish, "run");
  } catch {
    return; // a browser that keeps nothing would ask again and again
  }
  await open();
  part("case").firstElementChild?.focus();
});
part("again").addEventListener("click", open);
addEventListener("hashchange", open);

open();
