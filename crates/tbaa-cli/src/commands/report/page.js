// Every name on this page comes from an input: it becomes text, never markup.

const documents = JSON.parse(document.getElementById("data").textContent);
const SHOWN = 100;
// Loads that are open at the start, and how many are listed.
const OPENED = 3;
const LOADS = 20;
let doc;
let chosen = [0, 0];
let rule = 0;

const byId = (id) => document.getElementById(id);

/** A name without what would not be seen, or would reorder a line. */
function show(text) {
  return String(text).replace(
    /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    (c) => "\\u{" + c.codePointAt(0).toString(16) + "}",
  );
}

/** An element with attributes and children; texts are shown as they are. */
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined) made.setAttribute(key, value);
  }
  for (const child of children.flat()) {
    if (child === null || child === undefined) continue;
    made.append(child instanceof Node ? child : show(child));
  }
  return made;
}

function fill(id, ...children) {
  byId(id).replaceChildren(...children.flat().filter((child) => child !== null));
}

const number = (value) => value.toLocaleString("en-US");
const counted = (count, one) => `${number(count)} ${one}${count === 1 ? "" : "s"}`;

/** Letters of a square, read from the upper triangle; see `runs.rs`. */
function square(text, side, diagonal) {
  const letters = new Uint8Array(side * side);
  text.split(",").forEach((row, i) => {
    if (i < side) letters[i * side + i] = diagonal;
    let j = i + 1;
    for (const [, letter, length] of row.matchAll(/([A-Z])([0-9a-z]*)/g)) {
      const end = length ? j + parseInt(length, 36) : side;
      for (; j < end && j < side; j++) {
        letters[i * side + j] = letters[j * side + i] = letter.charCodeAt(0);
      }
    }
  });
  return letters;
}

const MAY = "M".charCodeAt(0);

/** What is read from a document once. */
function prepare(doc) {
  if (doc.ready) return doc;
  const { answers, tags } = doc;
  doc.squares = answers.answers.map((text) => square(text, tags.length, MAY));
  doc.reasons = answers.reasons.map((text) => square(text, answers.explained, 0));
  const all = answers.explained === tags.length;
  doc.place = new Map((all ? tags.map((_, at) => at) : answers.explained_tags).map((at, to) => [at, to]));
  doc.compared = new Map();
  for (const found of answers.comparisons) {
    const key = found.a * tags.length + found.b;
    if (!doc.compared.has(key)) doc.compared.set(key, []);
    doc.compared.get(key).push(found);
  }
  doc.byBase = doc.types.map(() => []);
  tags.forEach((tag, at) => {
    if (tag.base !== null) doc.byBase[tag.base].push(at);
  });
  doc.ready = true;
  return doc;
}

const mayAlias = (which, a, b) => doc.squares[which][a * doc.tags.length + b] === MAY;
const answer = (may) => (may ? "MayAlias" : "NoAlias");
const tagText = (at) => doc.tags[at].label === doc.tags[at].meaning
  ? doc.tags[at].label
  : `${doc.tags[at].label} ${doc.tags[at].meaning}`;

/** The clause that decides, where it is known. */
function reason(which, a, b) {
  if (a === b) return "the two tags are the same";
  const [x, y] = [doc.place.get(a), doc.place.get(b)];
  if (x === undefined || y === undefined) return null;
  return doc.answers.clauses[doc.reasons[which][x * doc.answers.explained + y] - 65];
}

// The pair.

