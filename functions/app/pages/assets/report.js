// Sends no more of a pasted address than names what is reported, and solves the challenge of a page that asks for one.
// Without it the form works too; a page with a challenge says then when to try again.

import { solve } from "./pow.js";

const form = document.querySelector('[data-part="report"]');

// What follows the # opens a link, and a report does not need it.
form.addEventListener("submit", () => {
  const field = form.elements.target;
  field.value = field.value.split("#")[0].trim();
});

if (form.elements.challenge) {
  const button = form.querySelector("[type=submit]");
  button.disabled = true;
  document.querySelector('[data-part="work"]').hidden = false;
  form.elements.counter.value = await solve(JSON.parse(form.elements.challenge.value));
  button.disabled = false;
  form.requestSubmit();
}
