// What the viewers share: the frame that shows an artifact, as tall as the content says, and the drawer beside it.
// What is in the frame is a stranger: it tells its height, whether it has scripts or parts that stay in place, whether it
// stores what goes with it, its place in the artifact, where in it a link leads to and what is to open in a tab, which is
// checked, and nothing else.

export const part = (name) => document.querySelector(`[data-part="${name}"]`);

const { contentOrigin, ownOrigins, patience, rate } = document.querySelector("main").dataset;
const drawer = part("drawer");
const drawers = document.querySelectorAll(".drawer"); // with that of threads, which the viewer of members has
let exhibit; // the frame on show and how it grew
let coming; // the frame that takes its place when it has loaded

// contentURL returns the URL if it leads to the content host, and throws for any other.
export function contentURL(text) {
  const url = new URL(text);
  if (url.origin !== contentOrigin || !/^https?:$/.test(url.protocol)) throw new TypeError("not a content URL");
  return url;
}

// ownURL returns the URL if it leads to the own origin of an artifact, nothing for none, and throws for any other.
export function ownURL(text) {
  if (!text) return;
  const url = new URL(text);
  const [before, after] = ownOrigins.split("*");
  const label = url.origin.slice(before.length, url.origin.length - after.length);
  if (!/^art-[0-9a-z]{26}$/.test(label) || url.origin !== before + label + after) throw new TypeError("not an own origin");
  return url;
}

// What is invisible, breaks lines or turns the direction of writing, but for what some scripts need and what is drawn.
const disturbing =
  /(?![\u00AD\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u200C\u200D\u{110BD}\u{110CD}])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/gu;
const shownSigns = 200;

// plain is a stranger's text as the pages that a server renders show it: no name can pass for another one.
export function plain(text) {
  const signs = [...String(text)];
  const shown = signs.slice(0, shownSigns).join("").replace(disturbing, "\uFFFD");
  if (signs.length > shownSigns) return `${shown}…`;
  return shown.trim() ? shown : "(no name)";
}

const loading = 15_000; // how long content may load before what waits for it goes on

