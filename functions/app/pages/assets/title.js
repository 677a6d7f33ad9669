// Finds what a page calls itself, as the command line does.

const most = 256 * 1024; // bytes of a file that are read
const runes = 160; // of a title

// titleOf returns the title that a file has for its artifact, empty for none.
export async function titleOf(path, file) {
  const text = await file.slice(0, most).text();
  let found = "";
  if (/\.html?$/i.test(path)) found = new DOMParser().parseFromString(text, "text/html").title;
  else if (/\.(md|markdown)$/i.test(path)) found = firstHeading(text);
  const line = found.replace(/[\uFFFD\p{Cf}\p{Co}\p{Cs}]/gu, "").replace(/[\s\p{Cc}]+/gu, " ").trim();
  return Array.from(line).slice(0, runes).join("").trim();
}

const field = /^title:[ \t]+(?:"([^"\\]+)"|'([^']+)'|([^"'>|&*!\[{#%@`][^#]*))[ \t]*(?:#.*)?$/;
const heading = /^ {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$/;
const underline = /^ {0,3}(?:=+|-+)[ \t]*$/;
const fenced = /^ {0,3}(`{3,}|~{3,})/;

// firstHeading returns the title of a markdown file.
function firstHeading(text) {
  const lines = text.split(/\r?\n/);
  const end = /^---[ \t]*$/.test(lines[0]) ? lines.findIndex((line, n) => n > 0 && /^---[ \t]*$/.test(line)) : -1;
  for (const line of lines.slice(1, Math.max(end, 1))) {
    const found = line.match(field);
    if (found) return found[1] ?? found[2] ?? found[3];
  }
  let fence = "";
  let last = "";
  for (const line of lines.slice(end + 1)) {
    const mark = line.match(fenced)?.[1];
    if (fence) {
      if (mark?.startsWith(fence) && !line.trim().replaceAll(fence[0], "")) fence = "";
      continue;
    }
    if (mark) {
      fence = mark;
      last = "";
      continue;
    }
    const found = plain(line.match(heading)?.[1] ?? (underline.test(line) ? last : ""));
    if (found) return found;
    last = line;
  }
  return "";
}

// plain returns a heading without its markup.
function plain(text) {
  const bare = text.replace(/!\[[^\]]*\]\([^)]*\)/g, "").replace(/\[([^\]]+)\](?:\([^)]*\)|\[[^\]]*\])/g, "$1")
    .replace(/<[^<>]+>/g, "").replace(/\*\*|__|\*|`/g, "");
  return new DOMParser().parseFromString(bare.replaceAll("<", "&lt;"), "text/html").body.textContent.trim();
}
