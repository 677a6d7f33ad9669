// Fills the panel of the viewers: files, the archive of them all, the link to pass on, and what to hand to an agent.
// The viewers say by the event vitrine:shown what they put on show: that of a link the whole answer of resolve, that of
// members the revision, whose part of the page the server then renders again.

import { bytes, contentURL, move, part, plain } from "./exhibit.js";

const drawer = part("drawer");
const { publicId } = document.querySelector("main").dataset;
const fields = (name) => document.querySelectorAll(`[data-field="${name}"]`);

const searchable = 20; // more files than these can be searched

let waiting; // the timer that asks for the archive again

const request = {
  cache: "no-store",
  redirect: "error",
};

// post sends the link of the page to a route of ours.
const post = (path, more) =>
  opening.send(path, { public_id: publicId, blob: location.hash.slice(1), ...more }, AbortSignal.timeout(20_000));

// shown is the id of the revision that the panel is about.
const shown = () => part("files").dataset.revision;

document.addEventListener("vitrine:shown", ({ detail }) => {
  arm();
  if (publicId) return describe(detail);
  if (detail?.revision_id && detail.revision_id !== shown()) refresh(detail.revision_id);
  else wait();
});

// describe fills the panel of a link.
function describe({ agent_view: view, scripts_run: scripts }) {
  const list = part("files");
  const total = view.files_total ?? view.files.length;
  Object.assign(list.dataset, { revision: view.revision_id, total });
  list.replaceChildren();
  part("listing").classList.toggle("long", total > view.files.length);
  asked = { scripts };
  add(view);
  write("count", total);
  write("total", bytes(view.size_total ?? view.files.reduce((sum, file) => sum + file.size_bytes, 0)));
  write("shown", view.revision_id);
  const link = location.origin + location.pathname + location.hash; // of the artifact, without a place in it
  const before = part("address").textContent.trim();
  if (before && before !== link) { // a reader may open the code before the first answer
    part("drawn").replaceChildren();
    part("code").open = false;
  }
  write("address", link);
  write("blob", location.hash.slice(1));
  find();
  offer(view.bundle);
  move(); // to a place in these files, which the frame may have told before
}

// find leaves of a long list of files those whose path has what the reader typed.
function find() {
  const rows = [...part("files").children];
  part("find").hidden = rows.length <= searchable;
  const typed = part("find").hidden ? "" : document.getElementById("find").value.trim().toLowerCase();
  for (const row of rows) row.hidden = !row.querySelector("bdi").textContent.toLowerCase().includes(typed);
  write("found", typed && `${rows.filter((row) => !row.hidden).length} of ${part("files").dataset.total}`);
  watcher.disconnect();
  if (next()) watcher.observe(part("more"));
  return typed;
}

// A search needs all files.
drawer.addEventListener("input", () => find() && extend(true));

// The list of many files grows page by page.

let asked = {}; // what the next page of the files of a link is asked with
let coming; // the page that is on its way

// next is where the next page of files is, if there is one.
const next = () => (publicId ? asked.files_cursor : part("more").querySelector("[rel=next]"));

// Its end has come into sight.
const watcher = new IntersectionObserver((seen) => seen.at(-1).isIntersecting && extend());

// add adds a page of the files of a link.
function add(view) {
  const kinds = new Map(Object.entries(JSON.parse(part("files").dataset.kinds)));
  const first = view.listing ? undefined : view.entrypoint;
  part("files").append(...view.files.map((file) => row(file, first, kinds)));
  asked.files_cursor = view.files_next_cursor;
  part("more").hidden = !next();
}

// load adds the next page of the files of a revision. It throws if that fails.
async function load(revision) {
  if (publicId) {
    const answer = await post("/api/access-links/resolve", asked);
    const { agent_view: view } = await answer.json();
    if (revision !== shown()) return;
    if (view.revision_id !== revision) throw new TypeError("not a page of these files");
    return add(view);
  }
  const page = await pageAt(next().href);
  const fresh = page.querySelector('[data-part="files"]');
  if (revision !== shown()) return;
  if (fresh.dataset.revision !== revision) throw new TypeError("not a page of these files");
  part("files").append(...fresh.children);
  const link = page.querySelector('[data-part="more"] [rel=next]');
  if (link) next().href = link.href;
  else next().remove();
  part("more").hidden = !part("more").querySelector("a");
}

// extend adds the next page of files, or all of them, and says how far it is.
async function extend(all) {
  const revision = shown();
  while (next() && revision === shown()) {
    const { children, dataset } = part("files");
    const before = children.length;
    const focused = part("more").contains(document.activeElement);
    tell(`Loading: ${before} of ${dataset.total}`);
    try {
      await (coming ??= load(revision).finally(() => (coming = undefined)));
    } catch {
      return tell("The other files could not be loaded.", "Try again");
    }
    tell("");
    if (focused) children[before]?.querySelector("a")?.focus();
    find();
    if (!all) break;
  }
  move(); // to a place in these files
}

// tell says how it goes, beside a button with a name.
function tell(text, name = "More files") {
  part("more").querySelector("[role=status]").textContent = text;
  const button = part("more").querySelector("button, [rel=next]");
  if (button) button.textContent = name;
}

drawer.addEventListener("click", (event) => {
  if (!event.target.closest('[data-part="more"] :is(button, [rel=next])')) return;
  event.preventDefault();
  extend(find() !== "");
});

// A place that is not listed may be one of the other files. The frame, which tells of it, has them loaded once.
let sought;
document.addEventListener("vitrine:unlisted", () => {
  if (sought === shown()) return;
  sought = shown();
  extend(true);
});

function write(name, text) {
  for (const field of fields(name)) field.textContent = text;
}

