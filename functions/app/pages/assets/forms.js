// Makes forms harmless to impatient fingers, and copies what is shown once. Every page works without it.

// A form that was stopped on its way may be sent again after a while: what it does is done once, however often it comes.
const patience = 3000;

for (const form of document.forms) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) return event.preventDefault();
    form.dataset.sent = "yes";
    setTimeout(() => delete form.dataset.sent, patience);
  });
}

// A page that comes back from the history may send its form again.
addEventListener("pageshow", (event) => {
  if (event.persisted) for (const form of document.forms) delete form.dataset.sent;
});

for (const button of document.querySelectorAll("[data-copies]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const said = document.querySelector('[data-part="copied"]');
    try {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copies).textContent);
      said.textContent = "Copied.";
    } catch {
      said.textContent = "The browser does not let this page copy: select the text and copy it yourself.";
    }
  });
}
