import { answer } from "./answer.js";

// The two kinds of storage count how often this browser has opened the page.
window.visits = localStorage.visits = Number(localStorage.visits ?? 0) + 1;
const opening = indexedDB.open("app", 1);
opening.onupgradeneeded = () => opening.result.createObjectStore("visits", { autoIncrement: true });
opening.onsuccess = () => {
  const store = opening.result.transaction("visits", "readwrite").objectStore("visits");
  store.add(answer);
  store.count().onsuccess = (e) => (window.kept = e.target.result);
};
new Worker(new URL("worker.js", import.meta.url), { type: "module" }).onmessage = (e) => (window.worked = e.data);
caches.open("app").then((cache) => cache.put("kept", new Response("kept"))).then(() => (window.cached = true));
fetch("/data.json").then((r) => r.json()).then((d) => (window.root = d.height), () => {});
navigator.serviceWorker?.register("js/worker.js").then(() => (window.service = "runs"), () => (window.service = "refused"));
