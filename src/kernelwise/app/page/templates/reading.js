// From what people write to the inputs of the model: the rules of kernelwise.values and app.tabular.
const MONEY = "(?:[$€£¥₹₽₩]|EUR|USD|GBP|CHF)", GAP = "[ \u00a0\u202f]?", SIGN = "[-+\u2212]?";
const PLAIN = /^[-+]?(\d+\.?\d*([eE][-+]?\d+)?|\.\d+([eE][-+]?\d+)?|inf|infinity)$/i;
const DRESSED = new RegExp(
  `^(\\()?(${SIGN})${GAP}(?:${MONEY}${GAP})?(${SIGN})(.*?\\d)${GAP}(?:${MONEY}|%)?(\\))?$`,
);
const grouped = (decimal, thousands) =>
  new RegExp(
    `^((?:[1-9]\\d{0,2}([ '\u2019\u00a0\u202f${thousands}])\\d{3}(?:\\2\\d{3})*|\\d+)?)(?:\\${decimal}(\\d+))?((?:[eE][+-]?\\d+)?)$`,
  );
const GROUPED = { ".": grouped(".", ","), ",": grouped(",", ".") };
const MEANS_MISSING =
  /^([-\u2013\u2014_*]+|\.{2,}|\.[a-z_]|\(?(none|null|nil|missing|unknown|unk|blank|empty|undefined|no data|not (available|applicable|known))\)?)$/i;
const MAX_NUMBER = 1e100, DAY = 86400;

// A cell as a word without surrounding blanks; "" is missing.
const asWord = (text) => (MISSING.has(text.trim()) ? "" : text.trim());

// --- Numbers -------------------------------------------------------------------------------------

function plainNumber(text) {
  if (!PLAIN.test(text)) return NaN;
  if (!/inf/i.test(text)) return Number(text);
  return text[0] === "-" ? -Infinity : Infinity;
}

function dressedNumber(text, decimal) {
  const found = DRESSED.exec(text);
  if (found === null || Boolean(found[1]) !== Boolean(found[5]) || (found[2] && found[3])) return NaN;
  const digits = GROUPED[decimal].exec(found[4]);
  if (digits === null) return NaN;
  const value = Number(`${digits[1].replace(/\D/g, "") || "0"}.${digits[3] || "0"}${digits[4]}`);
  const sign = found[2] || found[3];
  return found[1] || sign === "-" || sign === "\u2212" ? -value : value;
}

function decimalSign(texts, preferred) {
  const read = (sign) => texts.filter((text) => Number.isFinite(dressedNumber(text, sign))).length;
  const points = read("."), commas = read(",");
  if (points === commas) return preferred;
  return points > commas ? "." : ",";
}

function readNumbers(texts, decimal) {
  const values = texts.map(plainNumber);
  const rest = values.some((value, i) => Number.isNaN(value) && texts[i] !== "");
  if (decimal === "." && !rest) return values;
  if (decimalSign(texts, decimal) === ",") return texts.map((text) => dressedNumber(text, ","));
  return values.map((value, i) => (Number.isNaN(value) && texts[i] !== "" ? dressedNumber(texts[i], ".") : value));
}

// --- Dates ---------------------------------------------------------------------------------------

const MONTHS = "january february march april may june july august september october november december".split(" ");
const LIKE_DATE = /^(\d{1,4}|[^\W\d]{3,9}) ?[-./ ] ?(\d{1,2}|[^\W\d]{3,9})(, |[-./ ]) ?\d{1,4}/;
const ISO = /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[^\d](\d{2})(?::?(\d{2})(?::?(\d{2})(?:[.,](\d+))?)?)?( UTC|Z|[+-]\d{2}(?::?\d{2})?)?)?$/;
const TOKENS = {
  "%d": "(?<d>3[01]|[12]\\d|0[1-9]|[1-9])", "%m": "(?<m>1[0-2]|0[1-9]|[1-9])", "%Y": "(?<Y>\\d{4})",
  "%H": "(?<H>2[0-3]|[01]\\d|\\d)", "%M": "(?<M>[0-5]\\d|\\d)",
  "%b": `(?<b>${MONTHS.map((name) => name.slice(0, 3)).join("|")})`, "%B": `(?<b>${MONTHS.join("|")})`,
};

