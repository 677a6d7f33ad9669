// What the viewers share: the frame that shows an artifact, as tall as the content says, and the drawer beside it.
// What is in the frame is a stranger: it tells its height, which is checked, and nothing else.

export const part = (name) => document.querySelector(`[data-part="${name}"]`);

const { contentOrigin } = document.querySelector("main").dataset;
const drawer = part("drawer");
let exhibit; // the frame on show and how it grew

// contentURL returns the URL if it leads to the content host, and throws for any other.
export function contentURL(text) {
  const url = new URL(text);
  if (url.origin !== contentOrigin || !/^https?:$/.test(url.protocol)) throw new TypeError("not a content URL");
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

// frame shows content that contentURL took, in place of what was on show.
export function frame(source, title) {
  const frame = document.createElement("iframe");
  // Never allow-same-origin: content that got it could lift the sandbox.
  frame.sandbox = "allow-scripts allow-popups allow-popups-to-escape-sandbox allow-downloads";
  frame.referrerPolicy = "no-referrer";
  frame.title = `Artifact: ${plain(title)}`;
  frame.src = source.href;
  exhibit = { frame, streak: 0, heard: 0, applied: 0 };
  part("case").replaceChildren(frame);
}

// empty takes away what is on show.
export function empty() {
  exhibit?.frame.remove();
  exhibit = undefined;
  drawer.open = false;
}

// The content tells its height, so that the page scrolls as one. A page that is as tall as its window and a bit would
// grow with every answer: from the 6th growth without a second of rest we follow slowly, after the 10th no more, and
// the frame gets a scroll bar of its own.
const pause = { rest: 1000, quick: 80, slow: 400, patient: 6, last: 10 };

addEventListener("message", (event) => {
  if (!exhibit || event.source !== exhibit.frame.contentWindow) return;
  if (event.origin !== "null" && event.origin !== contentOrigin) return;
  const { type, height } = Object(event.data);
  if (type !== "vitrine:viewer-height" || !Number.isFinite(height) || height <= 0 || height > 50_000_000) return;
  if (exhibit.frozen) return;
  const now = performance.now();
  if (now - exhibit.heard > pause.rest) exhibit.streak = 0;
  exhibit.heard = now;
  exhibit.wanted = Math.ceil(height);
  const wait = exhibit.streak < pause.patient ? pause.quick : pause.slow;
  exhibit.timer ??= setTimeout(fit, Math.max(0, exhibit.applied + wait - now), exhibit);
});

function fit(it) {
  it.timer = undefined;
  if (it !== exhibit) return;
  const { frame, wanted } = it;
  const have = frame.clientHeight;
  if (wanted <= have && !frame.style.minHeight) return; // it fits into the window
  if (wanted > have) it.streak++;
  it.applied = performance.now();
  it.frozen = it.streak > pause.last;
  frame.style.minHeight = it.frozen ? "" : `${wanted}px`;
}

addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !drawer.open) return;
  drawer.open = false;
  drawer.querySelector("summary").focus();
});
addEventListener("pointerdown", (event) => {
  if (!drawer.contains(event.target)) drawer.open = false;
});
addEventListener("blur", () => {
  if (document.activeElement === exhibit?.frame) drawer.open = false; // a click into the frame tells nothing else
});
