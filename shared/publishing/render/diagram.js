// Draws the diagrams of a page. Each becomes an image, because an image runs nothing, loads nothing and leads nowhere.
const main = document.querySelector("main");
const figures = [...document.querySelectorAll("figure.v-diagram")].slice(0, 50);
const dark = matchMedia("(prefers-color-scheme: dark)");

function say(figure, text) {
  const line = document.createElement("p");
  line.className = "v-about";
  line.textContent = text;
  figure.prepend(line);
}

// picture makes an image of the markup that the program drew.
async function picture(markup) {
  const drawing = new DOMParser().parseFromString(markup, "text/html").querySelector("svg");
  const [width, height] = drawing.getAttribute("viewBox").split(/[ ,]+/).slice(2).map((n) => Math.ceil(Number(n)));
  drawing.setAttribute("width", width);
  drawing.setAttribute("height", height);
  const image = new Image(width, height);
  const told = [...drawing.querySelectorAll(":scope > title, :scope > desc")].map((e) => e.textContent.trim());
  image.alt = told.filter(Boolean).join(". ") || "Diagram";
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(new XMLSerializer().serializeToString(drawing));
  await image.decode();
  return image;
}

// offer lets a reader see a drawing in its own size that the page shows smaller than can be read.
function offer(figure, image) {
  if (image.clientWidth > image.naturalWidth * 0.7) return;
  const button = document.createElement("button");
  button.className = "v-size";
  button.textContent = "Full size";
  button.onclick = () => button.setAttribute("aria-pressed", figure.classList.toggle("v-full"));
  button.setAttribute("aria-pressed", false);
  image.after(button);
}

async function draw(mermaid) {
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: "strict",
    layout: "dagre", // the other one is not served; secure are the settings that a diagram cannot change
    secure: ["secure", "securityLevel", "startOnLoad", "maxTextSize", "maxEdges", "suppressErrorRendering", "layout"],
    suppressErrorRendering: true,
    htmlLabels: false,
    flowchart: { htmlLabels: false },
    fontFamily: "system-ui, sans-serif",
    theme: dark.matches ? "dark" : "default",
    maxTextSize: 50000,
    maxEdges: 500,
  });
  const end = performance.now() + 10000;
  for (const [n, figure] of figures.entries()) {
    figure.querySelectorAll(":scope > img, :scope > button, :scope > .v-about").forEach((e) => e.remove());
    figure.classList.remove("v-full");
    const source = figure.querySelector("details");
    try {
      if (performance.now() > end) throw new Error("the diagrams before it took too long");
      const { svg } = await mermaid.render("diagram-" + n, figure.querySelector("code").textContent);
      const image = await picture(svg);
      figure.prepend(image);
      offer(figure, image);
      source.open = false;
    } catch (e) {
      source.open = true;
      say(figure, "This diagram cannot be drawn: " + String(e.message || e).split("\n")[0].slice(0, 200));
    }
    await new Promise((next) => setTimeout(next));
  }
  main.dataset.drawn = dark.matches ? "dark" : "light";
}

try {
  const { default: mermaid } = await import(main.dataset.program);
  let drawing = draw(mermaid);
  dark.addEventListener("change", () => (drawing = drawing.then(() => draw(mermaid))));
} catch {
  for (const figure of figures) say(figure, "This diagram is not drawn, because the program that draws it did not load.");
}
