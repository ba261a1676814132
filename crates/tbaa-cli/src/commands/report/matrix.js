// The matrix, on a canvas.

// Rows of a matrix that have names, and their height.
const NAMED = 40;
const ROW = 24;
let cells = 1;
let cursor = null;

function drawMatrix() {
  const canvas = byId("canvas");
  const side = doc.tags.length;
  // A small matrix has large cells, and each row its name beside it.
  const names = side <= NAMED;
  byId("matrix-names").hidden = !names;
  const room = canvas.parentElement.parentElement.clientWidth;
  const wide = names ? Math.min(room / 2, side * ROW) : Math.min(room, 640);
  const pixels = Math.max(1, Math.floor(wide * Math.min(2, window.devicePixelRatio || 1)));
  canvas.style.width = wide + "px";
  byId("matrix-names").replaceChildren(...(names ? doc.tags.map((_, at) =>
    element("li", { style: `height: ${wide / side}px` }, tagText(at))) : []));
  cells = Math.min(side, pixels);
  if (!cells) return;
  const scale = Math.max(1, Math.floor(pixels / cells));
  canvas.width = canvas.height = cells * scale;
  const context = canvas.getContext("2d");
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(name).trim();
  context.fillStyle = color("--blank");
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = color("--cell");
  // The pairs that may alias in each cell.
  const counts = new Uint32Array(cells * cells);
  const letters = doc.squares[rule];
  const cell = (at) => Math.floor((at * cells) / side);
  for (let i = 0; i < side; i++) {
    const row = cell(i) * cells;
    for (let j = 0; j < side; j++) if (letters[i * side + j] === MAY) counts[row + cell(j)]++;
  }
  const pairs = (side / cells) ** 2;
  for (let i = 0; i < cells; i++) {
    for (let j = 0; j < cells; j++) {
      const may = counts[i * cells + j];
      if (!may) continue;
      // Each shade stands for half as many as the one before.
      context.globalAlpha = Math.max(0.3, 1 - Math.floor(Math.log2(Math.max(1, pairs / may))) * 0.12);
      // Cells of a small matrix have edges.
      const edge = names ? 1 : 0;
      context.fillRect(j * scale + edge, i * scale + edge, scale - 2 * edge, scale - 2 * edge);
    }
  }
  context.globalAlpha = 1;
  if (!names) drawGroups(context, canvas.width / side, color);
  const [x, y] = cursor || chosen;
  context.strokeStyle = color("--b");
  context.lineWidth = 2;
  const unit = canvas.width / side;
  context.strokeRect(y * unit - 3, x * unit - 3, unit + 6, unit + 6);
}

/** Squares around the tags of one access type, with its name where it fits. */
function drawGroups(context, unit, color) {
  context.strokeStyle = context.fillStyle = color("--muted");
  context.lineWidth = 1;
  const size = 11 * Math.min(2, window.devicePixelRatio || 1);
  context.font = `${size}px system-ui, sans-serif`;
  context.textBaseline = "middle";
  for (let from = 0; from < doc.tags.length; ) {
    let to = from;
    while (to < doc.tags.length && doc.tags[to].access === doc.tags[from].access) to++;
    const [start, length] = [from * unit, (to - from) * unit];
    if (length >= size * 1.3) {
      context.strokeRect(start + 0.5, start + 0.5, length, length);
      const text = show(typeName(doc.tags[from].access)).slice(0, 40);
      const width = context.measureText(text).width;
      const right = start + length + 6;
      const fits = right + width < context.canvas.width;
      context.fillText(text, fits ? right : start - width - 6, start + length / 2);
    }
    from = to;
  }
}

/** The pair under a point; of a cell of many pairs one that may alias. */
function pairAt(event) {
  const canvas = byId("canvas");
  const box = canvas.getBoundingClientRect();
  const side = doc.tags.length;
  const at = (offset, length) => Math.max(0, Math.min(cells - 1, Math.floor((offset / length) * cells)));
  const [column, row] = [at(event.clientX - box.left, box.width), at(event.clientY - box.top, box.height)];
  const first = (cell) => Math.ceil((cell * side) / cells);
  for (let i = first(row); i < first(row + 1); i++) {
    for (let j = first(column); j < first(column + 1); j++) {
      if (mayAlias(rule, i, j)) return [i, j];
    }
  }
  return [first(row), first(column)];
}

function status([a, b]) {
  const said = answer(mayAlias(rule, a, b));
  fill("matrix-status",
    element("span", { class: "mono" }, tagText(a)), " and ",
    element("span", { class: "mono" }, tagText(b)), ": ",
    element("span", { class: `answer ${said}` }, said));
}

const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

function matrixKey(event) {
  const move = MOVES[event.key];
  if (!doc.tags.length || (!move && event.key !== "Enter" && event.key !== " ")) return;
  event.preventDefault();
  cursor = cursor || [...chosen];
  if (!move) return choosePair(...cursor);
  const step = event.shiftKey ? 10 : 1;
  cursor = cursor.map((at, axis) => Math.max(0, Math.min(doc.tags.length - 1, at + step * move[axis])));
  status(cursor);
  drawMatrix();
}

function matrixSection() {
  fill("matrix-rules", doc.answers.rules.map((name, which) =>
    element("button", {
      type: "button",
      "aria-pressed": String(which === rule),
      onclick: () => { rule = which; matrixSection(); drawMatrix(); },
    }, name)));
  const may = doc.answers.may_alias[rule];
  byId("matrix-about").textContent =
    `${counted(doc.tags.length, "tag")} in the order of the types accessed; ${number(may)} of ${number(doc.answers.pairs)} pairs may alias, and are marked.`;
}
