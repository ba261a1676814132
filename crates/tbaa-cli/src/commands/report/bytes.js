"use strict";

// The bytes of an object, and the accesses to it, as `src/drawing` draws them.

const ELEMENTS = 3;
const COPIES = 12;
const COLUMNS = 14;

const typeName = (at) => (at === null || at === undefined ? "?" : doc.types[at].name);

/**
 * Where each field of a type ends. Without sizes that is where the next begins;
 * or, where two begin at one offset and `reach` is set, the type's end, as the
 * union rules have it.
 */
function slots(type, reach) {
  const starts = type.fields
    .filter(([, , into]) => into === null || doc.types[into].kind !== "root")
    .map(([offset]) => offset)
    .sort((x, y) => x - y);
  const overlaps = reach && starts.some((start, at) => at > 0 && start === starts[at - 1]);
  return type.fields.map(([offset, extent]) => {
    if (extent !== null) return extent > 0 ? offset + extent : null;
    if (overlaps) return null;
    const next = starts.find((start) => start > offset);
    return next === undefined ? null : next;
  });
}

/** Stride and count of an array field; null for any other. */
function elements([, extent, into]) {
  const size = into === null ? 0 : doc.types[into].size;
  if (!size || extent === null || extent === size) return null;
  return extent === 0 ? [size, null] : extent > size ? [size, Math.floor(extent / size)] : null;
}

const repeated = (count) => (count !== null && count <= ELEMENTS + 1 ? count : ELEMENTS);

function fieldLabel(field) {
  const array = elements(field);
  const suffix = array === null ? "" : array[1] === null ? "[]" : `[${array[1]}]`;
  const type = typeName(field[2]);
  return field[3] ? `${field[3]}${suffix}: ${type}` : type + suffix;
}

/** Lanes for the fields of a type that stands at some places. */
function level(at, ends) {
  const type = doc.types[at];
  const ended = slots(type, false);
  const lanes = [];
  type.fields.forEach((field, position) => {
    const end = ended[position];
    let lane = lanes.find((lane) => lane.filled !== null && lane.filled <= field[0]);
    if (!lane) lanes.push((lane = { title: lanes.length ? "" : type.name, mark: "", spans: [] }));
    lane.filled = end;
    for (const [start, limit] of ends) {
      lane.spans.push({
        start: start + field[0],
        end: end === null ? limit : start + end,
        label: fieldLabel(field),
      });
    }
  });
  if (!lanes.length) {
    lanes.push({ title: type.name, mark: "", spans: [{ start: 0, end: type.size, label: type.name }] });
  }
  return lanes;
}

/** The way that LLVM takes from a tag's base: positions of fields. */
function way(tag) {
  const steps = [];
  let [at, offset] = [tag.base, tag.offset];
  while (at !== null && steps.length < 100) {
    if (at === tag.access && offset === 0) return steps;
    const fields = doc.types[at].fields;
    const next = fields.findLastIndex((field) => field[0] <= offset);
    if (next < 0) break;
    steps.push(next);
    offset -= fields[next][0];
    at = fields[next][2];
  }
  return null;
}

/** Draws fields along some steps; returns where they end. */
function follow(lanes, drawn, base, steps, reach) {
  let at = base;
  let ends = [[0, doc.types[base].size]];
  for (let step = 0; ; step++) {
    const key = at + ":" + ends.join(";");
    if (!drawn.has(key) && (step === 0 || (doc.types[at] && doc.types[at].fields.length))) {
      drawn.add(key);
      lanes.push(...level(at, ends));
    }
    if (step >= steps.length) return ends;
    const field = doc.types[at].fields[steps[step]];
    if (!field || field[2] === null) return ends;
    const end = slots(doc.types[at], reach)[steps[step]];
    const array = elements(field);
    const into = [];
    for (const [start, limit] of ends) {
      const count = array ? repeated(array[1]) : 1;
      for (let k = 0; k < count && into.length < COPIES; k++) {
        const from = start + field[0] + (array ? k * array[0] : 0);
        into.push([from, array ? from + array[0] : end === null ? limit : start + end]);
      }
    }
    ends = into;
    at = field[2];
  }
}

