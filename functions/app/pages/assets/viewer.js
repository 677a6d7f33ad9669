// Opens one access link: reads the fragment, resolves it through our own host and frames the content.
// Everything that arrives was chosen by strangers: it enters the page as text and as checked URLs, never as markup.

import { contentURL, empty, frame, part, plain } from "./exhibit.js";

const stage = document.querySelector("main");
const { publicId } = stage.dataset;
const views = new Map([...stage.querySelectorAll("[data-view]")].map((view) => [view.dataset.view, view]));
const field = (name) => document.querySelector(`[data-field="${name}"]`);

const headings = {
  loading: "Opening…",
  gone: "This link opens nothing",
  busy: "Many people are looking",
  unavailable: "Not available right now",
};

let attempt; // the AbortController of the newest opening: an older one must not touch the page any more
let ticking; // the timer of the visible view

function show(name, heading = headings[name]) {
  for (const [key, view] of views) view.hidden = key !== name;
  for (const chrome of ["placard", "drawer"]) part(chrome).hidden = name !== "artifact";
  document.title = `${heading} | Vitrine`;
}

function clear() {
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
  let answer, body;
  try {
    answer = await fetch("/api/access-links/resolve", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ public_id: publicId, blob }),
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      signal: mine.signal,
    });
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
      return exhibitOf(body);
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

function exhibitOf({ agent_view: view, iframe_src: src, render_mode: mode, pinned, title: given }) {
  const source = contentURL(src);
  const title = plain(given);
  const entry = view.files.find((file) => file.path === view.entrypoint);
  field("title").textContent = field("title").title = title;
  field("mode").textContent = mode;
  time(field("created"), view.created_at);
  field("files").replaceChildren(...view.files.map((file) => row(file, view.entrypoint)));
  field("count").textContent = view.files.length;
  part("unclaimed").hidden = view.ephemeral_tier !== true;

  expiry(pinned === true ? undefined : view.expires_at);

  const framed = source.pathname.startsWith("/r/") || !entry || shownByBrowsers(entry.content_type);
  part("case").hidden = !framed;
  part("parcel").hidden = framed;
  show("artifact", title);
  framed ? frame(source, title) : parcel(source, entry);
}

// expiry tells until when the artifact is there; undefined: it is kept.
function expiry(end) {
  part("expiry").hidden = end === undefined;
  part("kept").hidden = end !== undefined;
  if (end === undefined) return;
  time(field("expires"), end);
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

function row(file, entrypoint) {
  const item = document.createElement("li");
  const name = document.createElement("bdi");
  name.textContent = plain(file.path);
  let label = document.createElement("span");
  try {
    const url = contentURL(file.url);
    label = document.createElement("a");
    label.href = url.href;
    label.target = "_blank";
    label.rel = "noopener noreferrer";
    label.referrerPolicy = "no-referrer";
  } catch {
    // a file without a URL of the content host is listed and leads nowhere
  }
  label.append(name);
  const size = document.createElement("span");
  size.className = "size";
  size.textContent = bytes(file.size_bytes);
  if (file.path === entrypoint) item.setAttribute("aria-current", "true");
  item.append(label, size);
  return item;
}

const absolute = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZoneName: "short",
});

function time(element, text) {
  const at = new Date(text);
  element.textContent = absolute.format(at); // throws when text is no time
  element.dateTime = at.toISOString();
  element.title = at.toISOString();
}

const relative = new Intl.RelativeTimeFormat("en", { numeric: "always" });
const units = { day: 86_400_000, hour: 3_600_000, minute: 60_000 };

// remaining says how long until an instant, rounded down, so that it never promises too much.
function remaining(at) {
  const left = at - Date.now();
  if (left <= 0) return "(expired)";
  for (const [unit, length] of Object.entries(units)) {
    // two days are called hours until they are three: "in 47 hours" helps more than "in 1 day"
    if (left >= length * (unit === "day" ? 3 : 1)) return `(${relative.format(Math.floor(left / length), unit)})`;
  }
  return "(in less than a minute)";
}

function bytes(n) {
  let unit = 0;
  const names = ["byte", "kilobyte", "megabyte"];
  while (n >= 999.5 && unit < names.length - 1) [n, unit] = [n / 1000, unit + 1];
  return new Intl.NumberFormat("en", {
    style: "unit",
    unit: names[unit],
    unitDisplay: unit ? "short" : "long",
    maximumSignificantDigits: n < 100 ? 2 : 3,
  }).format(n);
}

part("again").addEventListener("click", open);
addEventListener("hashchange", open);

open();
