// Keeps a click that began on another page from deciding something on this one: a site can bring this page up between the
// two clicks of a double click. A decision takes no click before people had time to see what it is about, and none of a
// mouse that was not moved over the page. Without this script the forms work at once.
//
// It is no module, because the browser waits for it before it shows the forms.

{
  const delay = 700; // ms
  const buttons = "form[data-decision] [type=submit]";
  let shown, moved;

  const ready = () => performance.now() - shown >= delay;

  function mark() {
    const waits = !ready();
    for (const button of document.querySelectorAll(buttons)) {
      if (waits) button.setAttribute("aria-disabled", "true");
      else button.removeAttribute("aria-disabled");
    }
    if (waits) setTimeout(mark, delay);
  }

  function show() {
    shown = performance.now();
    moved = false;
    mark();
  }

  // A page that was behind a window of another site was not seen, even if the browser called it visible.
  for (const event of ["pageshow", "focus"]) addEventListener(event, show);
  for (const event of ["readystatechange", "visibilitychange"]) document.addEventListener(event, show);
  addEventListener("pointermove", () => { moved = true; });
  addEventListener("pointerdown", (event) => { moved ||= event.pointerType === "touch"; });

  // Keys and assistive technology click as well; their clicks have no detail and no pointer that could be steered.
  addEventListener("click", (event) => {
    if (event.target.closest(buttons) && !(ready() && (moved || !event.detail))) event.preventDefault();
  }, true);

  show();
}