// Days since 1970, in UTC; NaN where a text is not a date.
function readDate(text, format) {
  return format === "ISO8601" ? isoDays(text) : formattedDays(text, format);
}

function daysOf(year, month, day, hour = 0, minute = 0, second = 0, part = 0, ahead = 0) {
  const when = new Date(0);
  when.setUTCFullYear(year, month - 1, day);
  const exists = year > 0 && when.getUTCMonth() === month - 1 && when.getUTCDate() === day;
  if (!exists || hour > 23 || minute > 59 || second > 59) return NaN;
  const seconds = hour * 3600 + minute * 60 + second + part - ahead, later = Math.floor(seconds / DAY);
  return when.getTime() / 1000 / DAY + later + (seconds - later * DAY) / DAY;
}

function isoDays(text) {
  const found = LIKE_DATE.test(text) ? ISO.exec(text) : null;
  if (found === null) return NaN;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map((each) => Number(each ?? 0));
  const part = found[7] === undefined ? 0 : Number(`0.${found[7].slice(0, 6)}`);
  const zone = /^([+-])(\d{2}):?(\d{2})?$/.exec(found[8] ?? "");
  const ahead = zone === null ? 0 : (zone[1] === "-" ? -1 : 1) * (Number(zone[2]) * 60 + Number(zone[3] ?? 0));
  return daysOf(year, month, day, hour, minute, second, part, ahead * 60);
}

function formattedDays(text, format) {
  const pattern = format.replace(/[.]/g, "\\.").replace(/ /g, "\\s+").replace(/%[a-zA-Z]/g, (token) => TOKENS[token]);
  const found = new RegExp(`^${pattern}$`, "i").exec(text);
  if (found === null) return NaN;
  const { d, m, b, Y, H, M } = found.groups;
  const month = b === undefined ? Number(m) : MONTHS.findIndex((name) => name.startsWith(b.toLowerCase().slice(0, 3))) + 1;
  return daysOf(Number(Y), month, Number(d), Number(H ?? 0), Number(M ?? 0));
}

const isoDate = (days) => new Date(Math.floor(days) * DAY * 1000).toISOString().slice(0, 10);

