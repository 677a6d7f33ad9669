// Remembers which revision of an artifact this browser showed last, and leads to what changed since. Without it the
// pages lead to the changes of one revision only.

const name = "vitrine:seen";
const most = 100; // artifacts
const revision = /^rev_[0-9A-HJKMNP-TV-Z]{26}$/;

// read returns what a store remembers: the revision of each artifact, the last one looked at at the end.
function read(store) {
  try {
    return new Map(JSON.parse(store.getItem(name)));
  } catch {
    return new Map(); // nothing yet, or a browser that keeps nothing
  }
}

function keep(store, artifact, shown) {
  const seen = read(store);
  seen.delete(artifact);
  seen.set(artifact, shown);
  try {
    store.setItem(name, JSON.stringify([...seen].slice(-most)));
  } catch {
    // a browser that keeps nothing
  }
}

// look offers what changed since the last visit. In a tab that stays the offer until it is taken.
function look() {
  const link = document.querySelector('[data-part="since"]');
  if (!link) return;
  const { artifact, shown } = link.dataset;
  const before = read(sessionStorage).get(artifact) ?? read(localStorage).get(artifact) ?? shown;
  keep(sessionStorage, artifact, before);
  keep(localStorage, artifact, shown);
  link.hidden = before === shown || !revision.test(before);
  if (link.hidden) return;
  link.href = `/artifacts/${artifact}/compare?${new URLSearchParams({ from: before, to: shown })}`;
  link.onclick = () => keep(sessionStorage, artifact, shown);
}

look();
document.addEventListener("vitrine:shown", look);
