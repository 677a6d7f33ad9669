// Asks the server again and again whether what the page shows is still the newest, and still open. The server says how
// long to wait; a reader who is away makes the page ask less, and not at all in the background.

const pace = {
  least: 3_000, // between two polls, even if the server says less
  idle: 15_000, // after a while without a reader
  idleAfter: 2 * 60_000,
  restAfter: 30 * 60_000, // then no more until the reader is back
  patience: 15_000, // with an answer
  failed: 15_000, // after an answer that says nothing
};

let current; // the newest watch: an older one must not touch the page any more
let touched = Date.now(); // when the reader did something last

// watch asks until it is stopped. ask(signal) sends a poll; news(body) puts what is new on show and may fail, and is
// then told again; close() takes the page away.
export function watch({ ask, news, close, answered }) {
  stop();
  touched = Date.now();
  current = { ask, news, close, answered };
  poll(current);
}

// stop ends the watch.
export function stop() {
  clearTimeout(current?.timer);
  current?.sent?.abort();
  current = undefined;
}

async function poll(it) {
  clearTimeout(it.timer);
  it.timer = undefined;
  if (it !== current || it.sent || document.hidden) return;
  it.sent = new AbortController();
  const patience = setTimeout(() => it.sent.abort(), pace.patience);
  let answer;
  try {
    answer = await it.ask(it.sent.signal);
    if (it !== current) return;
    if (answer.ok) it.answered?.(answer);
    if (it !== current) return;
    if (answer.status === 200) await it.news(await answer.json());
  } catch {
    // no network, no answer in time, or what is new cannot be shown yet: the page stays as it is
  } finally {
    clearTimeout(patience);
    it.sent = undefined;
  }
  if (it !== current) return;
  if (answer?.status === 404) {
    stop();
    return it.close();
  }
  const wait = 1000 * Math.min(Math.max(Number(answer?.headers.get("Retry-After")) || 0, 0), 3600);
  it.wait = wait || pace.failed;
  it.refused = answer?.ok ? 0 : Date.now() + it.wait;
  schedule(it);
}

function schedule(it) {
  const idle = Date.now() - touched;
  if (idle >= pace.restAfter) return;
  // Pages that opened together do not go on asking together.
  const spread = it.wait > pace.least ? 1 + Math.random() / 10 : 1;
  it.timer = setTimeout(poll, Math.max(it.wait * spread, idle >= pace.idleAfter ? pace.idle : pace.least), it);
}

// back makes up for the polls that the page left out while the reader was away.
function back() {
  const away = Date.now() - touched;
  touched = Date.now();
  if (!current || current.sent || document.hidden) return;
  if (away < pace.idleAfter && current.timer) return;
  poke(current);
}

// poke polls at once, or when the server that refused wants to be asked again.
function poke(it) {
  clearTimeout(it.timer);
  it.timer = setTimeout(poll, Math.max(0, (it.refused ?? 0) - Date.now()), it);
}

for (const sign of ["pointerdown", "pointermove", "keydown", "wheel", "touchstart", "scroll", "focus", "blur"]) {
  addEventListener(sign, back, { passive: true, capture: true });
}
document.addEventListener("visibilitychange", () => {
  if (!current) return;
  if (document.hidden) {
    clearTimeout(current.timer);
    current.timer = undefined;
  } else {
    touched = Date.now();
    poke(current);
  }
});
