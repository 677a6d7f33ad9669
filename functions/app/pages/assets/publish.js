// Publishes files that were chosen, dropped or pasted: shows what will be published, then sends it. Without it the page
// says what to do instead.

import { bytes, choose, dropped, Judge, passed, pasted, picked, sum, total } from "./choose.js";
import { titleOf } from "./title.js";
import { Transfer } from "./transfer.js";

const root = document.querySelector('[data-part="upload"]');
const part = (name) => root.querySelector(`[data-part="${name}"]`);
const { rules, limits, artifact, title: stored } = JSON.parse(root.dataset.upload);
const judge = new Judge(rules);
const shownFiles = 200;

let files = []; // that will be published
let left = new Map(); // reasons of what is left out, by path
let transfer; // that runs, or may be tried again
let run = 0; // the newest attempt: an older one must not touch the page any more
let busy = false;

// show shows one of the steps, and moves the focus there.
function show(step) {
  for (const name of ["zone", "plan", "sending"]) part(name).hidden = name !== step;
  if (step !== "zone") part(step).focus();
}

const say = (text) => (part("said").textContent = text);

function fail(text) {
  part("problem").textContent = text;
  part("problem").hidden = !text;
}

// plan shows what of the chosen files will be published.
async function plan(chosen, title) {
  if (busy || !chosen.length) return;
  const mine = ++run;
  const choice = await choose(chosen, judge).catch(() => undefined);
  const first = choice?.files.find(({ path }) => path === choice.first);
  const page = first && !stored ? await titleOf(first.path, first.file).catch(() => "") : "";
  if (mine !== run) return; // others were chosen meanwhile
  if (!choice) return fail("The files cannot be read. Choose them again.");
  ({ files, left } = choice);
  transfer = undefined;
  part("title").value = stored || page || title || choice.title;
  showPlan(choice.first, passed(files, limits));
  say(choice.note);
}

// showPlan shows the files with the one that opens first, and the problem that they have.
function showPlan(first, problem) {
  part("total").textContent = total(files);
  list(part("files"), files.map(({ path, file }) => `${path} (${bytes(file.size)})`));
  list(part("left"), Array.from(left, ([path, why]) => `${path}: ${why}`));
  part("left-out").hidden = left.size === 0;
  const options = files.map(({ path }) => new Option(path, path, false, path === first));
  if (files.length > 1) options.unshift(new Option("The list of files", "", false, first === ""));
  part("entrypoint").replaceChildren(...options);
  fail(problem);
  part("publish").disabled = Boolean(problem);
  show("plan");
}

// leaveOut takes the files with secrets out of the plan, and shows it again with what that means.
function leaveOut(secrets, first) {
  busy = false;
  for (const { path, secret } of secrets) left.set(path, `holds ${secret}`);
  files = files.filter(({ secret }) => !secret);
  const opening = secrets.find(({ path }) => path === first);
  const problem = opening
    ? `“${first}” is to open first, but it is not published, because it holds ${opening.secret}. ` +
      "Take that out, then choose the files again."
    : passed(files, limits);
  showPlan(first, problem);
  part("left-out").open = true;
  if (!problem) fail("Files that hold a secret are left out now. Look through the list, then publish the others.");
  say("");
}

function list(to, lines) {
  const shown = lines.slice(0, shownFiles);
  if (lines.length > shownFiles) shown.push(`and ${lines.length - shownFiles} more`);
  to.replaceChildren(...shown.map((line) => {
    const item = document.createElement("li");
    item.append(Object.assign(document.createElement("bdi"), { textContent: line }));
    return item;
  }));
}

// hash reads the files in the worker and gives each its SHA-256, and the kind of a secret that it holds.
function hash(tell) {
  const hashed = files.filter(({ sha256 }) => !sha256);
  if (!hashed.length) return undefined;
  const worker = new Worker(root.dataset.worker, { type: "module" });
  let read = 0;
  let missing = hashed.length;
  return new Promise((done, failed) => {
    worker.onmessage = ({ data }) => {
      if (data.failed) failed(new Error(`“${hashed[data.id].path}” cannot be read. Choose the files again.`));
      if (data.read) tell((read += data.read));
      if (!data.sha256) return;
      Object.assign(hashed[data.id], { sha256: data.sha256, secret: data.secret });
      if (--missing === 0) done();
    };
    worker.onerror = () => failed(new Error("The files cannot be read in this browser."));
    hashed.forEach(({ file }, id) => worker.postMessage({ id, file, secrets: rules.secrets }));
  }).finally(() => worker.terminate());
}

