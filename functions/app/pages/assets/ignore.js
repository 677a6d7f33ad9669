// Says which paths .artifactignore and .gitignore exclude. It reads patterns as the command line does, which differs
// from git: "[!a]" negates nothing, and "**/" stops at the first folder that matches.

const maxBytes = 1 << 20; // that are read of such a file

const char = String.raw`(?:\\[^]|[^\\\]-])`;
const ranges = new RegExp(`(${char})(?:-(${char}))?`, "gu");
const piece = new RegExp(String.raw`\\([^])|\[(\^|(?!\^))((?:${char}(?:-${char})?)+)\]|[^\\[]`, "gu");
const code = (c) => Array.from(c).at(-1).codePointAt(0); // of a character that may be escaped
const literal = (n) => `\\u{${n.toString(16)}}`;

// named returns the expression of the names that one part of a pattern matches: none if it is malformed.
function named(part) {
  const source = part.replace(piece, (all, escaped, not, set) => {
    if (set) {
      const range = (from, to) => (from > to ? "" : `${literal(from)}-${literal(to)}`);
      return `[${not}${set.replace(ranges, (_, low, high = low) => range(code(low), code(high)))}]`;
    }
    return { "*": "[^]*", "?": "[^]" }[all] ?? literal(code(escaped ?? all));
  });
  return part.replace(piece, "") ? /[]/ : new RegExp(`^${source}$`, "u");
}

class Pattern {
  // folder has the parts of the path of the folder that the pattern is for.
  constructor(line, folder) {
    this.folder = folder;
    this.includes = line.startsWith("!");
    let text = this.includes ? line.slice(1) : line;
    if (!text.endsWith("\\ ")) text = text.replace(/ +$/, "");
    this.foldersOnly = text.endsWith("/");
    if (this.foldersOnly) text = text.slice(0, -1);
    this.parts = text.split("/");
    this.names = this.parts.map(named);
  }

  matches(path, isFolder) {
    if (path.length <= this.folder.length || this.folder.some((part, i) => part !== path[i])) return false;
    let rest = path.slice(this.folder.length);
    let anywhere = this.parts.length === 1;
    let matched = false;
    for (const [i, part] of this.parts.entries()) {
      if (this.parts.length > 1 && part.includes("**")) {
        if (part !== "**") return false;
        anywhere = true; // at the end it says nothing
      } else if (this.parts.length > 1 && !part) {
        anywhere = false;
      } else {
        const at = (anywhere ? rest : rest.slice(0, 1)).findIndex((name) => this.names[i].test(name));
        if (at < 0) return false;
        rest = rest.slice(at + 1);
        anywhere = false;
        matched = true;
      }
    }
    return matched && (isFolder || !this.foldersOnly || rest.length > 0);
  }
}

// read returns the patterns of all files with a name, those of deeper folders last, because the last match counts.
export async function read(name, files) {
  const depth = ({ path }) => path.split("/").length;
  const found = files.filter(({ path, file }) => file && `/${path}`.endsWith(`/${name}`));
  const texts = await Promise.all(found.sort((a, b) => depth(a) - depth(b)).map(async ({ path, file }) => {
    const lines = (await file.slice(0, maxBytes).text()).split("\n").map((line) => line.replace(/\r+$/, ""));
    const used = lines.filter((line) => line.trim() && !line.startsWith("#"));
    return used.map((line) => new Pattern(line, path.split("/").slice(0, -1)));
  }));
  return { name, patterns: texts.flat() };
}

// excluder returns a function that says of the path of a file which folder or file is excluded, and by which of the
// lists, of which the first that matches counts.
export function excluder(lists) {
  const known = new Map();
  const by = (parts, isFolder) => {
    for (const { name, patterns } of lists) {
      const last = patterns.findLast((pattern) => pattern.matches(parts, isFolder));
      if (last) return last.includes ? "" : name;
    }
    return "";
  };
  return (path) => {
    const parts = path.split("/");
    for (const i of parts.keys()) {
      const isFolder = i < parts.length - 1;
      const at = parts.slice(0, i + 1).join("/") + (isFolder ? "/" : "");
      if (!known.has(at)) known.set(at, by(parts.slice(0, i + 1), isFolder));
      if (known.get(at)) return { path: at, by: known.get(at) };
    }
    return undefined;
  };
}
