// Keeps what a member writes about an artifact, sends it without leaving the page, and shows what others write. Without it
// the forms are sent as any other, and what is new is there when the page is loaded again.

const part = (name, within = document) => within.querySelector(`[data-part="${name}"]`);
const forms = () => document.querySelectorAll("form[data-draft]");
const patience = 20_000;

// Drafts are kept in the tab, or as long as the page lives where the browser keeps nothing.

const prefix = "vitrine:draft:";
const drafts = new Map();
const fields = (form) => [...form.elements].filter(({ name, type }) => name && type !== "hidden" && type !== "submit");
const written = (form) => [...form.querySelectorAll("textarea")].some(({ value }) => value.trim());

function keep(form) {
  const { draft } = form.dataset;
  const values = fields(form)
    .filter(({ type, checked }) => type !== "radio" || checked)
    .map(({ name, value }) => [name, value]);
  if (!written(form)) return forget(draft);
  drafts.set(draft, values);
  try {
    sessionStorage.setItem(prefix + draft, JSON.stringify(values));
  } catch {
    // a browser that keeps nothing
  }
}

function forget(draft) {
  drafts.delete(draft);
  try {
    sessionStorage.removeItem(prefix + draft);
  } catch {
    // a browser that keeps nothing
  }
}

function kept(draft) {
  try {
    return drafts.get(draft) ?? JSON.parse(sessionStorage.getItem(prefix + draft));
  } catch {
    return undefined;
  }
}

// restore fills a form in with what was typed. What the server shows again is newer.
function restore(form) {
  const values = "kept" in form.dataset ? undefined : kept(form.dataset.draft);
  if (!Array.isArray(values)) return;
  for (const [name, value] of values) if (form.elements[name]) form.elements[name].value = value;
  const fold = form.closest(".fold");
  if (fold) fold.open = true;
}

document.addEventListener("input", ({ target }) => target.form?.dataset.draft && keep(target.form));

// A form is sent, and the page that the server answers with is taken over where it tells of threads.

document.addEventListener("submit", async (event) => {
  const { target: form, submitter } = event;
  if (!form.dataset.draft || event.defaultPrevented) return;
  event.preventDefault();
  if (form.dataset.busy) return;
  form.dataset.busy = "yes";
  say(form, "Sending…");
  try {
    const page = await send(form, submitter);
    const { draft } = form.dataset;
    forget(draft);
    delete form.dataset.kept;
    form.querySelector(".problem")?.remove();
    for (const field of form.querySelectorAll("textarea, [name=from], [name=to]")) field.value = "";
    show(page);
    const fresh = page.querySelector(`form[data-draft="${draft}"] [name=once]`);
    if (fresh) form.elements.once.value = fresh.value;
    say(form, "Sent.");
    part("feedback-said")?.replaceChildren("Sent.");
  } catch ({ message }) {
    say(form, message, "problem");
  } finally {
    delete form.dataset.busy;
    delete form.dataset.sent; // by forms.js, which lets a form go once
  }
});

// send returns the page after a form. It throws what to tell the writer.
async function send(form, submitter) {
  let answer, page;
  try {
    answer = await fetch(form.action, {
      method: "POST",
      body: new URLSearchParams(new FormData(form, submitter)),
      cache: "no-store",
      signal: AbortSignal.timeout(patience),
    });
    page = new DOMParser().parseFromString(await answer.text(), "text/html");
  } catch {
    throw new Error("This could not be sent. Your words are kept: try again in a moment.");
  }
  if (answer.ok && part("threads", page)) return page;
  const why = page.getElementById("problem") ?? page.querySelector("main p");
  throw new Error(why?.textContent.trim() || "This was not taken. Your words are kept.");
}

function say(form, text, how = "fine") {
  part("sent", form).className = how;
  part("sent", form).textContent = text;
}

// show takes over the threads of a page, and keeps what is being typed and where.
function show(page) {
  const old = part("threads");
  const fresh = part("threads", page);
  if (!old || !fresh) return;
  const { activeElement: at } = document;
  const focus = old.contains(at) && {
    thread: at.closest(".thread")?.id,
    name: at.name,
    range: [at.selectionStart, at.selectionEnd],
  };
  const open = old.querySelector(".fold")?.open;
  if (later(fresh.dataset.seq, old.dataset.seq)) part("feedback-said")?.replaceChildren("The feedback has changed.");
  old.replaceChildren(...fresh.childNodes);
  old.dataset.seq = fresh.dataset.seq;
  if (open && old.querySelector(".fold")) old.querySelector(".fold").open = true;
  for (const form of old.querySelectorAll("form[data-draft]")) restore(form);
  part("feedback-count")?.replaceChildren(...(part("feedback-count", page)?.childNodes ?? []));
  if (!focus) return;
  const thread = focus.thread && document.getElementById(focus.thread);
  const field = focus.name && thread?.querySelector(`textarea[name="${focus.name}"]`);
  (field || thread || part("feedback")?.querySelector("summary") || old).focus();
  if (field) field.setSelectionRange(...focus.range);
}

// The viewer hears of changes from the polls that it makes anyway.

let asking;

// later compares two states, each the number of the newest change and that of what a guest wrote last. Both only rise, so that
// of two states that one read each, one is later.
function later(told, shown) {
  const [a, b] = [told, shown].map((state) => (state ?? "").split(".").map(Number));
  return a.length === 2 && b.length === 2 && a.every((n, i) => n >= b[i]) && a.some((n, i) => n > b[i]);
}

// heard refreshes the threads if what the server tells is later than what is on show.
export async function heard(state) {
  if (asking || !later(state, part("threads")?.dataset.seq)) return;
  asking = true;
  try {
    const answer = await fetch(location.href, { cache: "no-store", redirect: "error", signal: AbortSignal.timeout(patience) });
    if (!answer.ok) return;
    show(new DOMParser().parseFromString(await answer.text(), "text/html"));
  } catch {
    // no network: the next poll tells it again
  } finally {
    asking = false;
  }
}

// turn follows the viewer to another revision. Who is writing goes on about the one that they saw.
export function turn(page) {
  const form = document.querySelector("form.remark");
  const fresh = page.querySelector("form.remark");
  show(page);
  if (!form || !fresh || written(form)) return;
  for (const name of ["revision", "shown", "path"]) form.elements[name].value = fresh.elements[name].value;
  form.querySelector("datalist").replaceChildren(...fresh.querySelector("datalist").childNodes);
}

// The file on show is the one to write about.
document.addEventListener("vitrine:moved", () => {
  const form = document.querySelector("form.remark");
  const at = new URLSearchParams(location.search).get("at")?.split(/[?#]/)[0];
  if (!form || !at || written(form)) return;
  const known = [...form.querySelectorAll("option")].some(({ value }) => value === at);
  if (known) form.elements.path.value = at;
});

for (const form of forms()) restore(form);
if (location.hash.startsWith("#thr_")) document.getElementById(location.hash.slice(1))?.scrollIntoView();