function drawPair(a, b) {
  const [first, second] = [Math.min(a, b), Math.max(a, b)];
  const found = (doc.compared.get(first * doc.tags.length + second) || [])[0];
  const sides = [a, b].map((at) => doc.tags[at]);
  if (sides.some((tag) => tag.base === null || tag.access === null)) return [];
  const marks = ["a", "b"];
  const titles = [a, b].map((at, side) => `${marks[side]}: ${tagText(at)}`);
  const lane = (side, spans, note) => ({ title: titles[side], mark: marks[side], spans, note });
  const slot = (side, ends) => {
    const { offset, size } = sides[side];
    const spans = (ends || [[offset, null]]).map(([start, end]) => ({
      start, end: size ? start + size : end, label: "",
    }));
    return lane(side, spans);
  };
  if (found) {
    // The comparison is of the pair in the order of the matrix.
    const turned = a !== found.a;
    const outer = doc.tags[found.from_b ? found.b : found.a].base;
    const [lanes, drawn, marked] = [[], new Set(), []];
    [0, 1].forEach((which) => {
      const side = turned ? 1 - which : which;
      const ends = follow(lanes, drawn, outer, found.steps[which], true);
      if (found.bytes[which]) {
        const { spans, note } = footprint(found.bytes[which]);
        marked[side] = lane(side, spans, note);
      } else {
        marked[side] = slot(side, ends);
      }
    });
    return [
      element("h3", {}, `Bytes of ${typeName(outer)}`),
      drawing([...lanes, ...marked]),
      found.apart ? element("p", {}, found.apart) : null,
    ];
  }
  const ways = sides.map(way);
  const one = (list) => {
    const [lanes, drawn] = [[], new Set()];
    const ends = list.map((side) => (ways[side] ? follow(lanes, drawn, sides[side].base, ways[side], false) : null));
    if (!lanes.length) lanes.push(...level(sides[list[0]].base, [[0, null]]));
    return [
      element("h3", {}, `Bytes of ${typeName(sides[list[0]].base)}`),
      drawing([...lanes, ...list.map((side, at) => slot(side, ends[at]))]),
    ];
  };
  return sides[0].base === sides[1].base ? one([0, 1]) : [...one([0]), ...one([1])];
}

