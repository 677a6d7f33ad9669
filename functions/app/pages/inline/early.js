// Keeps what the frame tells before exhibit.js hears it.
const early = { told: [], hear: (event) => early.told.push(event) };
addEventListener("message", early.hear);