// kindOf is what a file is in the words of the server: by its media type, by the first half of that, or as any other.
function kindOf(contentType, kinds) {
  const type = contentType.split(";", 1)[0].trim().toLowerCase();
  return kinds.get(type) ?? kinds.get(type.split("/", 1)[0]) ?? kinds.get("");
}

function row(file, first, kinds) {
  const item = document.createElement("li");
  let label = document.createElement("span");
  try {
    label = linkTo(contentURL(file.url));
    label.target = "_blank";
  } catch {
    // a file without a URL of the content host is listed and leads nowhere
  }
  const name = document.createElement("bdi");
  name.textContent = plain(file.path);
  label.append(name);
  if (file.path === first) item.setAttribute("aria-current", "true");
  item.append(label, note("kind", kindOf(file.content_type, kinds)), note("size", bytes(file.size_bytes)));
  return item;
}

function note(name, text) {
  const element = document.createElement("span");
  element.className = name;
  element.textContent = text;
  return element;
}

function linkTo(url) {
  const link = document.createElement("a");
  link.href = url.href;
  link.rel = "noopener noreferrer";
  link.referrerPolicy = "no-referrer";
  return link;
}

// offer shows how far the archive of all files is.
function offer(bundle) {
  const archive = part("bundle");
  const states = [...archive.querySelectorAll("[data-state]")];
  for (const state of states) state.hidden = true;
  delete archive.dataset.retry;
  if (bundle?.status === "pending") archive.dataset.retry = bundle.retry_after_seconds;
  if (bundle?.status === "ready") {
    archive.querySelector("a").href = contentURL(bundle.url).href; // throws for any other place
    write("bundle-size", bytes(bundle.size_bytes));
  }
  for (const state of states) state.hidden = state.dataset.state !== bundle?.status;
  wait();
}

// wait asks again for an archive that is being packed, as long as the panel is open.
function wait() {
  clearTimeout(waiting);
  const { retry } = part("bundle").dataset;
  if (!drawer.open || !retry) return;
  waiting = setTimeout(askAgain, 1000 * Math.min(Math.max(Number(retry) || 60, 1), 600));
}

async function askAgain() {
  const before = shown();
  try {
    if (!publicId) return await refresh(before, ["bundle"]);
    const answer = await post("/api/access-links/resolve");
    if (answer.status === 404) return;
    const view = answer.ok && (await answer.json()).agent_view;
    if (before !== shown()) return; // another revision came on show, which brought its own
    if (view) return offer(view.revision_id === before ? view.bundle : undefined);
  } catch {
    // no network or no JSON: what is on show stays
  }
  wait();
}

// What of the panel of members tells of one revision.
const parts = ["listing", "bundle", "drawn", "address", "snippet", "revisions", "about"];

// refresh takes parts of the panel from the page of a revision as the server renders it now.
async function refresh(revision, names = parts) {
  const url = new URL(location.pathname, location.origin);
  url.searchParams.set("revision", revision);
  try {
    const page = await pageAt(url);
    for (const name of names) replace(part(name), page.querySelector(`[data-part="${name}"]`));
  } catch ({ message }) {
    if (message === "404") return;
    // no network, or a session that ended: what is on show stays
  }
  wait();
}

// pageAt fetches a page as the server renders it now. It throws the status of any other answer.
async function pageAt(url) {
  const answer = await fetch(url, { ...request, signal: AbortSignal.timeout(20_000) });
  if (!answer.ok) throw new Error(answer.status);
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

// replace gives a part the content of another one. The element itself stays, so that it is announced where it is live.
function replace(old, fresh) {
  if (!old || !fresh) return;
  if (old.contains(document.activeElement)) drawer.querySelector("summary").focus();
  old.replaceChildren(...fresh.childNodes);
  old.className = fresh.className;
  delete old.dataset.retry;
  Object.assign(old.dataset, fresh.dataset);
  if (old === part("listing")) find();
}

// Parts of the panel come and go, so that the drawer listens for them; a toggle does not bubble.
drawer.addEventListener(
  "toggle",
  ({ target }) => {
    if (target === drawer) wait();
    else if (target === part("code")) draw();
  },
  true,
);

// draw asks the server for the code of a link, because only it checks that it is one. Its picture is an image, never
// markup. That of a member's page is there already.
async function draw() {
  const place = part("drawn");
  if (!publicId || !part("code").open || place.hasChildNodes()) return;
  const { hash } = location;
  try {
    const answer = await post("/api/access-links/qr");
    if (!answer.ok) throw new Error(answer.status);
    const drawing = new Image();
    drawing.alt = "QR code of the link";
    drawing.src = `data:image/svg+xml,${encodeURIComponent(await answer.text())}`;
    if (hash === location.hash) place.replaceChildren(drawing);
  } catch {
    place.replaceChildren(note("fine", "The code cannot be drawn just now."));
  }
}

// A place in the artifact has a link of its own, which leads there.
document.addEventListener("vitrine:moved", () => {
  const placed = new URLSearchParams(location.search).has("at");
  for (const name of ["to-here", "here-line"]) part(name).hidden = !placed;
  write("here", placed ? location.href : "");
});

// arm shows what works with scripts only.
function arm() {
  for (const button of drawer.querySelectorAll("[data-copies]")) button.hidden = false;
  find();
}

drawer.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-copies]");
  if (button) copy(document.getElementById(button.dataset.copies), button.parentElement.querySelector("[role=status]"));
});

async function copy(text, said) {
  said.textContent = ""; // so that the same words are announced again
  try {
    await navigator.clipboard.writeText(text.textContent);
    said.textContent = "Copied.";
  } catch {
    text.closest("details").open = true;
    said.textContent = "The browser does not let this page copy: select the text below and copy it yourself.";
  }
}

arm();
move();
draw(); // where the reader was faster
