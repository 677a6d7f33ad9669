// Sends files by way of an upload session, and publishes them. It survives pauses, lost connections and URLs that
// expire: each step is repeated with the same Idempotency-Key.

const parallel = 4; // files at a time
const waits = [1000, 2000, 4000, 8000, 16_000]; // between attempts, in milliseconds
const patience = 60_000; // with an upload that makes no progress
const renewals = 3; // of the URL of a file

// Refusal is an answer that is no success, or no answer, which has the status 0.
export class Refusal extends Error {
  constructor(status, { code, message } = {}, wait = 0) {
    super(message ?? (status ? `The server answered ${status}.` : "The server could not be reached."));
    Object.assign(this, { status, code, wait });
  }

  // passing reports whether another attempt may succeed.
  get passing() {
    return this.status === 0 || this.status === 408 || this.status >= 500 ||
      this.code === "idempotency_in_flight" || Boolean(this.code?.startsWith("rate_limited"));
  }
}

export class Transfer {
  // request has what the session is for beside its files. tell({ state, sent }) is called whenever one of them changes;
  // state is sending, offline, waiting, paused or finishing.
  constructor(request, files, tell) {
    const declared = files.map(({ path, file, sha256 }) => ({ path, size_bytes: file.size, sha256 }));
    this.body = JSON.stringify({ ...request, resumable: true, files: declared });
    this.files = new Map(files.map(({ path, file }) => [path, file]));
    this.tell = tell;
    this.key = `browser-${crypto.randomUUID()}`;
    this.sent = new Map();
    this.sending = new Set(); // requests that can be aborted
    this.gate = Promise.resolve(); // open unless the transfer is paused
  }

  // run returns the answer to the publish, or that nothing changed. It may be called again after it failed.
  async run() {
    this.failure = undefined;
    const session = await this.create();
    if (session.unchanged_revision_id) return { unchanged: true };
    this.state("sending");
    await this.send(session.files);
    this.state("finishing");
    const draft = await this.call(`/api/upload-sessions/${session.upload_session_id}/finalize`);
    return this.call(`/api/artifacts/${draft.artifact_id}/revisions/${draft.revision_id}/publish`);
  }

  pause() {
    this.gate = new Promise((open) => (this.open = open));
    this.paused = true;
    this.state("paused");
    this.abort();
  }

  resume() {
    this.paused = false;
    this.state("sending");
    this.open();
  }

  // end gives up. The session of the server expires by itself.
  end() {
    this.failure = new Refusal(0, { message: "Stopped." });
    this.open?.();
    this.abort();
  }

  abort() {
    for (const request of this.sending) request.abort();
  }

  state(state) {
    this.tell({ state, sent: [...this.sent.values()].reduce((all, one) => all + one, 0) });
  }

  create() {
    return this.call("/api/upload-sessions", this.body);
  }

  call(path, body) {
    return this.patiently(async () => {
      const headers = { Accept: "application/json", "Content-Type": "application/json", "Idempotency-Key": this.key };
      const answer = await fetch(path, { method: "POST", headers, body, redirect: "error" }).catch(() => undefined);
      if (!answer) throw new Refusal(0);
      const content = await answer.json().catch(() => ({}));
      if (answer.ok) return content;
      throw new Refusal(answer.status, content.error, 1000 * (Number(answer.headers.get("Retry-After")) || 0));
    });
  }

  // patiently repeats an act that failed for a passing reason.
  async patiently(act) {
    for (let attempt = 0; ; attempt++) {
      await this.gate;
      if (this.failure) throw this.failure;
      try {
        return await act();
      } catch (error) {
        if (this.failure) throw this.failure;
        if (!(error instanceof Refusal) || !error.passing) throw error;
        if (this.paused) continue;
        if (!navigator.onLine) attempt = -1;
        if (attempt >= waits.length) throw error;
        await this.wait(Math.max(error.wait, waits[attempt] ?? 0));
      }
    }
  }

  // wait waits a time, or until the browser is online again.
  async wait(time) {
    this.state(navigator.onLine ? "waiting" : "offline");
    await new Promise((done) => {
      if (navigator.onLine) setTimeout(done, time);
      else addEventListener("online", done, { once: true });
    });
    if (!this.paused) this.state("sending");
  }

  async send(targets) {
    const waiting = [...targets];
    const worker = async () => {
      try {
        for (let target; (target = waiting.shift()); ) await this.store(target);
      } catch (error) {
        this.failure ??= error;
        this.abort();
      }
    };
    await Promise.all(Array.from({ length: parallel }, worker));
    if (this.failure) throw this.failure;
  }

  async store(target) {
    let left = renewals;
    while (target.status === "upload_required") {
      try {
        await this.patiently(() => this.put(target));
        break;
      } catch (error) {
        if (error.status !== 403 || this.failure || left-- === 0) throw error;
        target = await this.renew(target); // its URL has expired
      }
    }
    this.count(target.path, this.files.get(target.path).size);
  }

  // renew returns a fresh target, once for all files whose URLs expired together.
  async renew({ path, put_url: old }) {
    if (!this.fresh || this.fresh.at + patience < Date.now()) {
      this.fresh = { at: Date.now(), session: this.create() };
      this.fresh.session.catch(() => (this.fresh = undefined));
    }
    const { files } = await this.fresh.session;
    const target = files.find((file) => file.path === path);
    if (target.put_url === old) this.fresh = undefined;
    return target;
  }

  count(path, bytes) {
    this.sent.set(path, bytes);
    if (!this.paused) this.state("sending");
  }

  put({ path, put_url: url, required_headers: headers }) {
    const file = this.files.get(path);
    return new Promise((done, failed) => {
      const request = new XMLHttpRequest(); // fetch tells no progress
      let timer;
      const watch = () => {
        clearTimeout(timer);
        timer = setTimeout(() => request.abort(), patience);
      };
      const lost = () => {
        this.count(path, 0);
        failed(new Refusal(0, { message: `“${path}” could not be sent. It may have been changed or removed.` }));
      };
      request.open("PUT", url);
      for (const [name, value] of Object.entries(headers)) {
        if (name !== "content-length") request.setRequestHeader(name, value); // which browsers set themselves
      }
      request.upload.onprogress = ({ loaded }) => {
        watch();
        this.count(path, loaded);
      };
      request.onloadend = () => {
        clearTimeout(timer);
        this.sending.delete(request);
      };
      request.onerror = request.onabort = lost;
      request.onload = () => {
        const { status } = request;
        // 412: an earlier attempt has stored it.
        if ((status >= 200 && status < 300) || status === 412) return done();
        failed(new Refusal(status, { message: `The storage refused “${path}” (${status}). It may have been changed meanwhile.` }));
      };
      this.sending.add(request);
      watch();
      request.send(file.slice(0, file.size, "")); // a type would be one more header
    });
  }
}
