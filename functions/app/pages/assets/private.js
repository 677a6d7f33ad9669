// Keeps what the page of a member's artifact frames up to date, and as tall as it is. Without it the page stays as it was
// when it was opened.

import { adopt, contentURL, empty, loaded, ownURL, part, swap } from "./exhibit.js";

const strip = part("strip");
const follows = !new URLSearchParams(location.search).has("revision"); // else the page is that of one revision

// place shows what the page names; how is adopt or swap.
function place(how) {
  const { source, own, app, title, size } = part("case")?.dataset ?? {};
  const runs = part("asleep") === null;
  if (source) how({ source: contentURL(source), own: ownURL(own), app: app === "true", title, size, runs });
  else empty(false);
}

function tell() {
  document.dispatchEvent(new CustomEvent("vitrine:shown", { detail: { revision_id: strip.dataset.revision } }));
}

// renew takes over what the server shows on this page now; it throws if that cannot be had.
async function renew() {
  const answer = await fetch(location.href, { cache: "no-store", redirect: "error", headers: { Accept: "text/html" } });
  if (!answer.ok) throw new Error(`the page answers ${answer.status}`);
  const next = new DOMParser().parseFromString(await answer.text(), "text/html");
  const of = (name) => next.querySelector(`[data-part="${name}"]`);
  const exhibition = of("exhibition");
  if (!exhibition) throw new Error("not the viewer");
  document.title = next.title;
  part("placard").replaceWith(of("placard"));
  part("drawer").querySelector(".sheet").replaceChildren(...of("drawer").querySelector(".sheet").childNodes);
  for (const name of ["newest", "revision"]) strip.dataset[name] = of("strip").dataset[name];
  for (const kept of [".strip-text", ".strip-steps"]) {
    strip.querySelector(kept).replaceWith(next.querySelector(kept));
  }
  turn(next);
  hang(exhibition);
  place(swap);
  tell();
}

// hang replaces what stands around the frame, which must not move, because a frame that moves loads again.
function hang(exhibition) {
  const old = part("case");
  const fresh = exhibition.querySelector('[data-part="case"]');
  fresh?.replaceChildren(); // place swaps the frame
  if (!old || !fresh) return part("exhibition").replaceChildren(...exhibition.childNodes);
  Object.assign(old.dataset, fresh.dataset);
  const around = [...exhibition.childNodes];
  const middle = around.indexOf(fresh);
  for (const node of [...old.parentNode.childNodes]) if (node !== old) node.remove();
  old.before(...around.slice(0, middle));
  old.after(...around.slice(middle + 1));
}

function close() {
  stop();
  empty();
  for (const name of ["placard", "drawer", "feedback", "strip", "exhibition"]) part(name).hidden = true;
  part("closed").hidden = false;
  document.title = `${part("closed").querySelector("h1").textContent} | ${document.querySelector("main").dataset.site}`;
}

const field = (name) => strip.querySelector(`[data-field="${name}"]`);

place(adopt);
if (!follows) part("follow")?.removeAttribute("aria-current");
await loaded();
const [{ stop, watch }, { heard, turn }] = await Promise.all([
  import("./live.js"),
  import("./feedback.js"),
  import("./panel.js"),
  import("./since.js"),
]);
tell();
if (strip?.dataset.newest) {
  watch({
    ask: (signal) =>
      fetch(`/api/live/artifacts/${strip.dataset.artifact}?revision_id=${strip.dataset.newest}`, {
        cache: "no-store",
        redirect: "error",
        signal,
      }),
    news: async ({ pointer }) => {
      if (follows) {
        await renew();
        field("announcement").textContent = `Updated to revision ${pointer.number}`;
      } else {
        strip.dataset.newest = pointer.revision_id;
        field("newer").textContent = `Revision ${pointer.number} is available.`;
        field("newer").hidden = false;
      }
    },
    close,
    // A newer revision that is put on show brings the threads along.
    answered: ({ status, headers }) => (status === 204 || !follows) && heard(headers.get("Vitrine-Feedback")),
  });
}
