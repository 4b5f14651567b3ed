// The page: a form for one row, what the model says of it, and tables.
const element = (id) => document.getElementById(id);
const MODEL = withArrays(JSON.parse(element("model").textContent), bytesOf(element("arrays").textContent));
const CONSTANTS = MODEL.constants, MISSING = new Set(MODEL.missing);
const IS_NUMBER = MODEL.targets !== undefined;
const MAX_BUSY = 50, MAX_OPTIONS = 60, MAX_REASONS = 8, MAX_SHOWN = 100, N_NEAR = 5, MAX_TEXT = 60, OTHER = "a level that training did not have";

// --- What the model says -------------------------------------------------------------------------

// The answer for one value per field: scores and probabilities, or a number and its interval for each target.
function answerOf(values, level = 0.9) {
  const E = encoded(MODEL, inputsOf(MODEL, values));
  if (IS_NUMBER) return { E, numbers: MODEL.targets.map((target) => numberOf(target, E, level)) };
  const scores = scoresOf(MODEL, E);
  return { E, scores, probabilities: probabilitiesOf(scores, MODEL.logWeights), predicted: predictedClass(scores) };
}

const outputOf = (answer, output) => (IS_NUMBER ? answer.numbers[output].value : answer.probabilities[output]);

// How one output changes along a field while the others stay: at the points of its grid.
function curveOf(values, f, output) {
  return MODEL.fields[f].grid.map((value) => outputOf(answerOf(values.map((each, k) => (k === f ? value : each))), output));
}

// What a field contributes: the output less its mean over the values that the field has in training.
function contributionOf(field, curve, output) {
  const total = field.weights.reduce((sum, weight) => sum + weight, 0);
  if (!total) return 0;
  return output - curve.reduce((sum, value, i) => sum + field.weights[i] * value, 0) / total;
}

// --- Words and numbers ---------------------------------------------------------------------------

const few = (digits) => new Intl.NumberFormat("en", { maximumSignificantDigits: digits });
const shown = (value) => few(5).format(value);
const shownPercent = (p) => (p > 0.999 ? "> 99.9 %" : p < 0.001 ? "< 0.1 %" : `${(100 * p).toFixed(1)} %`);
const shownOutput = (value) => (IS_NUMBER ? shown(value) : shownPercent(value));

function shownChange(value) {
  const sign = value < 0 ? "\u2212" : "+", size = Math.abs(value);
  if (size < (IS_NUMBER ? 1e-9 * Math.abs(state.whole) : 5e-4)) return "0";
  if (IS_NUMBER) return `${sign}${few(3).format(size)}`;
  return `${sign}${(100 * size).toFixed(1)} points`;
}

