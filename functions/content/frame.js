// What HTML in a viewer frame gets besides the script that reports its height. It stands in that script, of which it uses d,
// l, on, post, prefix and place. It defines no global names and keeps nothing that the page can reach.
(() => {
  const w = window, open = w.open.bind(w);
  // not d.currentScript, because a form may hide that
  Object.getOwnPropertyDescriptor(Document.prototype, "currentScript").get.call(d).remove();
  const define = (on, name, descriptor) => Object.defineProperty(on, name, { configurable: true, ...descriptor });

  // Storage and cookies throw in an opaque origin. They last as long as the document instead.
  const quota = 5 << 20;
  const storage = () => {
    let items = new Map();
    const methods = {
      key: (n) => [...items.keys()][n] ?? null,
      getItem: (name) => items.get(`${name}`) ?? null,
      setItem: (name, value) => {
        const next = new Map(items).set(`${name}`, `${value}`);
        if ([...next].reduce((n, [k, v]) => n + k.length + v.length, 0) > quota) throw new DOMException("5 MB", "QuotaExceededError");
        items = next;
      },
      removeItem: (name) => void items.delete(`${name}`),
      clear: () => items.clear(),
    };
    const base = Object.create(w.Storage?.prototype ?? null);
    for (const name in methods) define(base, name, { value: methods[name] });
    define(base, "length", { get: () => items.size });
    const own = (name) => typeof name === "string" && !(name in base) && items.has(name);
    return new Proxy(Object.create(base), {
      get: (_, name) => own(name) ? items.get(name) : base[name],
      set: (_, name, value) => (typeof name === "string" && !(name in base) && methods.setItem(name, value), true),
      has: (_, name) => own(name) || name in base,
      deleteProperty: (_, name) => (own(name) && items.delete(name), true),
      ownKeys: () => [...items.keys()],
      getOwnPropertyDescriptor: (_, name) =>
        own(name) ? { value: items.get(name), writable: true, enumerable: true, configurable: true } : undefined,
    });
  };
  // The page around says that what a page stores here goes with it.
  let forget = () => {
    forget = () => {};
    post("forgets");
  };
  for (const name of ["localStorage", "sessionStorage"]) {
    try {
      w[name].length;
    } catch {
      const kept = storage();
      define(w, name, { get: () => (forget(), kept) });
    }
  }
  // Browsers keep cookies of a frame of another site with these attributes or not at all.
  const { get, set } = Object.getOwnPropertyDescriptor(Document.prototype, "cookie");
  const cookies = () => get.call(d);
  const bake = (text) => set.call(d, /; *samesite/i.test(text) ? text : text + ";SameSite=None;Secure;Partitioned");
  let keeps;
  try {
    bake("_vitrine=1");
    keeps = /_vitrine=1/.test(cookies());
    bake("_vitrine=;Max-Age=0");
  } catch {}
  if (keeps) define(d, "cookie", { get: cookies, set: bake });
  else {
    const jar = new Map();
    define(d, "cookie", {
      get: () => [...jar].map(([name, value]) => (name ? name + "=" : "") + value).join("; "),
      set: (text) => {
        forget();
        const [pair, ...more] = `${text}`.split(";");
        const at = pair.indexOf("=");
        const name = pair.slice(0, Math.max(at, 0)).trim();
        const { expires, "max-age": age } = Object.fromEntries(more.map((part) => part.trim().toLowerCase().split("=")));
        const ends = age ? age <= 0 : Date.parse(expires) <= Date.now();
        if (ends) jar.delete(name);
        else jar.set(name, pair.slice(at + 1).trim());
      },
    });
  }

  // A link, form or state inside the artifact stays in the frame. The page around opens a tab for one at an own origin, where
  // a tab without it shows nothing.
  const resolved = (to) => {
    try {
      return new URL(to, d.baseURI);
    } catch {
      return;
    }
  };
  const inside = (url) => url?.origin === l.origin && url.pathname.startsWith(prefix);
  on("click", (e) => {
    if (e.defaultPrevented || e.button || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
    const link = e.composedPath().find((node) => /^(a|area)$/i.test(node.localName) && node.href);
    if (!link || link.hasAttribute("download")) return;
    const url = resolved(link.href.baseVal ?? link.href);
    const [, whole, tab] = /^_(?:(top|parent)|(blank))$/i.exec(link.target.baseVal ?? link.target) ?? [];
    if (inside(url) ? !whole && (!tab || w.origin === "null") : !/^(https?|mailto|tel):$/.test(url?.protocol)) return;
    e.preventDefault();
    if (inside(url)) tab ? post("tab", { path: url.pathname.slice(prefix.length), query: url.search, hash: url.hash }) : l.href = url;
    else open(url.href, "_blank", "noopener");
  });
  on("submit", (e) => {
    const form = e.target, by = e.submitter;
    const set = (name) => by?.getAttribute("form" + name) ?? form.getAttribute(name);
    const url = resolved(set("action") || d.URL);
    if (e.defaultPrevented || !/^(get)?$/i.test(set("method") ?? "") || !inside(url)) return;
    e.preventDefault();
    url.search = new URLSearchParams([...new FormData(form, by)].filter(([, value]) => typeof value === "string"));
    l.href = url;
  });

  // What stays in place while the page scrolls, as bars and dialogs do, needs a frame that is no taller than the window. The
  // page around tells how far its reader had come in the tall one.
  let fixed;
  const stays = () => {
    const now = fixed || [...d.querySelectorAll("body *")].slice(0, 3e3).some((it) => /fixed|sticky/.test(getComputedStyle(it).position));
    if (now !== fixed) post("fixed", { fixed: now });
    fixed = now;
  };
  on("DOMContentLoaded", stays);
  on("load", stays);
  on("click", () => setTimeout(stays));
  on("message", ({ source, data }) => {
    if (source !== parent || data?.type !== "vitrine:scroll") return;
    const go = () => data.top ? scrollTo(0, data.top) : d.querySelector(":target")?.scrollIntoView();
    go();
    on("resize", go, { once: true });
  });

  // A page that is still empty a while after something in it failed tells what: files by their paths, others by their hosts,
  // and errors by their messages.
  const failed = new Set();
  const miss = (to) => {
    const url = resolved(to) ?? {};
    failed.add(inside(url) ? url.pathname.slice(prefix.length) : url.origin === l.origin ? url.pathname : url.host || to);
  };
  on("error", ({ target, message }) => (message ? failed.add(message) : miss(target.src || target.href)), true);
  d.addEventListener("securitypolicyviolation", (e) => miss(e.blockedURI));
  on("load", () => setTimeout(() => {
    const drawn = [...d.querySelectorAll("img,svg,canvas,video,iframe,input")];
    if (!failed.size || d.body?.innerText.trim() || drawn.some((it) => it.getClientRects().length)) return;
    post("blank", { failed: [...failed] });
  }, 3e3));

  // A state tells the place, too. Some browsers let no state change the path here: then the state stays, and the address
  // does not.
  for (const name of ["pushState", "replaceState"]) {
    const change = history[name].bind(history);
    define(history, name, {
      writable: true,
      value: (state, title, to) => {
        try {
          change(state, title, to);
        } catch (failure) {
          if (to === undefined || resolved(to)?.origin !== l.origin) throw failure;
          change(state, title);
        }
        place();
      },
    });
  }
})();