function isoTime(days) {
  const minutes = Math.floor(((days - Math.floor(days)) * DAY + 1e-3) / 60);
  const two = (number) => String(number).padStart(2, "0");
  return `${isoDate(days)} ${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

function datePart(field, part, days) {
  if (days === null || Number.isNaN(days)) return null;
  const whole = Math.floor(days), when = new Date(whole * DAY * 1000);
  if (part === "year") return when.getUTCFullYear();
  if (part === "month") return when.getUTCMonth() + 1;
  if (part === "day of week") return (((whole + 3) % 7) + 7) % 7;
  if (part === "hour") return Math.floor(((days - whole) * DAY + 1e-3) / 60) / 60;
  return days - field.firstDay;
}

// Numbers where training had dates are nanoseconds since 1970 for pandas, and so they are here; checks tell.
const daysOfNumber = (value) => (Math.abs(value) < 2 ** 63 ? Math.floor(Math.trunc(value) / 1000) / (DAY * 1e6) : NaN);

// Whether a field is a number or a date.
const hasRange = (field) => field.range !== undefined;

// --- Fields --------------------------------------------------------------------------------------

// What a column of a table holds: numbers that a computer wrote, or words. A column is {cells, numbers}.
function fieldValues(field, column) {
  if (field.kind === "date")
    return column.words.map((word, i) => {
      if (word === "") return null;
      return column.numbers === null ? readDate(word, field.format) : daysOfNumber(column.numbers[i]);
    });
  if (field.kind === "number") {
    const values = column.numbers ?? readNumbers(column.words, field.decimal);
    return values.map((value) => Math.abs(value / field.unit) > MAX_NUMBER ? NaN : value / field.unit);
  }
  return column.words.map((word) => (word === "" || field.kind === "text" ? word || null : levelOf(field, word)));
}

// Text as numbers: weighted counts of pieces of words, along directions; see kernelwise.values.text.
function textNumbers(text, value) {
  if (text.last?.value === value) return text.last.numbers;
  text.places ??= new Map(text.pieces.map((piece, i) => [piece, i]));
  const counts = new Map(), k = text.directions.length / text.pieces.length, numbers = new Float64Array(k);
  for (const piece of piecesOf(value)) {
    const place = text.places.get(piece);
    if (place !== undefined) counts.set(place, (counts.get(place) ?? 0) + 1);
  }
  const weighted = [...counts].map(([place, count]) => [place, count * text.weights[place]]);
  const length = Math.sqrt(weighted.reduce((sum, [, size]) => sum + size * size, 0));
  for (const [place, size] of weighted)
    for (let o = 0; o < k; o++) numbers[o] += (size / length) * text.directions[place * k + o];
  text.last = { value, numbers };
  return numbers;
}

// Three and four letters of each word, with a blank before and behind it.
function piecesOf(value) {
  const found = [];
  for (const word of value.toLowerCase().split(/\s+/).filter(Boolean)) {
    const letters = [" ", ...word, " "];
    for (const n of [3, 4]) {
      const last = Math.max(0, letters.length - n);
      for (let i = 0; i <= last; i++) found.push(letters.slice(i, i + n).join(""));
      if (!last) break;
    }
  }
  return found;
}

// The level that a word stands for, which may be a number where the model was fitted in Python.
function levelOf(field, word) {
  field.known ??= new Set(field.choices);
  if (field.known.has(word) || field.pair !== null) return word;
  const number = { True: 1, False: 0 }[word] ?? plainNumber(word);
  return field.known.has(number) ? number : word;
}

// The inputs of the estimator, from one value per field: a number, days, a level, or null.
function inputsOf(model, values) {
  return model.inputs.map(({ field: f, part, place }) => {
    const field = model.fields[f], value = values[f];
    if (field.kind === "text") return textNumbers(field.text, value ?? "")[place];
    if (field.kind === "date") return datePart(field, part, value);
    if (field.kind !== "boolean") return value;
    const at = field.pair.indexOf(value ?? "");
    return at < 0 ? null : at;
  });
}

// --- Tables --------------------------------------------------------------------------------------

class TableProblem extends Error {}

// The rows of delimited text, without blank lines; a quoted field may hold separators and line breaks.
function delimitedRows(text, separator, most = Infinity) {
  const rows = [];
  let row = [], i = 0;
  const endRow = () => {
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
  };
  while (i <= text.length && rows.length < most) {
    while (text[i] === " " && separator !== " ") i++;
    let cell = "";
    if (text[i] === '"') {
      for (i++; ; i++) {
        if (i >= text.length) throw new TableProblem("a closing quotation mark is missing.");
        if (text[i] !== '"') cell += text[i];
        else if (text[i + 1] === '"') cell += text[i++];
        else break;
      }
      i++;
    }
    const start = i;
    while (i < text.length && text[i] !== separator && text[i] !== "\n" && text[i] !== "\r") i++;
    row.push(cell + text.slice(start, i));
    if (text[i] === separator) {
      i++;
      continue;
    }
    endRow();
    if (i >= text.length) break;
    i += text[i] === "\r" && text[i + 1] === "\n" ? 2 : 1;
  }
  return rows;
}

function separatorOf(text) {
  let best = [0, 1], separator = ",";
  for (const candidate of [",", ";", "\t", "|"]) {
    let widths = [];
    try {
      widths = delimitedRows(text, candidate, 50).map((row) => row.length);
    } catch {
      continue;
    }
    if (!widths.length || widths[0] < 2) continue;
    const agreement = widths.filter((width) => width === widths[0]).length / widths.length;
    if (agreement > best[0] || (agreement === best[0] && widths[0] > best[1])) {
      best = [agreement, widths[0]];
      separator = candidate;
    }
  }
  return separator;
}

function decimalOf(sample, separator) {
  const cells = sample.flat().map((cell) => cell.trim());
  const commas = cells.filter((cell) => /^[+-]?\d+,\d+([eE][+-]?\d+)?$/.test(cell));
  const points = cells.filter((cell) => /^[+-]?\d*\.\d+([eE][+-]?\d+)?$/.test(cell));
  const isCertain = (cell) => !/^[+-]?[1-9]\d{0,2}[.,]\d{3}$/.test(cell);
  if (points.some(isCertain)) return ".";
  return commas.some(isCertain) || (commas.length && !points.length && separator === ";") ? "," : ".";
}

// The table in a text: {names, n, columns: name -> {cells, words, numbers}}.
function readTable(text) {
  const source = text.replace(/^\ufeff/, "").replace(/[\x00-\x08\x0e-\x1f]/g, " ");
  if (!source.trim()) throw new TableProblem("the table is empty.");
  const separator = separatorOf(source), rows = delimitedRows(source, separator);
  let head = rows[0];
  while (head.length > 1 && !head.at(-1).trim()) head = head.slice(0, -1);
  const names = head.map((cell) => cell.trim());
  if (names.every((name) => /^[+-]?\d+([.,]\d+)?([eE][+-]?\d+)?$/.test(name)))
    throw new TableProblem("the first line has only numbers; it must name the columns.");
  if (!names[0]) names[0] = "row";
  const twice = names.find((name, k) => names.indexOf(name) < k);
  if (twice !== undefined) throw new TableProblem(`two columns are called '${twice}'; rename one of them.`);
  const body = rows.slice(1);
  body.forEach((row, i) => {
    if (row.length < names.length || row.slice(names.length).some(Boolean))
      throw new TableProblem(`row ${i + 1} has ${row.length} fields, but the first line names ${names.length} columns.`);
  });
  if (!body.length) throw new TableProblem("the table has column names, but no rows.");
  const decimal = decimalOf(body.slice(0, 50), separator);
  const columns = new Map(names.map((name, k) => [name, columnOf(body.map((row) => row[k]), decimal)]));
  return { names, n: body.length, columns };
}

// A column as pandas reads it: all numbers, all truth values, or words.
function columnOf(cells, decimal) {
  const isGap = cells.map((cell) => MISSING.has(cell)), known = cells.filter((_, i) => !isGap[i]).map((cell) => cell.trim());
  const toPoint = (cell) => (decimal === "," && /^[-+]?\d*,?\d*([eE][-+]?\d+)?$/.test(cell) ? cell.replace(",", ".") : cell);
  const isPlain = decimal === "." ? (cell) => PLAIN.test(cell) : (cell) => !cell.includes(".") && PLAIN.test(toPoint(cell));
  let read = null;
  if (known.every(isPlain) && fitWholeNumbers(known, cells.length)) read = (cell) => plainNumber(toPoint(cell.trim()));
  else if (decimal === "," && known.every((cell) => PLAIN.test(cell))) read = (cell) => dressedNumber(cell.trim(), ",");
  if (read !== null) {
    const numbers = cells.map((cell, i) => (isGap[i] ? NaN : read(cell)));
    return { cells, numbers, words: numbers.map(wordOfNumber) };
  }
  const isTruth = known.every((cell) => /^(True|TRUE|true|False|FALSE|false)$/.test(cell));
  const words = cells.map((cell, i) => (isGap[i] ? "" : asWord(cell)));
  return { cells, numbers: null, words: isTruth ? words.map((word) => word && (/^t/i.test(word) ? "True" : "False")) : words };
}

// Whether whole numbers fit into 64 bits, as pandas needs it where no other number comes first; else a
// column of them is one of words.
function fitWholeNumbers(known, n) {
  let most = 0, least = 0;
  for (const cell of known) {
    if (!/^[-+]?\d+$/.test(cell)) return true;
    most = Math.max(most, Number(cell));
    least = Math.min(least, Number(cell));
    if (most >= 2 ** 64 || least < -(2 ** 63)) return false;
  }
  return most < 2 ** 63 || (least >= 0 && known.length === n);
}

// A number in 15 digits, as Python's "%.15g"; "" where it is missing or too large.
function wordOfNumber(value) {
  if (Number.isNaN(value) || Math.abs(value) > MAX_NUMBER) return "";
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const [digits, power] = value.toExponential(14).split("e"), exponent = Number(power);
  const plain = digits.includes(".") ? digits.replace(/\.?0+$/, "") : digits;
  if (exponent < -4 || exponent >= 15) {
    const size = String(Math.abs(exponent)).padStart(2, "0");
    return `${plain}e${exponent < 0 ? "-" : "+"}${size}`;
  }
  const fixed = value.toFixed(Math.max(0, 14 - exponent));
  return fixed.includes(".") ? fixed.replace(/\.?0+$/, "") : fixed;
}

// --- Checks --------------------------------------------------------------------------------------

const percent = (share) => (share > 0 && share < 0.01 ? "under 1 %" : `${halfEven(100 * share)} %`);

function halfEven(value) {
  const down = Math.floor(value);
  if (value - down !== 0.5) return Math.round(value);
  return down % 2 === 0 ? down : down + 1;
}

function significant(value, digits = 6) {
  if (value === 0) return "0";
  const exponent = Number(value.toExponential(digits - 1).split("e")[1]);
  if (exponent < -4 || exponent >= digits) {
    const [size, power] = value.toExponential(digits - 1).split("e");
    const plain = size.includes(".") ? size.replace(/\.?0+$/, "") : size;
    return `${plain}e${Number(power) < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  const fixed = value.toFixed(Math.max(0, digits - 1 - exponent));
  return fixed.includes(".") ? fixed.replace(/\.?0+$/, "") : fixed;
}

const shownValue = (field, value) => (field.kind === "date" ? isoDate(value) : significant(value));

function quoted(values, most = 5) {
  const rest = values.length > most ? ` and ${values.length - most} more` : "";
  return values.slice(0, most).map((value) => (value.includes("'") && !value.includes('"') ? `"${value}"` : `'${value}'`)).join(", ") + rest;
}

function mostCommon(words) {
  const counts = new Map();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).map(([word]) => word);
}