function shownCell(field, value) {
  if (value === null || Number.isNaN(value)) return "missing";
  if (field.kind === "date") return field.timed ? isoTime(value) : isoDate(value);
  if (typeof value === "number") return shown(value);
  return value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}\u2026` : value;
}

function made(tag, attributes = {}, ...children) {
  const out = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name in out && typeof value !== "string") out[name] = value;
    else out.setAttribute(name, value);
  }
  out.append(...children);
  return out;
}

function drawn(tag, attributes, ...children) {
  const out = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) out.setAttribute(name, value);
  out.append(...children);
  return out;
}

// --- The form ------------------------------------------------------------------------------------

const start = MODEL.fields.map((field) => (hasRange(field) && field.kind === "number" ? toStep(field, field.start) : field.start));
const state = { values: [...start], output: IS_NUMBER ? 0 : null, level: 0.9, turn: 0, tableTurn: 0 };
const order = [...MODEL.fields.keys()].sort((a, b) => MODEL.fields[b].share - MODEL.fields[a].share);

// A field of the form: its controls, and `show`, which writes a value into them.
function control(field, f) {
  const id = `field-${f}`, label = made("label", { for: id }, field.name);
  const chip = made("span", { class: "chip" }), curve = made("div", { class: "curve" });
  const hint = made("p", { class: "hint", id: `${id}-hint`, role: "status" });
  const gap = made("input", { type: "checkbox", id: `${id}-gap` });
  const gapLabel = made("label", { class: "gap-label", for: gap.id }, gap, "missing");
  gap.setAttribute("aria-label", `${field.name} is missing`);
  const make = controlFor(field);
  const own = make(field, id, (value) => change(f, value));
  own.entry.setAttribute("aria-describedby", hint.id);
  const entry = made("div", { class: "entry" }, own.entry, gapLabel);
  const parts = own.slider === undefined ? [entry] : [own.slider, entry];
  const box = made("div", { class: "field", role: "group", "aria-label": field.name }, made("header", {}, label, chip), curve, ...parts, hint);
  curve.hidden = field.kind === "text";
  let last = field.start;
  gap.addEventListener("change", () => change(f, gap.checked ? null : last ?? fallback(field)));
  const show = (value, typed) => {
    const isGap = value === null;
    if (!isGap) last = value;
    gap.checked = isGap;
    if (!typed || isGap) own.show(value);
    if (own.slider !== undefined) own.slider.disabled = isGap;
    hint.textContent = hintOn(field, value);
  };
  return { box, chip, curve, show };
}

function controlFor(field) {
  if (hasRange(field)) return numberControl;
  if (field.kind === "text") return textControl;
  return field.choices.length > MAX_OPTIONS ? wordControl : levelControl;
}

const fallback = (field) => (hasRange(field) ? field.grid[0] : field.choices?.[0] ?? OTHER);

function hintOn(field, value) {
  if (value === null || field.kind === "text") return "";
  if (!hasRange(field)) return field.choices.includes(value) || (field.pair ?? []).includes(value) ? "" : "not seen in training";
  if (Number.isNaN(value)) return field.kind === "date" ? "not a date, which counts as missing" : "not a number, which counts as missing";
  const [low, high] = field.range;
  return value < low || value > high ? `outside the training range of ${shownCell(field, low)} to ${shownCell(field, high)}` : "";
}

function toStep(field, value) {
  return Number((Math.round(value / stepOf(field)) * stepOf(field)).toPrecision(12));
}

function stepOf(field) {
  if (field.whole && field.kind !== "date") return 1;
  const [low, high] = field.range, size = (high - low || 1) / 200;
  if (field.kind === "date") return field.timed ? 1 / 24 : 1;
  return Number(`1e${Math.floor(Math.log10(size))}`);
}

function numberControl(field, id, changed) {
  const [low, high] = field.range, step = stepOf(field), isDate = field.kind === "date";
  const type = isDate ? (field.timed ? "datetime-local" : "date") : "text";
  const entry = made("input", { id, type, ...(isDate ? {} : { inputmode: "decimal" }) });
  const slider = made("input", { type: "range", min: String(low), max: String(high), step: String(step === 1 ? 1 : "any") });
  slider.setAttribute("aria-label", `${field.name}, slider`);
  const rounded = (value) => (isDate ? value : toStep(field, value));
  entry.addEventListener("input", () => {
    const word = asWord(entry.value);
    if (word === "") changed(null, true);
    else changed(isDate ? readDate(word, "ISO8601") : readNumbers([word], field.decimal)[0] / field.unit, true);
  });
  slider.addEventListener("input", () => changed(rounded(Number(slider.value))));
  slider.addEventListener("keydown", (event) => {
    const moves = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 };
    if (!(event.key in moves) || step === 1) return;
    event.preventDefault();
    changed(rounded(Math.min(Math.max(Number(slider.value) + (moves[event.key] * (high - low)) / 100, low), high)));
  });
  const show = (value) => {
    entry.value = value === null || Number.isNaN(value) ? "" : isDate ? shownCell(field, value).replace(" ", "T") : String(Number(value.toPrecision(12)));
    if (value !== null && !Number.isNaN(value)) slider.value = String(value);
    slider.setAttribute("aria-valuetext", value === null ? "missing" : shownCell(field, value));
  };
  return { entry, slider, show };
}

function levelControl(field, id, changed) {
  const options = [...field.choices, OTHER], entry = made("select", { id });
  if (field.pair !== null) options.pop();
  options.forEach((level, i) => entry.append(made("option", { value: String(i) }, String(level))));
  entry.append(made("option", { value: "-1" }, "missing"));
  entry.addEventListener("change", () => changed(Number(entry.value) < 0 ? null : options[Number(entry.value)]));
  return { entry, show: (value) => (entry.value = value === null ? "-1" : String(options.includes(value) ? options.indexOf(value) : options.length - 1)) };
}

function wordControl(field, id, changed) {
  const list = made("datalist", { id: `${id}-list` });
  list.append(...field.choices.slice(0, 2000).map((level) => made("option", { value: String(level) })));
  const entry = made("input", { id, type: "text", list: list.id });
  document.body.append(list);
  entry.addEventListener("input", () => {
    const word = asWord(entry.value);
    changed(word === "" ? null : levelOf(field, word), true);
  });
  return { entry, show: (value) => (entry.value = value === null ? "" : String(value)) };
}

function textControl(field, id, changed) {
  const entry = made("textarea", { id, rows: "3" });
  entry.addEventListener("input", () => changed(asWord(entry.value) || null, true));
  return { entry, show: (value) => (entry.value = value ?? "") };
}

const controls = MODEL.fields.map(control);
for (const f of order) element("fields").append(controls[f].box);
element("fields").addEventListener("submit", (event) => event.preventDefault());

function change(f, value, typed = false) {
  state.values[f] = value;
  controls[f].show(value, typed);
  update();
}

function setRow(values) {
  state.values = [...values];
  values.forEach((value, f) => controls[f].show(value, false));
  update();
}

// --- The answer ----------------------------------------------------------------------------------

function chosenOutput(answer) {
  if (state.output !== null) return state.output;
  return MODEL.classes.length === 2 ? 1 : answer.predicted;
}

// The prediction at once; the curves after it, so that a slider never waits for them.
function update() {
  const answer = answerOf(state.values, state.level), output = chosenOutput(answer);
  if (IS_NUMBER) showNumber(answer.numbers[output]);
  else showClasses(answer, output);
  showNear(answer.E);
  controls.forEach((each, f) => placeDot(f, outputOf(answer, output)));
  followCurves(answer, output);
}

function showNumber({ value, low, high }) {
  element("value").textContent = shown(value);
  element("range").textContent = `${shown(low)} to ${shown(high)} at ${100 * state.level} %`;
  const ends = MODEL.targets[state.output].deviation.range, from = Math.min(ends[0], low), to = Math.max(ends[1], high);
  const at = (x) => (100 * (x - from)) / (to - from || 1);
  const bar = made("i"), mark = made("b");
  bar.style.cssText = `left: ${at(low)}%; width: ${Math.max(at(high) - at(low), 0.5)}%`;
  mark.style.cssText = `left: ${at(value)}%`;
  element("span").replaceChildren(bar, mark);
}

function showClasses(answer, output) {
  element("value").textContent = MODEL.classes[answer.predicted];
  element("range").textContent = shownPercent(answer.probabilities[answer.predicted]);
  const box = element("classes");
  if (!box.children.length)
    MODEL.classes.forEach((name, c) => {
      const button = made("button", { type: "button" }, made("span", {}, name), made("span"));
      button.addEventListener("click", () => {
        state.output = c;
        update();
      });
      box.append(button);
    });
  [...box.children].forEach((button, c) => {
    button.style.setProperty("--to", `${100 * answer.probabilities[c]}%`);
    button.lastChild.textContent = shownPercent(answer.probabilities[c]);
    button.setAttribute("aria-pressed", String(c === output));
  });
}

function followCurves(answer, output) {
  const turn = ++state.turn, values = [...state.values], curves = [], whole = outputOf(answer, output);
  const step = () => {
    if (turn !== state.turn) return;
    const begin = performance.now();
    while (curves.length < MODEL.fields.length && performance.now() - begin < 12) curves.push(curveOf(values, curves.length, output));
    if (curves.length < MODEL.fields.length) setTimeout(step);
    else showCurves(curves, whole, output);
  };
  setTimeout(step);
}

function showCurves(curves, whole, output) {
  const every = curves.flat(), low = Math.min(...every, whole), high = Math.max(...every, whole), room = (high - low) * 0.08 || 1e-9;
  state.scale = { low: low - room, high: high + room };
  state.whole = whole;
  element("scale").textContent = `${shownOutput(low)} to ${shownOutput(high)}`;
  curves.forEach((curve, f) => drawCurve(f, curve, whole));
  const amounts = MODEL.fields.map((field, f) => contributionOf(field, curves[f], whole));
  showReasons(amounts, output);
  element("fields").dataset.ready = String(state.turn);
}

const across = (field, value) => (100 * (value - field.range[0])) / (field.range[1] - field.range[0] || 1);
const up = (value) => 100 - (100 * (value - state.scale.low)) / (state.scale.high - state.scale.low);

function drawCurve(f, curve, whole) {
  if (MODEL.fields[f].kind === "text") return;
  const field = MODEL.fields[f], box = controls[f].curve, svg = drawn("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none", role: "img" });
  const known = field.grid.map((value, i) => ({ value, y: up(curve[i]), out: curve[i] })).filter((each) => each.value !== null);
  svg.append(drawn("line", { class: "level", x1: 0, x2: 100, y1: up(whole), y2: up(whole) }));
  if (hasRange(field)) {
    svg.append(drawn("path", { d: known.map(({ value, y }, i) => `${i ? "L" : "M"}${across(field, value).toFixed(2)} ${y.toFixed(2)}`).join("") }));
  } else
    known.forEach(({ value, y, out }, i) => {
      const width = 100 / known.length, now = value === state.values[f] ? "now" : "";
      const bar = drawn("rect", { class: now, x: i * width + width * 0.12, width: width * 0.76, y, height: 100 - y });
      bar.append(drawn("title", {}, `${value}: ${shownOutput(out)}`));
      svg.append(bar);
    });
  const outs = known.map((each) => each.out), ends = outs.length ? [Math.min(...outs), Math.max(...outs)] : [whole, whole];
  svg.setAttribute("aria-label", `Along ${field.name} the prediction lies between ${shownOutput(ends[0])} and ${shownOutput(ends[1])}.`);
  box.replaceChildren(svg);
  placeDot(f, whole);
}

// The dot of this row on the curve of a field; it moves before the curves are made anew.
function placeDot(f, whole) {
  const field = MODEL.fields[f], value = state.values[f], box = controls[f].curve;
  box.querySelectorAll(".dot, .gap").forEach((each) => each.remove());
  if (state.scale === undefined || !hasRange(field)) return;
  if (value === null || Number.isNaN(value)) {
    box.append(made("span", { class: "gap" }, "missing"));
    return;
  }
  const dot = made("span", { class: "dot" });
  dot.style.cssText = `left: ${Math.min(Math.max(across(field, value), 0), 100)}%; top: ${Math.min(Math.max(up(whole), 0), 100)}%`;
  box.append(dot);
}

function showReasons(amounts, output) {
  const leading = [...amounts.keys()].sort((a, b) => Math.abs(amounts[b]) - Math.abs(amounts[a]));
  const most = Math.abs(amounts[leading[0]] ?? 0) || 1;
  element("reasons-lead").textContent = IS_NUMBER
    ? "Less or more than with typical values of each column:"
    : `To the probability of ${MODEL.classes[output]}, in percentage points, compared with typical values of each column:`;
  element("reasons").replaceChildren(
    ...leading.slice(0, MAX_REASONS).map((f) => {
      const field = MODEL.fields[f], bar = made("i"), part = (50 * Math.abs(amounts[f])) / most;
      bar.style.cssText = amounts[f] < 0 ? `right: 50%; width: ${part}%` : `left: 50%; width: ${part}%`;
      const name = made("span", { class: "name" }, field.name, made("small", {}, shownCell(field, state.values[f])));
      const amount = made("span", { class: "amount" }, shownChange(amounts[f]));
      return made("li", { class: amounts[f] < 0 ? "less" : "" }, name, amount, made("div", { class: "bar2", "aria-hidden": "true" }, bar));
    }),
  );
  controls.forEach(({ chip }, f) => (chip.textContent = shownChange(amounts[f])));
}

// --- Nearest rows --------------------------------------------------------------------------------

const FIRST = IS_NUMBER ? MODEL.targets[0].members[0] : MODEL.members[0];
const near = MODEL.near === null ? null : { rows: null, ...MODEL.near };

function nearestRows(E) {
  const width = E.length, n = near.encoded.length / width;
  near.rows ??= Array.from({ length: n }, (_, i) => rowOf(FIRST, near.encoded.subarray(i * width, (i + 1) * width)).Z);
  const { Z } = rowOf(FIRST, E), { category } = FIRST.columns;
  const distances = near.rows.map((row) =>
    row.reduce((sum, z, j) => sum + near.weights[j] * (category[j] ? Number(z !== Z[j]) : Math.abs(z - Z[j])), 0),
  );
  const places = [...distances.keys()].sort((a, b) => distances[a] - distances[b]).slice(0, N_NEAR);
  return places.map((i) => ({ i, distance: distances[i] }));
}

function showNear(E) {
  if (near === null) return;
  const found = nearestRows(E), table = element("near-rows");
  const heads = ["similarity", ...(near.targets === null ? [] : [MODEL.target]), ...order.map((f) => MODEL.fields[f].name)];
  const rows = found.map(({ i, distance }) => [
    shownPercent(Math.exp(-distance)),
    ...(near.targets === null ? [] : [near.targets[i]]),
    ...order.map((f) => shownCell(MODEL.fields[f], near.shown[f][i])),
  ]);
  fillTable(table, heads, rows, near.targets === null ? 1 : 2);
}

function fillTable(table, heads, rows, nLead, button) {
  const head = made("tr", {}, ...heads.map((name) => made("th", { scope: "col" }, name)));
  if (button) head.append(made("th", { scope: "col" }, "form"));
  table.tHead.replaceChildren(head);
  table.tBodies[0].replaceChildren(
    ...rows.map((cells, i) => {
      const row = made("tr", {}, ...cells.map((cell, k) => made("td", { class: k < nLead ? "lead-cell" : "" }, String(cell))));
      if (button) row.append(made("td", {}, button(i)));
      return row;
    }),
  );
}

// --- Tables --------------------------------------------------------------------------------------

// The predictions of a table as `kernelwise predict` writes them, with its notes. `tell` hears of progress.
async function predictTable(text, tell) {
  const table = readTable(text), { rows, checks, extra } = fieldsOfTable(MODEL, table);
  const refused = checks.find((check) => check.unusable && check.selected);
  if (refused !== undefined)
    throw new TableProblem(`the model relies on the column '${refused.name}', but ${refused.unusable}; correct the table.`);
  const answers = [];
  let begin = performance.now();
  for (const values of rows) {
    answers.push(answerOf(values, state.level));
    if (performance.now() - begin < MAX_BUSY) continue;
    tell(answers.length, rows.length);
    await new Promise((resume) => setTimeout(resume));
    begin = performance.now();
  }
  const notes = checks.sort((a, b) => Number(b.selected) - Number(a.selected)).map(({ name, notes: own }) => `${name}: ${own.join("; ")}`);
  if (extra.length) notes.push(`columns that the model does not know are left out: ${quoted(extra)}`);
  const heads = IS_NUMBER
    ? MODEL.targets.flatMap((_, t) => ["prediction", "low", "high"].map((name) => (MODEL.targets.length > 1 ? `${name} ${t + 1}` : name)))
    : ["prediction", ...MODEL.classes.map((name) => `probability ${name}`)];
  const cells = answers.map((answer) =>
    IS_NUMBER
      ? answer.numbers.flatMap(({ value, low, high }) => [value, low, high].map((each) => significant(each, 9)))
      : [MODEL.classes[answer.predicted], ...answer.probabilities.map((p) => significant(Number(p.toFixed(6)), 9))],
  );
  return { table, rows, answers, notes, heads, cells };
}

// A value as the training table writes it.
function writtenCell(field, value) {
  if (field.kind !== "date") return String(typeof value === "number" ? value * (field.unit ?? 1) : value);
  const iso = isoTime(value), [year, month, day, hour, minute] = iso.match(/\d+/g), name = MONTHS[Number(month) - 1];
  if (field.format === "ISO8601") return field.timed ? iso : isoDate(value);
  const parts = { Y: year, m: month, d: day, H: hour, M: minute, b: name.slice(0, 3), B: name };
  return field.format.replace(/%([a-zA-Z])/g, (_, token) => parts[token]);
}

const csvCell = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
let last = null;

function showProblem(error) {
  if (!(error instanceof TableProblem)) throw error;
  element("problem").textContent = error.message[0].toUpperCase() + error.message.slice(1);
  element("problem").hidden = false;
  element("predictions").hidden = true;
}

async function showTable() {
  const box = element("predictions"), progress = element("progress"), turn = ++state.tableTurn;
  element("problem").hidden = box.hidden = true;
  const tell = (done, all) => (progress.textContent = `${done.toLocaleString("en")} of ${all.toLocaleString("en")} rows`);
  try {
    const found = await predictTable(element("text").value, tell);
    if (turn !== state.tableTurn) return;
    last = found;
  } catch (error) {
    showProblem(error);
    return;
  } finally {
    progress.textContent = "";
  }
  const n = last.rows.length, more = n > MAX_SHOWN ? ` The first ${MAX_SHOWN} are shown.` : "";
  element("summary").textContent = `${n.toLocaleString("en")} row${n > 1 ? "s" : ""} predicted.${more}`;
  element("notes").replaceChildren(...last.notes.map((note) => made("li", {}, note)));
  const cells = last.rows.slice(0, MAX_SHOWN).map((values, i) => [...last.cells[i], ...order.map((f) => shownCell(MODEL.fields[f], values[f]))]);
  const heads = [...last.heads, ...order.map((f) => MODEL.fields[f].name)];
  fillTable(element("predicted"), heads, cells, last.heads.length, (i) => {
    const button = made("button", { type: "button", class: "plain", "aria-label": `Show row ${i + 1} in the form` }, "show");
    button.addEventListener("click", () => {
      setRow(last.rows[i]);
      element("row").scrollIntoView();
    });
    return button;
  });
  box.hidden = false;
}

function download() {
  const { table, heads, cells } = last, columns = table.names.map((name) => table.columns.get(name).cells);
  const lines = [[...heads, ...table.names], ...cells.map((own, i) => [...own, ...columns.map((column) => column[i])])];
  const text = lines.map((line) => line.map(csvCell).join(",")).join("\n") + "\n";
  const link = made("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: "predictions.csv" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
}

// The bytes of a file as text: UTF-8, or else the encoding of Windows.
function decoded(bytes) {
  const [a, b] = bytes;
  if ((a === 0x50 && b === 0x4b) || (a === 0x1f && b === 0x8b)) throw new TableProblem("the file is packed or a spreadsheet; save the table as CSV.");
  if ((a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff)) return new TextDecoder(a === 0xff ? "utf-16le" : "utf-16be").decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

async function readFile(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  try {
    const text = decoded(bytes);
    if (text.includes("\0")) throw new TableProblem("the file is not text; save the table as CSV.");
    element("text").value = text;
  } catch (error) {
    showProblem(error);
    return;
  }
  showTable();
}

const drop = element("drop");
for (const kind of ["dragover", "dragleave", "drop"])
  drop.addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", kind === "dragover");
    if (kind === "drop" && event.dataTransfer.files.length) readFile(event.dataTransfer.files[0]);
    else if (kind === "drop") element("text").value = event.dataTransfer.getData("text");
  });
element("file").addEventListener("change", (event) => event.target.files.length && readFile(event.target.files[0]));
element("predict").addEventListener("click", showTable);
element("download").addEventListener("click", download);
element("reset").addEventListener("click", () => setRow(start));
element("example").addEventListener("click", () => {
  const cell = (field, value) => csvCell(value === null || Number.isNaN(value) ? "" : writtenCell(field, value));
  element("text").value = `${MODEL.fields.map((field) => csvCell(field.name)).join(",")}\n${MODEL.fields.map((field, f) => cell(field, state.values[f])).join(",")}\n`;
  showTable();
});
if (IS_NUMBER) {
  element("level").addEventListener("change", (event) => {
    state.level = Number(event.target.value);
    update();
  });
  MODEL.targets.forEach((_, t) => element("target-choice").append(made("option", { value: String(t) }, String(t + 1))));
  element("target-options").hidden = MODEL.targets.length < 2;
  element("target-choice").addEventListener("change", (event) => {
    state.output = Number(event.target.value);
    update();
  });
}
element("text").placeholder = MODEL.fields.map((field) => csvCell(field.name)).join(",");
const began = performance.now();
setRow(start);
document.documentElement.dataset.first = String(performance.now() - began);