export function bytes(n) {
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

let absolute;

// time shows an instant that a stranger's answer has. It throws when that is none.
export function time(element, text) {
  absolute ??= new Intl.DateTimeFormat("en-GB", {
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZoneName: "short",
  });
  const at = new Date(text);
  element.textContent = absolute.format(at);
  element.dateTime = at.toISOString();
  element.title = at.toISOString();
}

// At the shared origin never allow-same-origin: content that got it could reach other artifacts there.
const sandbox = "allow-scripts allow-popups allow-popups-to-escape-sandbox allow-downloads";

// build makes a frame for content: its source, which contentURL took, own, which ownURL took, its title, the size of its file,
// app, which says that it chooses by its own path what it shows, and runs, which says that its scripts run, so that its forms
// and dialogs work.
function build(content) {
  const frame = document.createElement("iframe");
  if (cookieless) content.own = byToken(content.own);
  frame.sandbox = content.runs ? `${sandbox} allow-forms allow-modals${content.own ? " allow-same-origin" : ""}` : sandbox;
  if (content.runs) frame.allow = "clipboard-write; fullscreen";
  frame.referrerPolicy = content.own ? "origin" : "no-referrer"; // an own origin opens for the app alone
  frame.title = `Artifact: ${plain(content.title)}`;
  frame.src = (content.own ?? content.source).href;
  return hold(frame, content);
}

// A browser that keeps no cookies of frames opens an own origin by the token in each path. Pages that we make are the same at
// the shared origin.
let cookieless = false;
const openPath = "/.vitrine/open/";
function byToken(own) {
  if (!own?.pathname.startsWith(openPath)) return own;
  const [token, ...path] = own.pathname.slice(openPath.length).split("/");
  if (path[0] === ".vitrine") return;
  const url = new URL(own);
  url.pathname = `/.vitrine/t/${token}/${path.join("/")}`;
  return url;
}

function hold(frame, content) {
  const title = plain(content.title);
  const it = { frame, content, title, base: document.title, still: false, streak: 0, heard: 0, applied: 0 };
  // A page of which only a part arrives has no event that says so. After this time the server has given up, too.
  const late = 1000 * (Number(patience) + (content.size ?? 0) / rate);
  part("cut").hidden = true;
  it.overdue = setTimeout(() => (part("cut").hidden = it !== exhibit), late);
  let loads = 0;
  if (frame.isConnected) addEventListener("load", () => (loads ||= 1)); // its own may have been before
  frame.addEventListener("load", () => {
    arrived(it);
    part("blank").hidden = true;
    // a link inside led to another page, whose beginning is out of sight
    if (loads++ && frame.getBoundingClientRect().top < 0) frame.scrollIntoView();
  });
  return it;
}

function arrived(it) {
  clearTimeout(it.overdue);
  if (it === exhibit) part("cut").hidden = true;
}

// frame shows content in place of what was on show.
export function frame(content) {
  drop();
  exhibit = build(content);
  part("case").replaceChildren(exhibit.frame);
  remember();
}

// adopt is frame for content that the page came with in a frame. What that has told meanwhile is heard now.
export function adopt(content) {
  exhibit = hold(part("case").querySelector("iframe"), content);
  removeEventListener("message", early.hear);
  early.told.forEach(hear);
}

// swap is frame for a reader who is in the middle of what is on show: that stays until the content has loaded, and the
// page keeps its height, so that it does not scroll.
export function swap(content) {
  if (!exhibit?.frame.isConnected) return frame(content);
  drop();
  for (const url of [content.source, content.own]) if (url) url.hash = ""; // or the content scrolls to it
  const next = (coming = build(content));
  next.frame.className = "coming";
  next.frame.inert = true;
  const arrive = () => {
    if (next !== coming) return;
    drop(false);
    const old = exhibit;
    const focused = document.activeElement === old.frame;
    clearTimeout(old.timer);
    next.frame.style.minHeight = old.frame.style.minHeight;
    next.frame.className = "";
    next.frame.inert = false;
    old.frame.remove();
    exhibit = next;
    remember();
    if (focused) next.frame.focus({ preventScroll: true });
    fit(next);
    if (next.place) move();
  };
  next.late = setTimeout(arrive, loading);
  next.frame.addEventListener("load", arrive, { once: true });
  part("case").append(next.frame);
}

// loaded waits until what is on show has loaded, as long as it may, or the reader turns to the drawer.
export function loaded() {
  return new Promise((done) => {
    if (!exhibit) done();
    exhibit?.frame.addEventListener("load", done);
    addEventListener("load", done, { once: true }); // of the page, and so of a frame that it came with
    for (const sign of ["focusin", "pointerover", "toggle"]) {
      for (const beside of drawers) beside.addEventListener(sign, done, { once: true });
    }
    setTimeout(done, loading);
  });
}

// drop forgets the frame that is coming, and takes it out of the page unless it is to stay.
function drop(out = true) {
  clearTimeout(coming?.late);
  if (out) coming?.frame.remove();
  coming = undefined;
}

// empty takes away what is on show, and closes the drawer unless it is to stay.
export function empty(shut = true) {
  drop();
  exhibit?.frame.remove();
  exhibit = undefined;
  if (shut) for (const beside of drawers) beside.open = false;
}

// The content tells its height, so that the page scrolls as one. A page that is as tall as its window and a bit would
// grow with every answer: from the 6th growth without a second of rest we follow slowly, after the 10th no more, and
// the frame gets a scroll bar of its own. One that is several times as tall as its window gets that after the 4th growth,
// once it is absurdly tall.
const pause = { rest: 1000, quick: 80, slow: 400, patient: 6, last: 10 };
const absurd = 100_000;

addEventListener("message", hear);

// asleep returns the note that scripts do not run, where they do not.
const asleep = () => document.querySelector('[data-applies="true"]');

function hear(event) {
  const it = [exhibit, coming].find((one) => one && event.source === one.frame.contentWindow);
  if (!it) return;
  if (!["null", contentOrigin, it.content.own?.origin].includes(event.origin)) return;
  const { type, height, scripts, top, path, query, hash, title, failed, fixed } = Object(event.data);
  // The script of a page that we make stands at its end, and others tell this when all of the page is there.
  if (type === "vitrine:fixed" || it.content.source.pathname.startsWith("/r/")) arrived(it);
  if (type === "vitrine:no-cookies" && it.content.own && !cookieless) {
    cookieless = true;
    return it === exhibit ? frame(it.content) : swap(it.content);
  }
  if (type === "vitrine:viewer-height" && scripts === true && it === (coming ?? exhibit)) {
    // Only the frame knows whether what it shows has scripts. Its word decides about a note alone.
    if (asleep()) asleep().hidden = false;
  }
  if (type === "vitrine:forgets") {
    it.forgets = true;
    remember();
  }
  const texts = (...all) => all.every((text) => typeof text === "string" && text.length <= 4096);
  if (type === "vitrine:place" && texts(path, query, hash, title)) {
    it.place = { path, at: query + hash, title };
    if (it === exhibit) move();
  }
  if (type === "vitrine:tab" && it === exhibit && texts(path, query, hash)) {
    const url = new URL(location.href);
    url.searchParams.set("at", path + query + hash); // which is looked up as any other
    open(url, "_blank", "noopener"); // browsers let a page do that after a click
  }
  if (type === "vitrine:target" && it === exhibit && top > 0 && top < 50_000_000) {
    it.target = top;
    it.aimed = undefined;
    aim(it);
  }
  if (type === "vitrine:blank" && it === exhibit && Array.isArray(failed)) {
    part("failed").textContent = failed.slice(0, 5).map(plain).join(", ");
    part("blank").hidden = asleep() !== null;
  }
  if (type === "vitrine:fixed" && it.still !== (fixed === true)) {
    const { top, bar } = edge(it.frame);
    it.still = !it.still;
    if (it === exhibit) fit(it);
    if (it.still) event.source.postMessage({ type: "vitrine:scroll", top: Math.max(0, bar - top) }, "*");
  }
  // An empty page, or one that is not laid out yet, has the height 1.
  if (type !== "vitrine:viewer-height" || !Number.isFinite(height) || height <= 1 || height > 50_000_000) return;
  if (it.frozen) return;
  const now = performance.now();
  if (now - it.heard > pause.rest) it.streak = 0;
  it.heard = now;
  it.wanted = Math.ceil(height);
  if (it === coming) return; // it fits when it is on show
  const wait = it.streak < pause.patient ? pause.quick : pause.slow;
  it.timer ??= setTimeout(fit, Math.max(0, it.applied + wait - now), it);
}

// remember says in the details whether what the content on show stores goes with it.
function remember() {
  part("forgets").hidden = !exhibit.forgets;
}

// edge returns where the frame begins, and where the bar above it ends, in pixels from the top of the window.
const edge = (frame) => ({ top: frame.getBoundingClientRect().top, bar: parseFloat(getComputedStyle(frame).scrollMarginTop) });

function fit(it) {
  it.timer = undefined;
  if (it !== exhibit) return;
  const { frame, wanted, still } = it;
  if (still) frame.style.minHeight = ""; // it scrolls by itself
  if (still || !wanted) return;
  const have = frame.clientHeight;
  if (wanted <= have && !frame.style.minHeight) return; // it fits into the window
  if (wanted > have) it.streak++;
  it.applied = performance.now();
  it.frozen = it.streak > pause.last || (it.streak > 3 && wanted > absurd);
  frame.style.minHeight = it.frozen ? "" : `${wanted}px`;
  aim(it);
}

// aim scrolls to the target of a link in the content, once the frame is tall enough for it. A page that is too short yet
// scrolls to its end, and further when the frame grows, unless the reader has scrolled meanwhile.
function aim(it) {
  const { frame, target, still, aimed = scrollY } = it;
  if (still || !(target < frame.clientHeight)) return;
  it.target = it.aimed = undefined;
  if (aimed !== scrollY) return;
  const { top, bar } = edge(frame);
  const to = scrollY + top + target - bar;
  scrollTo({ top: to });
  if (scrollY < to - 1) [it.target, it.aimed] = [target, scrollY];
}

// The address of the page has the place of the frame as at, so that a reload or a bookmark leads there again. Only what is
// listed counts, unless the page is an app, and a frame that moves all the time moves the address twice a second.
const settled = 500;
let moving; // the timer of the next change
let moved = -settled;

export function move() {
  moving ??= setTimeout(settle, Math.max(0, moved + settled - performance.now()));
}

// below is the path of a file in the artifact, of its URL: what follows the token.
const below = (link) => decodeURIComponent(link.pathname.split("/").slice(3).join("/"));

function settle() {
  moving = undefined;
  moved = performance.now();
  const { place, title, base } = exhibit ?? {};
  if (!place) return;
  let path;
  let file; // that the path shows
  try {
    path = file = decodeURIComponent(place.path);
  } catch {
    return;
  }
  const files = [...part("files").querySelectorAll("a")].map(below);
  const entry = part("files").querySelector('[aria-current="true"] a');
  const first = entry ? below(entry) : ""; // what opens first; else the list of all files does
  if (exhibit.content.own && (first || path)) {
    // There paths are those of a web server, which leave the names of pages out.
    const index = path.replace(/([^/])$/, "$1/") + "index.html";
    file = [path, index, `${path}.html`].find((name) => name === first || files.includes(name)) ?? path;
  }
  const routed = exhibit.content.own && exhibit.content.app; // by the page itself, which knows its paths
  if (file !== first && !routed && !files.some((name) => file && `${name}/`.startsWith(`${file}/`))) {
    document.dispatchEvent(new CustomEvent("vitrine:unlisted"));
    return;
  }
  const home = file === first && !place.at; // the artifact itself, which has its own title
  const url = new URL(location.href);
  if (home) url.searchParams.delete("at");
  else url.searchParams.set("at", (path || file).replace(/[%?#]/g, encodeURIComponent) + place.at);
  if (url.href !== location.href) history.replaceState(history.state, "", url);
  const said = plain(place.title.trim() || title);
  document.title = home || said === title ? base : `${said} · ${base}`;
  document.dispatchEvent(new CustomEvent("vitrine:moved"));
}

// outdated says that what is on show is no longer the newest, which alone is at the own origin of an artifact.
export function outdated() {
  if (exhibit) exhibit.content.own = undefined;
}

// These buttons come and go.
addEventListener("click", ({ target }) => {
  const pressed = target.closest?.("[data-part]")?.dataset.part;
  if (pressed === "reload") frame(exhibit.content);
  if (pressed !== "raw") return;
  drawer.open = true;
  drawer.scrollIntoView();
});
addEventListener("keydown", (event) => {
  const open = event.key === "Escape" && [...drawers].find((beside) => beside.open);
  if (!open) return;
  open.open = false;
  open.querySelector("summary").focus();
});
addEventListener("pointerdown", (event) => {
  for (const beside of drawers) if (!beside.contains(event.target)) beside.open = false;
});
addEventListener("blur", () => {
  if (document.activeElement !== exhibit?.frame) return; // a click into the frame tells nothing else
  for (const beside of drawers) beside.open = false;
});