function logGamma(x) {
  const c = [
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
  ];
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
  const t = x + 6.5;
  const sum = c.reduce((total, each, i) => total + (i ? each / (x - 1 + i) : each), 0);
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}

// Whether fewer of the training rows were affected than now, beyond chance: a beta-binomial tail.
function isFewer(model, count, n, before) {
  if (!count) return false;
  const a = before + 1, b = model.nRows - before + 1, logBeta = (p, q) => logGamma(p) + logGamma(q) - logGamma(p + q);
  let chance = 0;
  for (let k = count; k <= n; k++)
    chance += Math.exp(-Math.log(n + 1) - logBeta(n - k + 1, k + 1) + logBeta(k + a, n - k + b) - logBeta(a, b));
  return chance < 0.05 / model.nColumns;
}

function gapNotes(model, field, missing, n) {
  if (!model.hasGaps) return missing === 1 ? ["all values are missing"] : [];
  if (missing === 1) return field.missing < 1 ? [`all values are missing (${percent(field.missing)} in training)`] : [];
  if (isFewer(model, Math.round(missing * n), n, field.missing * model.nRows))
    return [`${percent(missing)} of the values are missing (${percent(field.missing)} in training)`];
  return [];
}

function allMissing(field, missing, n) {
  return missing === 1 && Math.max(0.05, field.missing) ** n < 0.01 ? "all of its values are missing" : "";
}

