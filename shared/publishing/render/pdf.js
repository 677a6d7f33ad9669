// Draws the pages of a PDF document as they come into view. A worker reads the document; one that takes too long is ended.
const main = document.querySelector("main");
const about = main.querySelector(".v-about");
const list = main.querySelector(".v-pages");
const program = main.dataset.program;
const most = { pages: 1000, time: 10000, side: 4096, unpacked: 2 ** 27 };

function ended(text) {
  about.textContent = text + " The raw file has all of it.";
  about.hidden = false;
}

// guard bounds what the worker holds of one part of a document, which it unpacks as a whole: by bytes, or by a stream of the
// browser. It ends the worker, because after a failure the worker would unpack the part again in another way.
function guard(most) {
  const [bytes, unpack] = [Uint8Array, DecompressionStream];
  const end = () => {
    postMessage("large");
    close();
    throw new RangeError("large");
  };
  self.Uint8Array = new Proxy(bytes, {
    construct: (of, given, as) => (given[0] > most ? end() : Reflect.construct(of, given, as)),
  });
  self.DecompressionStream = function (format) {
    const { readable, writable } = new unpack(format);
    let size = 0;
    const count = new TransformStream({
      transform: (chunk, out) => ((size += chunk.length) > most ? end() : out.enqueue(chunk)),
    });
    return { readable: readable.pipeThrough(count), writable };
  };
}

// begin starts the worker. A blob may be a worker of this page, and a file of another origin may not.
function begin() {
  const code = `(${guard})(${most.unpacked}); import(${JSON.stringify(program.replace("pdf.min", "pdf.worker.min"))}).catch(() => postMessage("failed"));`;
  const worker = new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
  return new Promise((done, fail) => {
    worker.onmessage = (e) => (e.data === "failed" ? fail(new Error("load")) : done(worker));
    worker.onerror = fail;
  });
}

// within ends the worker if a promise takes too long.
function within(promise, worker) {
  let timer;
  const late = new Promise((_, fail) => {
    const end = () => {
      worker.terminate();
      fail(new Error("late"));
    };
    timer = setTimeout(end, most.time);
    worker.addEventListener("message", (e) => e.data === "large" && end());
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

function links(pdfjs, annotations, viewport) {
  const layer = document.createElement("div");
  for (const a of annotations.filter((a) => a.subtype === "Link" && /^(https?|mailto):/i.test(a.url || ""))) {
    const [x1, y1, x2, y2] = viewport.convertToViewportRectangle(a.rect);
    const link = document.createElement("a");
    Object.assign(link, { href: a.url, target: "_blank", rel: "nofollow noreferrer noopener", title: a.url.slice(0, 300) });
    link.setAttribute("aria-label", "Link to " + a.url.slice(0, 300));
    Object.assign(link.style, {
      left: Math.min(x1, x2) + "px",
      top: Math.min(y1, y2) + "px",
      width: Math.abs(x2 - x1) + "px",
      height: Math.abs(y2 - y1) + "px",
    });
    layer.append(link);
  }
  layer.className = "v-links";
  return layer;
}

// show draws one page into its place.
async function show(pdfjs, doc, place, worker) {
  const page = await doc.getPage(Number(place.dataset.page));
  const plain = page.getViewport({ scale: 1 });
  place.style.aspectRatio = `${plain.width} / ${plain.height}`;
  const viewport = page.getViewport({ scale: place.clientWidth / plain.width });
  const sharp = Math.min(devicePixelRatio, 2, most.side / viewport.width, most.side / viewport.height);
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.floor(viewport.width * sharp));
  canvas.height = Math.max(1, Math.floor(viewport.height * sharp));
  await page.render({ canvas, viewport: page.getViewport({ scale: viewport.scale * sharp }) }).promise;
  const text = document.createElement("div");
  text.className = "v-text";
  text.style.setProperty("--total-scale-factor", viewport.scale);
  await new pdfjs.TextLayer({ textContentSource: page.streamTextContent(), container: text, viewport }).render();
  place.replaceChildren(canvas, text, links(pdfjs, await page.getAnnotations(), viewport));
  page.cleanup();
}

function places(count, first) {
  for (let n = 1; n <= Math.min(count, most.pages); n++) {
    const place = document.createElement("section");
    place.className = "v-page";
    place.dataset.page = n;
    place.setAttribute("aria-label", `Page ${n} of ${count}`);
    place.style.aspectRatio = `${first.width} / ${first.height}`;
    list.append(place);
  }
}

// bytes loads the document. The time of the network is not the document's.
async function bytes() {
  const response = await fetch(main.dataset.raw);
  if (!response.ok) throw new Error("load");
  return response.arrayBuffer();
}

async function open(pdfjs, worker) {
  pdfjs.GlobalWorkerOptions.workerPort = worker;
  const task = pdfjs.getDocument({
    data: await bytes(),
    wasmUrl: program.replace(/legacy\/build\/.*/, "wasm/"),
    useWasm: false,
    isEvalSupported: false,
    enableXfa: false,
    maxImageSize: 2 ** 24,
    verbosity: 0,
  });
  const doc = await within(task.promise, worker);
  places(doc.numPages, (await within(doc.getPage(1), worker)).getViewport({ scale: 1 }));
  about.textContent = doc.numPages === 1 ? "1 page" : `${doc.numPages} pages`;
  if (doc.numPages > most.pages) about.textContent += `, of which the first ${most.pages} are shown`;
  return doc;
}

// watch draws the pages that are in view or next to it, and forgets those that are not.
function watch(pdfjs, doc, worker) {
  let queue = Promise.resolve();
  let over = false;
  const inView = new Set();
  const failed = (e) => {
    if (over) return;
    over = e.message === "late";
    ended(over ? "A page of this document is too large to draw, or takes too long." : "A page of this document cannot be drawn.");
  };
  const next = (place) => {
    if (over || !inView.has(place) || place.firstChild) return;
    return within(show(pdfjs, doc, place, worker), worker).catch(failed).finally(() => (main.dataset.drawn = "yes"));
  };
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (isIntersecting) {
          inView.add(target);
          queue = queue.then(() => next(target));
        } else {
          inView.delete(target);
          target.replaceChildren();
        }
      }
    },
    { rootMargin: "100% 0px" },
  );
  const all = [...list.children];
  all.forEach((place) => observer.observe(place));
  let width = list.clientWidth;
  new ResizeObserver(() => {
    if (list.clientWidth === width) return;
    width = list.clientWidth;
    for (const place of all) {
      place.replaceChildren();
      observer.unobserve(place);
      observer.observe(place);
    }
  }).observe(list);
}

// The program measures letters in an element of its own, which belongs into the landmark too.
new MutationObserver(() => main.append(...document.querySelectorAll("body > canvas"))).observe(document.body, { childList: true });

try {
  const [pdfjs, worker] = await Promise.all([import(program), begin()]);
  watch(pdfjs, await open(pdfjs, worker), worker);
} catch (e) {
  main.dataset.drawn = "no";
  if (e.name === "PasswordException") ended("This document asks for a password, so its pages are not shown here.");
  else if (e.name === "InvalidPDFException") ended("This file is not a PDF document that can be read.");
  else if (e.message === "late") ended("This document is too large to read, or takes too long.");
  else ended("The pages of this document are not shown, because the program that draws them did not load it.");
}