function explain() {
  const [a, b] = chosen;
  if (!doc.tags.length) return fill("explanation", element("p", {}, "There are no tags."));
  const rows = doc.answers.rules.map((name, which) => {
    const said = answer(mayAlias(which, a, b));
    const why = reason(which, a, b);
    return element("tr", {},
      element("th", { scope: "row" }, name),
      element("td", { class: `answer ${said}` }, said),
      element("td", {}, why || "not on this page; the command says why"));
  });
  const rejected = [a, b]
    .filter((at, place, list) => doc.tags[at].rejected && list.indexOf(at) === place)
    .map((at) => element("p", { class: "note" }, `LLVM rejects ${tagText(at)}: ${doc.tags[at].rejected}.`));
  const quote = (text) => (/^[\w./+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  const command = ["tbaa explain", ...[doc.file.replace(/ as assembly$/, ""), doc.tags[a].label, doc.tags[b].label].map(quote)].join(" ");
  fill("explanation",
    element("div", { class: "scroll" }, element("table", {},
      element("thead", {}, element("tr", {}, ["Rule", "Answer", "Because"].map((text) => element("th", { scope: "col" }, text)))),
      element("tbody", {}, rows))),
    rejected,
    drawPair(a, b),
    element("p", { class: "muted" }, "On the command line: ", element("code", {}, command)));
}

/** Chooses a tag for one side. */
function choose(side, at) {
  chosen[side] = at;
  byId(side ? "tag-b" : "tag-a").value = show(tagText(at));
  explain();
}

function choosePair(a, b) {
  choose(0, a);
  choose(1, b);
  drawMatrix();
  byId("pair").scrollIntoView();
  byId("tag-a").focus({ preventScroll: true });
}

/** A tag that was typed: exactly, by its number, or by a part of its words. */
function typed(side) {
  const text = byId(side ? "tag-b" : "tag-a").value.trim();
  if (!text) return;
  const exact = doc.tags.findIndex((tag, at) => show(tagText(at)) === text || tag.label === text || tag.label === "!" + text);
  const at = exact >= 0 ? exact : doc.tags.findIndex((_, at) => tagText(at).toLowerCase().includes(text.toLowerCase()));
  if (at >= 0) choose(side, at);
  else fill("explanation", element("p", {}, `No tag is called ${text}.`));
  drawMatrix();
}

// Types.

function tagItem(at) {
  const tag = doc.tags[at];
  const button = (side) => element("button", {
    type: "button",
    "aria-label": `Compare ${show(tagText(at))} as the ${side ? "second" : "first"}`,
    onclick: () => { choose(side, at); drawMatrix(); byId("pair").scrollIntoView(); },
  }, side ? "second" : "first");
  return element("li", {}, button(0), button(1), element("span", { class: "mono" }, tagText(at)),
    element("span", { class: "muted" }, tag.uses ? counted(tag.uses, "use") : null));
}

function typeBody(at) {
  const type = doc.types[at];
  const parts = [];
  if (type.parent !== null) parts.push(element("p", {}, "Under ", element("code", {}, typeName(type.parent)), "."));
  if (type.fields.length) parts.push(drawing(level(at, [[0, type.size]]), true));
  if (type.picture) {
    parts.push(element("h3", {}, "What is in it, and what it is in"));
    // As an image a picture can neither run scripts nor load anything.
    const src = "data:image/svg+xml," + encodeURIComponent(type.picture);
    const alt = `Graph of ${typeName(at)}, the types of its fields, and the structs that have it`;
    parts.push(element("div", { class: "scroll near", tabindex: "0", role: "region", "aria-label": alt }, element("img", { src, alt })));
  }
  const tags = doc.byBase[at];
  if (tags.length) {
    parts.push(element("h3", {}, `Accesses through it (${tags.length})`));
    parts.push(element("ul", { class: "tags" }, tags.slice(0, SHOWN).map(tagItem)));
  }
  return parts;
}

function typeItem(at) {
  const type = doc.types[at];
  const facts = [type.kind];
  if (type.size) facts.push(counted(type.size, "byte"));
  if (type.fields.length) facts.push(counted(type.fields.length, "field"));
  if (doc.byBase[at].length) facts.push(counted(doc.byBase[at].length, "tag"));
  const body = element("div", {});
  const item = element("details", {}, element("summary", {}, element("span", { class: "mono" }, type.name), " ",
    element("span", { class: "muted" }, facts.join(", "))), body);
  // Drawn when it is opened: there may be thousands.
  item.addEventListener("toggle", () => {
    if (item.open && !body.firstChild) body.append(...typeBody(at));
  });
  return item;
}

/** Lists what matches a search, and says how much of it is shown. */
function list(search, count, all, text, show, rank, most = SHOWN) {
  const wanted = byId(search).value.trim().toLowerCase();
  const found = all.map((_, at) => at).filter((at) => !wanted || text(all[at]).toLowerCase().includes(wanted));
  if (rank) found.sort((x, y) => rank(all[x], wanted) - rank(all[y], wanted) || x - y);
  byId(count).textContent = found.length > most
    ? `${number(found.length)} found, the first ${most} shown`
    : `${number(found.length)} found`;
  show(found.slice(0, most));
}

function listTypes() {
  const text = (type) => type.name + " " + type.fields.map((field) => field[3]).join(" ");
  // The type of that name first, then those that have a picture, or else fields.
  const rank = (type, wanted) => (type.name.toLowerCase() === wanted ? 0 : type.picture ? 1 : type.fields.length ? 2 : 3);
  list("type-search", "type-count", doc.types, text, (found) => fill("type-list", found.map(typeItem)), rank);
}

// Findings, functions, rules.

function findingItem(at) {
  const found = doc.findings[at];
  const place = found.line === null ? doc.file : `${doc.file}:${found.line}`;
  const [before, marked, after] = found.text || [];
  return element("div", { class: `finding ${found.level}` },
    element("p", {}, element("span", { class: "level" }, found.level), " ", element("code", {}, found.code), " ", found.message),
    element("p", { class: "muted mono" }, place),
    found.text ? element("pre", { tabindex: "0" }, before, element("mark", {}, marked), after) : null,
    found.notes.map((note) => element("p", {}, note)),
    found.help ? element("p", {}, element("strong", {}, "Do: "), found.help) : null);
}

function listFindings() {
  const text = (found) => [found.code, found.level, found.message, found.line].join(" ");
  list("finding-search", "finding-count", doc.findings, text, (found) =>
    fill("finding-list", found.length ? found.map(findingItem) : element("p", {}, "Nothing found.")));
}

function listFunctions() {
  const cell = (value) => element("td", { class: "number" }, number(value));
  const share = (part, whole) => element("td", { class: "number" }, whole && part !== null ? ((part / whole) * 100).toFixed(1) + " %" : "-");
  const head = (text, at) => element("th", { scope: "col", class: at ? "number" : null }, text);
  const titles = ["Function", "Line", "Tagged", "Untagged", "Pairs", ...doc.answers.rules.map((rule) => `NoAlias, ${rule}`)];
  list("function-search", "function-count", doc.functions, (it) => it.name, (found) =>
    fill("function-table",
      element("thead", {}, element("tr", {}, titles.map(head))),
      element("tbody", {}, found.map((at) => {
        const it = doc.functions[at];
        return element("tr", {}, element("th", { scope: "row", class: "mono" }, it.name),
          cell(it.line), cell(it.tagged), cell(it.untagged), cell(it.pairs), (it.apart || [null, null, null]).map((part) => share(part, it.pairs)));
      }))));
}

/** The program's own lines, with what each reloads and blocks. */
function sourceLines(lines) {
  const mark = (line) => (line.reloads ? "reloads" : line.blocks ? "blocks" : "");
  const row = (line, at) => [
    at && (lines[at - 1].file !== line.file || lines[at - 1].line + 1 < line.line)
      ? element("tr", {}, element("td", { colspan: "3", class: "muted" }, "…")) : null,
    element("tr", { class: mark(line) },
      element("td", { class: "number muted" }, at && lines[at - 1].file === line.file ? String(line.line) : `${line.file}:${line.line}`),
      element("td", { class: "what" }, mark(line)),
      element("td", { class: "text" }, line.text)),
  ];
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Source" },
    element("table", { class: "source" }, element("tbody", {}, lines.map(row).flat())));
}

function loadItem(at) {
  const row = doc.loads[at];
  const place = (it) => [it.access, it.what, it.source].filter((part) => part).join(", ");
  const item = (it) => element("li", {}, element("span", { class: "mono" }, place(it)), it.why);
  const helps = [...new Set(row.blockers.map((it) => it.help).filter(Boolean))];
  const loops = row.depth ? `in ${counted(row.depth, "loop")}` : "in no loop";
  const heat = row.heat ? `, ${row.heat.words}` : "";
  const could = row.of.length
    ? ["LLVM could reuse the value of ", element("span", { class: "mono" }, row.of.map(place).join("; ")), ". These may change it:"]
    : row.could === "sink"
      ? [`LLVM could store it once, after the loop${row.loop ? ` at ${row.loop}` : ""}. These may use that memory:`]
      : [`LLVM could load it once, before the loop${row.loop ? ` at ${row.loop}` : ""}. These may change it:`];
  return element("details", { open: at < OPENED ? "" : null },
    element("summary", {}, element("span", { class: "mono" }, place(row.load)), " ",
      element("span", { class: "muted" }, loops + heat)),
    element("div", {},
      row.lines && row.lines.length ? sourceLines(row.lines) : null,
      element("p", {}, could),
      element("ul", { class: "tags" }, row.blockers.map(item)),
      row.more ? element("p", { class: "muted" }, `and ${number(row.more)} more`) : null,
      helps.map((help) => element("p", {}, element("strong", {}, "Do: "), help))));
}

function listLoads() {
  const text = (row) => [row.function, row.load.what, row.load.source].join(" ");
  list("load-search", "load-count", doc.loads, text, (found) => fill("load-list", found.map(loadItem)), null, LOADS);
}

const PROMISES = [
  "what LLVM 22 answers, right or wrong",
  "NoAlias only where no byte is shared by any path through the types",
  "the same, but a union's member does not alias a pointer to another member's type",
];

function rulesSection() {
  const { rules, may_alias, pairs, differ, differing } = doc.answers;
  const head = ["Rule", "Promise", "MayAlias", "NoAlias"];
  fill("rule-table",
    element("thead", {}, element("tr", {}, head.map((text, at) => element("th", { scope: "col", class: at > 1 ? "number" : null }, text)))),
    element("tbody", {}, rules.map((name, at) => element("tr", {}, element("th", { scope: "row" }, name),
      element("td", {}, PROMISES[at]),
      element("td", { class: "number" }, number(may_alias[at])),
      element("td", { class: "number" }, number(pairs - may_alias[at]))))));
  const items = differing.map(([a, b]) => element("li", {},
    element("button", { type: "button", onclick: () => choosePair(a, b) }, "explain"),
    element("span", { class: "mono" }, `${tagText(a)} and ${tagText(b)}`),
    rules.map((name, which) => {
      const said = answer(mayAlias(which, a, b));
      return element("span", {}, `${name} `, element("span", { class: `answer ${said}` }, said));
    })));
  fill("differing",
    element("h3", {}, differ ? `${number(differ)} pairs on which they differ` : "They agree on all pairs"),
    differ > differing.length ? element("p", { class: "muted" }, `The first ${differing.length} are listed.`) : null,
    element("ul", { class: "tags" }, items));
}

function summarySection() {
  byId("file").textContent = show(doc.file);
  fill("figures", doc.summary.map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, value))));
  fill("left-out", doc.left_out.length
    ? element("div", { class: "note" }, element("strong", {}, "Left out to keep this page small"),
        element("ul", {}, doc.left_out.map((text) => element("li", {}, text))))
    : null);
}