const words = {
  reading: "Reading the files",
  sending: "Sending the files",
  waiting: "Trying again in a moment",
  offline: "Waiting for the network",
  paused: "Paused",
  finishing: "Publishing",
};

function progress(state, n) {
  const all = sum(files);
  part("bar").max = all || 1;
  part("bar").value = n;
  say(words[state]);
  part("amount").textContent = `${bytes(n)} of ${bytes(all)}`;
  part("pause").hidden = !["sending", "waiting", "offline", "paused"].includes(state);
  part("pause").textContent = state === "paused" ? "Go on" : "Pause";
}

async function publish() {
  const mine = ++run;
  const tell = (state, n) => mine === run && progress(state, n);
  busy = true;
  fail("");
  part("again").hidden = true;
  show("sending");
  try {
    if (!transfer) {
      tell("reading", 0);
      await hash((n) => tell("reading", n));
      if (mine !== run) return;
      const first = part("entrypoint").value;
      const secrets = files.filter(({ secret }) => secret);
      if (secrets.length) return leaveOut(secrets, first);
      transfer = new Transfer({
        artifact_id: artifact || undefined,
        title: part("title").value.trim(),
        entrypoint: first || files[0].path,
        listing: first === "",
        app: { true: true, false: false }[part("app")?.value],
      }, files, ({ state, sent }) => tell(state, sent));
    }
    const made = await transfer.run();
    if (mine !== run) return;
    busy = false;
    if (!made.unchanged) return location.assign(made.path);
    show("zone");
    say("Nothing changed: the newest revision has these files already, so no revision was made.");
  } catch (error) {
    if (mine !== run) return;
    busy = false;
    say("");
    fail(error.message);
    part("pause").hidden = true;
    // What was refused for good is planned anew; else the same steps go on.
    part("again").hidden = !error.passing && error.status !== undefined;
    if (!part("again").hidden) part("again").focus();
  }
}

function restart() {
  run++; // what still runs has no effect on the page
  transfer?.end();
  busy = false;
  fail("");
  say("");
  show("zone");
}

part("plan").addEventListener("submit", (event) => {
  event.preventDefault();
  publish();
});
part("again").addEventListener("click", publish);
part("pause").addEventListener("click", () => (transfer.paused ? transfer.resume() : transfer.pause()));
for (const button of root.querySelectorAll("[data-restart]")) button.addEventListener("click", restart);

for (const name of ["choose-files", "choose-folder"]) {
  const input = part(name).nextElementSibling;
  part(name).addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    plan(picked(input.files));
    input.value = "";
  });
}
part("choose-folder").hidden = !("webkitdirectory" in HTMLInputElement.prototype);

// Files may be dropped anywhere on the page, because a browser leaves the page for a file that misses the zone.
const carriesFiles = (event) => event.dataTransfer?.types.includes("Files");
addEventListener("dragover", (event) => {
  if (!carriesFiles(event)) return;
  event.preventDefault();
  part("zone").classList.add("over");
});
addEventListener("dragleave", () => part("zone").classList.remove("over"));
addEventListener("drop", async (event) => {
  part("zone").classList.remove("over");
  if (!carriesFiles(event)) return;
  event.preventDefault();
  plan(await dropped(event.dataTransfer, judge));
});
addEventListener("paste", (event) => {
  if (event.target.closest?.("input, textarea")) return;
  const clip = pasted(event.clipboardData);
  if (!clip) return;
  event.preventDefault();
  plan(clip.chosen, clip.title);
});
addEventListener("beforeunload", (event) => {
  if (busy) event.preventDefault();
});

show("zone");
