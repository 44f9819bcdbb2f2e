"use strict";
const root = document.documentElement;
const at = (id) => document.getElementById(id);
const tell = (text) => { at("status").textContent = text; };
const rows = JSON.parse(at("rows").textContent);
const store = `assay-${root.dataset.page}-${root.dataset.sheet}`;

function readKept() {
  try {
    const kept = JSON.parse(localStorage.getItem(store) || "{}");
    return kept && typeof kept === "object" ? kept : {};
  } catch { return {}; }
}

// Without a prototype: an id such as __proto__ or constructor is a name like any other.
function readSaid() {
  return Object.assign(Object.create(null), readKept().said);
}

// Only one answer changes at a time: what another tab wrote of the others stays.
function keepAnswer(id, answer, person) {
  try {
    const said = { ...readKept().said, [id]: answer };
    localStorage.setItem(store, JSON.stringify({ said, person }));
    return true;
  } catch { return false; }
}

function onOtherTab(update) {
  window.addEventListener("storage", (event) => { if (event.key === store) update(); });
}

function keepPerson(person) {
  try { localStorage.setItem(store, JSON.stringify({ ...readKept(), person })); } catch { /* saved with the next answer */ }
}

// The place of the next item that is not done, after another one and from the start again; -1 where all are.
function findOpen(items, place, isDone) {
  for (let step = 1; step <= items.length; step += 1) {
    const other = (place + step) % items.length;
    if (!isDone(items[other])) return other;
  }
  return -1;
}

// The name in a field; without one the person is asked for it, and nothing is saved.
function readName(field, words) {
  const name = at(field).value.trim();
  if (!name) {
    tell(words.named);
    at(field).focus();
  }
  return name;
}

function textBlock(text, marks = []) {
  const block = document.createElement("p");
  block.className = "text";
  block.dir = "auto";
  let end = 0;
  for (const [from, to] of marks) {
    const mark = document.createElement("mark");
    mark.textContent = text.slice(from, to);
    block.append(text.slice(end, from), mark);
    end = to;
  }
  block.append(text.slice(end));
  return block;
}

function part(title, blocks, name) {
  if (!blocks.length) return [];
  const section = document.createElement("section");
  section.className = name;
  const heading = document.createElement("h2");
  heading.textContent = title;
  section.append(heading, ...blocks);
  return [section];
}

function saveFile(prefix, person, parts, type, suffix) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(parts, { type }));
  link.download = `${prefix}-${person.replace(/[^\p{L}\p{N}_-]+/gu, "-")}.${suffix}`;
  link.click();
  URL.revokeObjectURL(link.href);
}

function onKeys(handle) {
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.isComposing) return;
    if (["INPUT", "TEXTAREA", "SELECT"].includes(event.target.tagName)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (handle(event.key)) event.preventDefault();
  });
}
