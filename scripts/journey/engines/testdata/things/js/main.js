// Tries what pages that agents make do. window.things says of each: "works", "kept" for what an earlier visit stored, or
// "fails" and why.

const later = (ms) => new Promise((done) => setTimeout(done, ms));
const heard = (worker, port = worker) =>
  new Promise((done, failed) => {
    port.onmessage = (e) => done(e.data === "part");
    worker.onerror = () => failed("no script");
  });
const json = (path) => fetch(path).then((r) => r.json()).then((d) => d.height === 7.1);

// counted stores a number that counts the visits, and returns whether there was one before.
const counted = (storage) => (storage.visits = Number(storage.visits ?? 0) + 1) > 1 && "kept";

// baked sets a cookie and returns whether it is there.
const baked = (name, attributes) => {
  const has = () => document.cookie.split("; ").includes(`${name}=1`);
  const before = has();
  document.cookie = `${name}=1; Max-Age=3600${attributes}`;
  return (before && "kept") || has();
};

const database = (request) =>
  new Promise((done, failed) => {
    request.onupgradeneeded = () => request.result.createObjectStore("visits", { autoIncrement: true });
    request.onsuccess = () => {
      const store = request.result.transaction("visits", "readwrite").objectStore("visits");
      store.add(1);
      store.count().onsuccess = (e) => done(e.target.result > 1 ? "kept" : true);
    };
    request.onerror = () => failed(request.error);
  });

const cached = async (cache) => {
  const before = await cache.match("/kept");
  await cache.put("/kept", new Response("kept"));
  return before ? "kept" : true;
};

const framed = (src) =>
  new Promise((done, failed) => {
    const frame = Object.assign(document.createElement("iframe"), { src, hidden: true });
    frame.onload = () => done(frame.contentDocument?.title === "Found");
    document.addEventListener("securitypolicyviolation", (e) => e.effectiveDirective === "frame-src" && failed("policy"));
    document.body.append(frame);
  });

const drawn = async () => {
  for (let n = 0; n < 100 && !document.querySelector("use").getBBox().width; n++) await later(20);
  return document.querySelector("use").getBBox().width === 10;
};

const pushed = () => {
  const before = location.href;
  history.pushState({}, "", "found.html?q=state");
  const moved = location.pathname.endsWith("/found.html");
  history.replaceState({}, "", before);
  return moved;
};

const module = `postMessage((await import(${JSON.stringify(new URL("part.js", import.meta.url))})).part)`;
const script = (text) => URL.createObjectURL(new Blob([text], { type: "text/javascript" }));

const tried = {
  localStorage: () => counted(localStorage) || true,
  IndexedDB: () => database(indexedDB.open("things", 1)),
  caches: async () => cached(await caches.open("things")),
  cookie: () => baked("plain", ""),
  partitionedCookie: () => baked("apart", "; SameSite=None; Secure; Partitioned"),
  worker: () => heard(new Worker(new URL("worker.js", import.meta.url), { type: "module" })),
  sharedWorker: () => {
    const worker = new SharedWorker(new URL("shared.js", import.meta.url));
    return heard(worker, worker.port);
  },
  blobWorker: () => heard(new Worker(script(`postMessage("part")`))),
  blobWorkerOfModule: () => heard(new Worker(script(module), { type: "module" })),
  use: drawn,
  frame: () => framed("found.html"),
  fetch: () => json("data.json"),
  rootFetch: () => json("/data.json"),
  rootImport: async () => (await import("/js/part.js")).part === "part",
  wasm: async () => WebAssembly.validate(await (await fetch("data:application/wasm;base64,AGFzbQEAAAA=")).arrayBuffer()),
  pushState: pushed,
  serviceWorker: () => navigator.serviceWorker.register("js/shared.js").then(() => true),
};

document.addEventListener("securitypolicyviolation", (e) => (window.blocked = e.effectiveDirective));
const things = await Promise.all(
  Object.entries(tried).map(async ([name, attempt]) => {
    const late = later(30_000).then(() => "fails: nothing happened");
    const got = await Promise.race([(async () => attempt())().catch((failure) => `fails: ${failure}`), late]);
    return [name, got === true ? "works" : got || "fails"];
  }),
);
window.things = Object.fromEntries(things);