// What is unusual about a column, in the words of `kernelwise predict`: {notes, unusable}.
function checkColumn(model, field, column, values) {
  const check = hasRange(field) ? checkNumbers(model, field, column, values) : checkWords(model, field, column);
  return { name: field.name, selected: field.selected, ...check };
}

function checkWords(model, field, column) {
  const { words } = column, n = words.length, present = words.filter((word) => word !== "");
  const missing = 1 - present.length / n, notes = gapNotes(model, field, missing, n);
  let unusable = allMissing(field, missing, n);
  const seen = new Set((field.seen ?? field.choices ?? []).map(String));
  if (seen.size) {
    const isNew = (word) => !seen.has([...word].slice(0, 60).join("")) && !seen.has(String(levelOf(field, word)));
    const fresh = present.filter(isNew);
    if (fresh.length) {
      const named = quoted(mostCommon(fresh), 3), total = field.counts.reduce((sum, count) => sum + count, 0);
      notes.push(`${percent(fresh.length / n)} of the rows have values not seen in training: ${named}`);
      const rate = Math.max(0.05, field.counts.filter((count) => count === 1).length / Math.max(1, total));
      if (fresh.length === present.length && rate ** present.length < 0.01) unusable = `no value was seen in training (${named})`;
    }
  }
  return { notes, unusable };
}