function footprint([start, end, repeats]) {
  let spans = [{ start, end, label: "" }];
  for (const [stride, count] of repeats) {
    const copies = [];
    for (let k = 0; k < repeated(count); k++) {
      for (const span of spans) {
        copies.push({ start: span.start + k * stride, end: span.end === null ? null : span.end + k * stride, label: "" });
      }
    }
    spans = copies.slice(0, COPIES);
  }
  const times = repeats.map(([stride, count]) => `every ${stride}` + (count === null ? "" : ` (${count} times)`));
  return { spans, note: times.join(", ") };
}

/** Columns from each edge to the next; what is far from both accesses is one. */
function columns(lanes, all) {
  const points = new Set([0]);
  let open = false;
  for (const { start, end } of lanes.flatMap((lane) => lane.spans)) {
    points.add(start);
    if (end === null) open = true;
    else points.add(end);
  }
  let edges = [...points].sort((x, y) => x - y);
  if (edges.length === 1 && !open) edges.push(1);
  const count = edges.length - (open ? 0 : 1);
  let gaps = new Array(count).fill(false);
  if (count > COLUMNS && !all) {
    const kept = new Array(count).fill(false);
    kept[0] = true;
    let room = COLUMNS - 4;
    for (const span of lanes.filter((lane) => lane.mark).flatMap((lane) => lane.spans)) {
      const first = edges.findLastIndex((edge) => edge <= span.start);
      const last = span.end === null ? count : edges.findIndex((edge) => edge >= span.end);
      for (let at = Math.max(0, first - 1); at < Math.min(count, last + 1); at++) {
        if (!kept[at] && room > 0) { kept[at] = true; room--; }
      }
    }
    const fewer = [];
    gaps = [];
    kept.forEach((keep, at) => {
      if (keep || gaps[gaps.length - 1] !== true) { fewer.push(edges[at]); gaps.push(!keep); }
    });
    if (!open) fewer.push(edges[edges.length - 1]);
    edges = fewer;
  }
  const range = ({ start, end }) => {
    const first = Math.min(edges.findLastIndex((edge) => edge <= start), gaps.length - 1);
    const to = end === null ? gaps.length : edges.findIndex((edge) => edge >= end);
    return [first, Math.max(first + 1, Math.min(to < 0 ? gaps.length : to, gaps.length))];
  };
  return { edges, gaps, range };
}

/** A grid: a column for each stretch of bytes, a row for each lane. */
function drawing(lanes, all) {
  const { edges, gaps, range } = columns(lanes, all);
  const widths = gaps.map((gap, at) => {
    const bytes = at + 1 < edges.length ? edges[at + 1] - edges[at] : 4;
    return gap ? "2rem" : `minmax(${Math.min(7, Math.max(2.6, bytes * 0.65))}rem, auto)`;
  });
  const grid = element("div", { class: "bytes", style: `grid-template-columns: auto ${widths.join(" ")} auto` });
  const put = (row, from, to, name, ...children) => {
    const made = element("div", { class: name, style: `grid-row: ${row}; grid-column: ${from} / ${to}` }, ...children);
    if (name.startsWith("span")) made.title = made.textContent;
    grid.append(made);
    return made;
  };
  put(1, 1, 2, "title muted", "byte");
  edges.forEach((edge, at) => {
    if (!gaps[at]) put(1, at + 2, at + 3, "offset", String(edge));
  });
  lanes.forEach((lane, at) => {
    const row = at + 2;
    put(row, 1, 2, `title ${lane.mark}`, lane.title).title = show(lane.title);
    const seen = new Set();
    for (const span of lane.spans) {
      const [from, to] = range(span);
      const key = from + ":" + to;
      if (seen.has(key)) continue;
      seen.add(key);
      const gap = to === from + 1 && gaps[from];
      put(row, from + 2, to + 2, `span ${lane.mark} ${span.end === null ? "open" : ""}`, gap ? "…" : span.label);
    }
    if (lane.note) put(row, gaps.length + 2, gaps.length + 3, "remark", lane.note);
  });
  const region = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Bytes" }, grid);
  // On a narrow screen the accesses may lie beyond the edge.
  requestAnimationFrame(() => {
    const [title, mark] = [".title", ".span.a, .span.b"].map((name) => grid.querySelector(name));
    if (mark) region.scrollLeft = Math.max(0, mark.offsetLeft - region.offsetLeft - title.offsetWidth - 40);
  });
  return region;
}
