// Decides which of the chosen files are published and which opens first, by the rules of the command line.

import { excluder, read } from "./ignore.js";

const glob = (pattern) =>
  new RegExp(`^${pattern.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", "[^/]*")}$`, "u");
const split = (patterns) => patterns.map((pattern) => pattern.split("/").map(glob));
const endsIn = (parts, pattern) =>
  parts.length >= pattern.length && pattern.every((part, i) => part.test(parts.at(i - pattern.length)));

// Judge says of paths whether they are published, noise or secret.
export class Judge {
  constructor({ noise, folders, files, backups, entrypoints }) {
    Object.assign(this, { noise, backups, entrypoints, folders: split(folders), files: split(files) });
  }

  isNoise(name) {
    return this.noise.includes(name.toLowerCase());
  }

  // kind judges a path whose first parts, up to below, are only the way to what was chosen.
  kind(path, below = 0) {
    const parts = path.toLowerCase().split("/");
    if (parts.slice(below).some((part) => this.noise.includes(part))) return "noise";
    const above = (end) => parts.slice(0, end + 1);
    if (parts.some((_, i) => i < parts.length - 1 && this.folders.some((p) => endsIn(above(i), p)))) return "secret";
    return parts.some((_, i) => i >= below && this.isSecret(above(i))) ? "secret" : "published";
  }

  isSecret(parts) {
    return this.originals(parts.at(-1)).some((name) => {
      const named = [...parts.slice(0, -1), name];
      return this.files.some((pattern) => endsIn(named, pattern));
    });
  }

  // originals returns a name and those of the files that it may be a backup copy of.
  originals(name) {
    const names = [name];
    if (/^#.+#$/s.test(name)) names.push(name.slice(1, -1)); // Emacs
    if (name.startsWith(".#")) names.push(name.slice(2));
    for (const end of this.backups.filter((end) => name.endsWith(end))) {
      const inner = name.slice(0, -end.length);
      names.push(inner, inner.replace(/^\./, "")); // Vim adds a dot
    }
    return names;
  }
}

// choose returns the files to publish, by path, the one that opens first, what is left out, and what there is to say of
// that. A folder that holds all of them is not part of their paths.
export async function choose(chosen, judge) {
  const tops = new Set(chosen.map(({ path }) => path.slice(0, path.indexOf("/") + 1)));
  const root = tops.size === 1 ? [...tops][0] : "";
  const judged = chosen.map(({ path, file }) => ({
    path: path.slice(root.length) || path,
    file,
    kind: file ? judge.kind(path, root ? 1 : 0) : "noise",
  }));
  const sources = judged.filter(({ path }) => !path.split("/").slice(0, -1).some((part) => judge.isNoise(part)));
  const lists = [await read(".artifactignore", sources), await read(".gitignore", sources)];
  let choice = divide(judged, judge, lists);
  if (!choice.first) {
    // What git ignores may be what is meant, such as the output of a build.
    const all = divide(judged, judge, lists.slice(0, 1));
    if (all.files.length > choice.files.length && (all.first || !choice.files.length)) {
      const note = `.gitignore was not applied, because it excludes ${all.first ? `“${all.first}”` : "all files"}.`;
      choice = { ...all, note };
    }
  }
  const title = root.slice(0, -1) || (choice.files.length === 1 ? choice.files[0].path : "Files");
  return { note: "", ...choice, title: Array.from(title).slice(0, 160).join("") };
}

// divide divides files by what is published and what is left out.
function divide(judged, judge, lists) {
  const excluded = excluder(lists);
  const files = [];
  const left = new Map();
  for (const { path, file, kind } of judged) {
    const ignored = kind !== "noise" && excluded(path);
    if (kind === "noise") left.set(noisy(path, judge), "not part of what is published");
    else if (ignored) left.set(ignored.path, `excluded by ${ignored.by}`);
    else if (kind === "secret") left.set(path, "may contain a secret");
    else files.push({ path, file });
  }
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  const names = new Set(files.map(({ path }) => path));
  const first = judge.entrypoints.find((name) => names.has(name)) ?? (names.size === 1 ? files[0].path : "");
  return { files, left, first };
}

// noisy cuts a path after the part that is noise.
function noisy(path, judge) {
  const parts = path.split("/");
  const at = parts.findIndex((part) => judge.isNoise(part));
  return at < 0 || at === parts.length - 1 ? path : `${parts.slice(0, at + 1).join("/")}/`;
}

const number = new Intl.NumberFormat("en");
export const sum = (files) => files.reduce((all, { file }) => all + file.size, 0);
export const total = (files) => `${files.length === 1 ? "1 file" : `${number.format(files.length)} files`}, ${bytes(sum(files))}`;

export function bytes(n) {
  if (n < 1000) return n === 1 ? "1 byte" : `${n} bytes`;
  const units = ["kB", "MB", "GB"];
  let value = n / 1000;
  for (; value >= 999.5 && units.length > 1; value /= 1000) units.shift();
  return `${value >= 10 ? value.toFixed(0) : value.toFixed(1).replace(/\.0$/, "")} ${units[0]}`;
}

// passed says which limit the files pass, empty for none.
export function passed(files, limits) {
  if (!files.length) return "There is nothing to publish: no files were chosen, or all of them are left out.";
  if (limits.left === 0) {
    return "The workspace has published its new artifacts for today. The next day begins at midnight UTC.";
  }
  if (files.length > limits.files) {
    return `There are ${number.format(files.length)} files; an artifact may have ${number.format(limits.files)}.`;
  }
  const large = files.find(({ file }) => file.size > limits.file_bytes);
  if (large) {
    return `“${large.path}” has ${number.format(large.file.size)} bytes; a file may have ${number.format(limits.file_bytes)}.`;
  }
  const all = sum(files);
  if (all > limits.artifact_bytes) {
    return `The files have ${number.format(all)} bytes; an artifact may have ${number.format(limits.artifact_bytes)}.`;
  }
  return "";
}

// dropped returns the files that were dropped, with those in folders.
export async function dropped(data, judge) {
  const entries = Array.from(data.items, (item) => item.webkitGetAsEntry?.()).filter(Boolean);
  const chosen = [];
  for (const entry of entries) await walk(entry, judge, chosen);
  return entries.length ? chosen : picked(data.files);
}

async function walk(entry, judge, chosen) {
  const path = entry.fullPath.replace(/^\//, "");
  if (entry.isFile) {
    chosen.push({ path, file: await new Promise((done, failed) => entry.file(done, failed)) });
  } else if (judge.isNoise(entry.name)) {
    chosen.push({ path: `${path}/` });
  } else {
    const reader = entry.createReader();
    for (let some = [0]; some.length; ) {
      some = await new Promise((done, failed) => reader.readEntries(done, failed)); // a hundred at a time
      for (const one of some) await walk(one, judge, chosen);
    }
  }
}

// picked returns the files of an input, or of a clipboard.
export const picked = (files) => Array.from(files, (file) => ({ path: file.webkitRelativePath || file.name, file }));

// pasted returns what the clipboard holds as files, and a title; undefined if it holds nothing of use.
export function pasted(data) {
  if (data.files.length) return { chosen: picked(data.files), title: "Pasted image" };
  const text = data.getData("text/plain");
  if (!text.trim()) return undefined;
  let name = /^#{1,6} /m.test(text) ? "index.md" : "content.txt";
  if (/^\s*(<!doctype html|<html)/i.test(text)) name = "index.html";
  return { chosen: [{ path: name, file: new File([text], name) }], title: "Pasted text" };
}