function checkNumbers(model, field, column, values) {
  const n = values.length, { words } = column, isMissing = (value) => value === null || Number.isNaN(value);
  const isStray = values.map((value, i) => {
    if (words[i] === "") return false;
    if (field.kind === "date" && column.numbers !== null) return true;
    return column.numbers === null && isMissing(value) && !MEANS_MISSING.test(words[i]);
  });
  const known = values.filter((value, i) => !isMissing(value) && !isStray[i]);
  const strays = words.filter((_, i) => isStray[i]), missing = (n - known.length - strays.length) / n;
  const notes = gapNotes(model, field, missing, n);
  let unusable = allMissing(field, missing, n);
  if (strays.length) {
    const named = quoted(mostCommon(strays), 3);
    notes.push(`${percent(strays.length / n)} of the rows are not ${field.kind}s: ${named}`);
    if (strays.length > known.length) unusable = `most of its values are not ${field.kind}s (${named})`;
  }
  const [low, high] = field.range, width = high - low, beyond = (value) => Math.max(low - value, value - high);
  const out = [...new Set(known.filter((value) => beyond(value) > 0))].sort((a, b) => a - b);
  const nOut = known.filter((value) => beyond(value) > 0).length;
  if (Math.max(0, ...out.map(beyond)) > width || isFewer(model, nOut, n, 1)) {
    const bounds = `${shownValue(field, low)} to ${shownValue(field, high)}`;
    const shown = shownValue(field, out[0]) + (out.length > 1 ? ` to ${shownValue(field, out.at(-1))}` : "");
    notes.push(`${percent(nOut / n)} of the rows are outside the training range of ${bounds}: ${shown}`);
    const nFar = known.filter((value) => beyond(value) > 10 * width).length;
    if (nFar > known.length / 2) unusable = `most of its values are far outside the training range of ${bounds}: ${shown}`;
  }
  if (field.format?.startsWith("%d/") && known.length && known.every((days) => new Date(Math.floor(days) * DAY * 1000).getUTCDate() <= 12))
    notes.push("dates are read with the day before the month, as in training; no day is above 12");
  return { notes, unusable };
}

// The values of each field in each row of a table, and what is unusual about them.
function fieldsOfTable(model, table) {
  const lacking = model.fields.map((field) => field.name).filter((name) => !table.columns.has(name));
  if (lacking.length) throw new TableProblem(`the table lacks columns that the model needs: ${quoted(lacking)}.`);
  const columns = model.fields.map((field) => fieldValues(field, table.columns.get(field.name)));
  const checks = model.fields.map((field, f) => checkColumn(model, field, table.columns.get(field.name), columns[f]));
  const known = new Set(model.known), extra = table.names.filter((name) => !known.has(name));
  const rows = Array.from({ length: table.n }, (_, i) => columns.map((values) => values[i]));
  return { rows, checks: checks.filter((check) => check.notes.length), extra };
}