/** Shows one of the inputs. */
function open(at) {
  doc = prepare(documents[at]);
  cursor = null;
  rule = 0;
  fill("tag-list", doc.tags.map((_, tag) => element("option", { value: show(tagText(tag)) })));
  summarySection();
  for (const [id, some] of [["functions", doc.functions.length], ["loads", doc.loads.length]]) {
    byId(id).hidden = !some;
    document.querySelector(`nav a[href="#${id}"]`).hidden = !some;
  }
  for (const id of ["type-search", "finding-search", "function-search", "load-search"]) byId(id).value = "";
  if (doc.tags.length) {
    // The first to be seen: a load and what blocks it, or else the two that are most used.
    const used = doc.tags.map((_, tag) => tag).sort((x, y) => doc.tags[y].uses - doc.tags[x].uses || x - y);
    const tagged = (label) => doc.tags.findIndex((tag) => label && tag.label === label);
    const pairs = doc.loads.flatMap((row) => row.blockers.map((it) => [tagged(row.load.tag), tagged(it.tag)]));
    const first = pairs.find(([x, y]) => x >= 0 && y >= 0 && x !== y) || [used[0], used[1] ?? used[0]];
    choose(0, first[0]);
    choose(1, first[1]);
  } else {
    explain();
  }
  matrixSection();
  listTypes();
  listFindings();
  listFunctions();
  listLoads();
  rulesSection();
  drawMatrix();
}

byId("choose").hidden = documents.length < 2;
fill("input", documents.map((one, at) => element("option", { value: at }, one.file)));
byId("input").addEventListener("change", (event) => open(Number(event.target.value)));
byId("tag-a").addEventListener("change", () => typed(0));
byId("tag-b").addEventListener("change", () => typed(1));
byId("swap").addEventListener("click", () => {
  const [a, b] = chosen;
  choose(0, b);
  choose(1, a);
  drawMatrix();
});
byId("type-search").addEventListener("input", listTypes);
byId("finding-search").addEventListener("input", listFindings);
byId("function-search").addEventListener("input", listFunctions);
byId("load-search").addEventListener("input", listLoads);
byId("canvas").addEventListener("mousemove", (event) => doc.tags.length && status(pairAt(event)));
byId("canvas").addEventListener("click", (event) => doc.tags.length && choosePair(...pairAt(event)));
byId("canvas").addEventListener("keydown", matrixKey);
window.addEventListener("resize", drawMatrix);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawMatrix);
open(0);
