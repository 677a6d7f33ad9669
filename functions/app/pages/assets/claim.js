// Takes a claim token out of the fragment, which no server sees, and wipes it from the address bar and the history.
// Over a sign-in it waits in this tab's session storage, and nowhere else; it is read once.

const stage = document.querySelector("main");
const form = document.querySelector('[data-part="claim"]');
const kept = "vitrine:claim";
const pattern = /^ap_ct_(production|preview)_[0-9A-Z]{16}(\.clm_[0-9A-Z]{26})?_[\w-]{71}$/;

function wipe() {
  history.replaceState(null, "", location.pathname);
}

function store(token) {
  try {
    sessionStorage.setItem(kept, token);
    return true;
  } catch {
    return false; // storage is off: whoever signs in opens the link again
  }
}

function recall() {
  try {
    const token = sessionStorage.getItem(kept);
    sessionStorage.removeItem(kept);
    return token;
  } catch {
    return null;
  }
}

function take() {
  const sent = location.hash.slice(1);
  if (sent) wipe();
  const broken = Boolean(sent) && !pattern.test(sent);
  document.querySelector('[data-part="broken"]').hidden = !broken;
  if (broken) return;
  if (stage.dataset.signedIn !== "true") {
    const note = document.querySelector('[data-part="kept"]');
    if (sent) note.hidden = !store(sent);
    return;
  }
  const token = sent || recall();
  if (sent) recall(); // an older one is not wanted any more
  if (!token || !pattern.test(token)) return;
  form.elements.claim_token.value = token;
  form.requestSubmit(); // only shows what it is
}

addEventListener("hashchange", take);
take();
