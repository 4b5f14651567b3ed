// The model: from encoded columns to probabilities, numbers and intervals, in the arithmetic of Python.
// Python rounds scores, lines and additive columns to float32; so does this.
const round32 = Math.fround;

// Put the arrays of the page where the model refers to them: {"$": [type, offset, count]}.
function withArrays(data, bytes) {
  const types = { f8: Float64Array, f4: Float32Array, i4: Int32Array, u1: Uint8Array };
  const revive = (each) => {
    if (Array.isArray(each)) return each.map(revive);
    if (each === null || typeof each !== "object") return each;
    if (each.$ !== undefined) return new types[each.$[0]](bytes.buffer, each.$[1], each.$[2]);
    return Object.fromEntries(Object.entries(each).map(([name, value]) => [name, revive(value)]));
  };
  return revive(data);
}

function bytesOf(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

// The number of values in [start, stop) below x, or up to x: numpy.searchsorted.
function countBelow(values, x, start, stop, withEqual = false) {
  let low = start, high = stop;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < x || (withEqual && values[middle] === x)) low = middle + 1;
    else high = middle;
  }
  return low - start;
}

// --- Columns -------------------------------------------------------------------------------------

// The code or number of each input; a gap of a number is its median, and marks are behind all inputs.
function encoded(model, values) {
  const out = new Float64Array(model.inputs.length + model.marked.length);
  model.inputs.forEach((input, j) => {
    const value = values[j];
    if (input.codes !== null) out[j] = codeOf(input, value);
    else out[j] = value === null || Number.isNaN(value) ? input.median : value;
  });
  model.marked.forEach((j, k) => {
    const isGap = values[j] === null || Number.isNaN(values[j]);
    out[model.inputs.length + k] = isGap ? model.gap : 0;
  });
  return out;
}

function codeOf(input, value) {
  const { levels, missing } = input.codes;
  if (value === null || Number.isNaN(value)) return missing ? levels.length + 1 : 0;
  input.places ??= new Map(levels.map((level, k) => [level, k + 1]));
  return input.places.get(value) ?? 0;
}

// A row as a member reads it: scores and codes Z, lines, and places of bins and levels.
function rowOf(member, E) {
  const own = member.columns, d = own.category.length;
  const row = { Z: new Float64Array(d), lines: new Float64Array(d), places: new Int32Array(d) };
  for (let j = 0; j < d; j++) {
    const x = E[member.encoded[j]];
    row.Z[j] = round32(own.stops[j + 1] > own.stops[j] ? heightAt(own, j, x) / own.sizes[j] : x);
    const line = (x - own.means[j]) / own.deviations[j];
    row.lines[j] = round32(Math.min(Math.max(line, -CONSTANTS.cut), CONSTANTS.cut));
    row.places[j] = placeOf(own, j, x);
  }
  return row;
}

function heightAt(own, j, x) {
  const start = own.stops[j], stop = own.stops[j + 1];
  const i = Math.max(start, start + countBelow(own.knots, x, start, stop, true) - 1);
  if (i === stop - 1 || x <= own.knots[i]) return own.scores[i];
  const slope = (own.scores[i + 1] - own.scores[i]) / (own.knots[i + 1] - own.knots[i]);
  return slope * (x - own.knots[i]) + own.scores[i];
}

function placeOf(own, j, x) {
  if (!own.category[j]) return countBelow(own.cuts, x, own.cutStops[j], own.cutStops[j + 1]);
  const start = own.levelStops[j], n = own.levelStops[j + 1] - start;
  return x >= 0 && x < n ? own.levels[start + x] : own.starts[j + 1] - own.starts[j] - 1;
}

// --- Parts ---------------------------------------------------------------------------------------

function addAdditive(part, row, out) {
  const k = out.length;
  for (let o = 0; o < k; o++) out[o] += part.constant[o];
  for (let i = 0; i < part.numbers.length; i++) {
    const j = part.numbers[i];
    const line = round32(row.lines[j] * part.scales[i]);
    const score = round32(round32(row.Z[j] * CONSTANTS.score) * part.scales[i]);
    for (let o = 0; o < k; o++) out[o] += line * part.lines[i * k + o] + score * part.scores[i * k + o];
  }
  for (let i = 0; i < part.binned.length; i++) {
    const at = (part.starts[i] + row.places[part.binned[i]]) * k;
    for (let o = 0; o < k; o++) out[o] += part.tables[at + o];
  }
}

// The columns that the Gaussian kernel reads, each with the one that its weight belongs to.
function gaussianColumns(member, own, Z, lines) {
  const values = [], sources = [], { tops, topStops } = member.columns;
  for (const j of own.numbers) {
    values.push(round32(lines[j] * CONSTANTS.score));
    sources.push(j);
  }
  for (const j of own.categories)
    for (let t = topStops[j]; t < topStops[j + 1]; t++) {
      values.push(Z[j] === tops[t] ? CONSTANTS.hit : 0);
      sources.push(j);
    }
  return { values, sources };
}

const rowAt = (matrix, width, i) => matrix.subarray(i * width, (i + 1) * width);

// Rows of a kernel, times its weights: made once, when they are first compared with.
function preparedKernel(member, kernel) {
  if (kernel.prepared) return kernel.prepared;
  const d = member.columns.category.length, m = kernel.Z.length, prepared = { m };
  if (kernel.laplacian) {
    const { columns, weights } = kernel.laplacian;
    const split = [0, 1].map((c) => [...columns.keys()].filter((i) => member.columns.category[columns[i]] === c));
    prepared.laplacian = split.map((own, isCategory) => {
      const w = own.map((i) => weights[i]), at = own.map((i) => columns[i]);
      const values = new Float64Array(m * own.length);
      for (let r = 0; r < m; r++) {
        const Z = rowAt(member.Z, d, kernel.Z[r]);
        for (let c = 0; c < at.length; c++) values[r * at.length + c] = Z[at[c]] * (isCategory ? 1 : w[c]);
      }
      return { at, w, values };
    });
  }
  if (kernel.gaussian) {
    const rows = [];
    for (let r = 0; r < m; r++) {
      const Z = rowAt(member.Z, d, kernel.Z[r]), lines = rowAt(member.lines, d, kernel.lines[r]);
      const { values, sources } = gaussianColumns(member, kernel.gaussian, Z, lines);
      rows.push(values.map((value, c) => value * kernel.gaussian.weights[sources[c]]));
    }
    prepared.gaussian = Float64Array.from(rows.flat());
  }
  kernel.prepared = prepared;
  return prepared;
}

function addKernel(member, kernel, row, out) {
  const prepared = preparedKernel(member, kernel), m = prepared.m, k = out.length;
  const values = new Float64Array(m);
  if (kernel.laplacian) {
    const [numbers, categories] = prepared.laplacian;
    const x = Float64Array.from(numbers.at, (j, c) => row.Z[j] * numbers.w[c]);
    const codes = Float64Array.from(categories.at, (j) => row.Z[j]);
    const n = x.length, l = codes.length, limits = Float64Array.from(categories.w);
    const { amplitude } = kernel.laplacian;
    for (let r = 0; r < m; r++) {
      let distance = 0;
      for (let c = 0, at = r * n; c < n; c++, at++) distance += Math.abs(x[c] - numbers.values[at]);
      for (let c = 0, at = r * l; c < l; c++, at++) if (codes[c] !== categories.values[at]) distance += limits[c];
      values[r] = amplitude * Math.exp(-distance);
    }
  }
  if (kernel.gaussian) {
    const { values: own, sources } = gaussianColumns(member, kernel.gaussian, row.Z, row.lines);
    const x = Float64Array.from(own, (value, c) => value * kernel.gaussian.weights[sources[c]]);
    const { amplitude, rho } = kernel.gaussian, q = x.length, rows = prepared.gaussian;
    for (let r = 0; r < m; r++) {
      let square = 0;
      for (let c = 0, at = r * q; c < q; c++, at++) square += (x[c] - rows[at]) * (x[c] - rows[at]);
      values[r] += amplitude * Math.exp((-rho / 2) * square);
    }
  }
  const { coefs, starts, outputs } = kernel;
  for (let r = 0; r < m; r++)
    if (starts === null) for (let o = 0; o < k; o++) out[o] += values[r] * coefs[r * k + o];
    else for (let i = starts[r]; i < starts[r + 1]; i++) out[outputs[i]] += values[r] * coefs[i];
}

// The cell of a row: the tree projects it on a direction at each node.
function cellOf(member, route, row) {
  const { values, sources } = gaussianColumns(member, route, row.Z, row.lines);
  const x = values.map((value, c) => round32(value * route.weights[sources[c]]));
  let node = 0;
  while (node >= 0) {
    let projection = 0;
    for (let c = 0; c < x.length; c++) projection += x[c] * route.directions[node * x.length + c];
    node = route.children[2 * node + (projection <= route.cuts[node] ? 0 : 1)];
  }
  return -node - 1;
}

const widthOf = (part) =>
  part.kind === "machine" ? part.intercept.length : (part.additive ?? part.trees[0].cells[0].additive).constant.length;

function decisionsOf(member, part, row) {
  if (part.kind === "several") return part.models.flatMap((each) => [...decisionsOf(member, each, row)]);
  const out = new Float64Array(widthOf(part));
  if (part.kind === "machine") {
    addKernel(member, part.kernel, row, out);
    return out.map((value, o) => value + part.intercept[o]);
  }
  if (part.kind === "joint") {
    addAdditive(part.additive, row, out);
    if (part.kernel !== null) addKernel(member, part.kernel, row, out);
    return out;
  }
  for (const tree of part.trees) {
    const cell = tree.cells[tree.route === undefined ? 0 : cellOf(member, tree.route, row)];
    addAdditive(cell.additive, row, out);
    for (const kernel of cell.kernels) addKernel(member, kernel, row, out);
  }
  return out.map((value) => value / part.trees.length);
}

// --- From pairs of classes to classes ------------------------------------------------------------

const sigmoid = (z) => (z >= 0 ? 1 / (1 + Math.exp(-z)) : Math.exp(z) / (1 + Math.exp(z)));
const clipped = (p) => Math.min(Math.max(p, CONSTANTS.clip), 1 - CONSTANTS.clip);

function coupledLogOdds(pairs, decisions) {
  const k = pairs.classes, P = Array.from({ length: k }, () => new Float64Array(k));
  for (let a = 0, pair = 0; a < k; a++)
    for (let b = a + 1; b < k; b++, pair++) {
      P[a][b] = clipped(sigmoid(pairs.slope[pair] * decisions[pair] + pairs.intercept[pair]));
      P[b][a] = 1 - P[a][b];
    }
  const A = Array.from({ length: k + 1 }, () => new Float64Array(k + 2));
  for (let a = 0; a < k; a++) {
    A[a][a] = 1e-9;
    for (let b = 0; b < k; b++)
      if (b !== a) {
        A[a][a] += P[b][a] * P[b][a];
        A[a][b] = -P[b][a] * P[a][b];
      }
    A[a][k] = A[k][a] = 1;
  }
  A[k][k + 1] = 1;
  const p = solved(A).slice(0, k).map((each) => Math.max(each, 1e-7));
  const total = p.reduce((sum, each) => sum + each, 0);
  return p.map((each) => clipped(each / total)).map((each) => Math.log(each) - Math.log1p(-each));
}

// The solution of equations, whose last column is the right side, by elimination with pivots.
function solved(A) {
  const n = A.length;
  for (let i = 0; i < n; i++) {
    let pivot = i;
    for (let r = i + 1; r < n; r++) if (Math.abs(A[r][i]) > Math.abs(A[pivot][i])) pivot = r;
    [A[i], A[pivot]] = [A[pivot], A[i]];
    for (let r = i + 1; r < n; r++) {
      const factor = A[r][i] / A[i][i];
      for (let c = i; c <= n; c++) A[r][c] -= factor * A[i][c];
    }
  }
  const x = new Float64Array(n);
  for (let i = n - 1; i >= 0; i--) {
    let sum = A[i][n];
    for (let c = i + 1; c < n; c++) sum -= A[i][c] * x[c];
    x[i] = sum / A[i][i];
  }
  return [...x];
}

// --- Shifts by levels ----------------------------------------------------------------------------

function addShift(family, row, out) {
  const { first, second, cuts, keys, shifts } = family;
  const own = cuts === null ? Math.trunc(row.Z[second]) : countBelow(cuts, row.Z[second], 0, cuts.length);
  const key = first === second ? own : row.Z[first] * CONSTANTS.key + own;
  const at = Math.min(countBelow(keys, key, 0, keys.length), keys.length - 1);
  if (keys[at] === key) for (let o = 0; o < out.length; o++) out[o] += shifts[at * out.length + o];
}

// --- Classes -------------------------------------------------------------------------------------

// Log-odds of the second of two classes, or one score per class.
function scoresOf(model, E) {
  const total = new Float64Array(model.members[0].offset.length);
  for (const member of model.members) {
    const row = rowOf(member, E), out = Float64Array.from(member.offset);
    for (const part of member.parts) {
      let decisions = decisionsOf(member, part.model, row);
      if (part.pairs !== null) decisions = coupledLogOdds(part.pairs, decisions);
      for (let o = 0; o < out.length; o++) out[o] += decisions[o] * part.slope[o];
    }
    for (const family of member.families) addShift(family, row, out);
    for (let o = 0; o < out.length; o++) total[o] += out[o];
  }
  return [...total].map((value) => value / model.members.length);
}

// Probabilities with the shares that the classes have in the table, whatever their weights.
function probabilitiesOf(scores, logWeights) {
  if (scores.length === 1) {
    const second = sigmoid(scores[0] - (logWeights[1] - logWeights[0]));
    return [1 - second, second];
  }
  const z = scores.map((score, c) => score - logWeights[c]), most = Math.max(...z);
  const sizes = z.map((each) => Math.exp(each - most));
  const total = sizes.reduce((sum, each) => sum + each, 0);
  return sizes.map((each) => each / total);
}

function predictedClass(scores) {
  return scores.length === 1 ? Number(scores[0] > 0) : scores.indexOf(Math.max(...scores));
}

// --- Numbers -------------------------------------------------------------------------------------

function backOf(target, t) {
  if (target.power === null) return target.centre + target.scale * t;
  const [low, high] = target.limits, { power, quantiles } = target;
  let sum = 0;
  for (const q of quantiles) {
    const z = target.centre + target.scale * Math.min(Math.max(t + q, low), high);
    sum += Math.abs(power) < 1e-3 ? Math.exp(z) : Math.max(1 + power * z, 1e-12) ** (1 / power);
  }
  return target.shift + sum / quantiles.length;
}

function memberNumber(member, row) {
  const out = new Float64Array(1);
  for (const part of member.parts) {
    const decisions = decisionsOf(member, part.model, row);
    part.targets.forEach((target, j) => (out[0] += part.weights[j] * backOf(target, decisions[j])));
  }
  for (const family of member.families) addShift(family, row, out);
  return out[0];
}

// The prediction and its deviation, before the floor.
function locatedNumber(target, E) {
  const rows = target.members.map((member) => rowOf(member, E));
  const sum = target.members.reduce((total, member, i) => total + memberNumber(member, rows[i]), 0);
  const f = (target.slope * sum) / rows.length + target.shift;
  const own = target.deviation, [low, high] = own.range;
  const Z = [...own.columns].map((j) => rows[0].Z[j]);
  const near = Math.min(Math.max(f, 2 * low - high), 2 * high - low);
  const above = Math.max(near - low, 0.01 * (high - low) + 1e-12);
  const H = [...Z, ...Z.map(Math.abs), near, Math.log(above)];
  let log = own.centre;
  H.forEach((h, c) => (log += ((h - own.mean[c]) / own.deviation[c]) * own.coefficients[c]));
  return { f, deviation: Math.min(Math.max(Math.exp(log), own.limits[0]), own.limits[1]) };
}

function numberOf(target, E, level) {
  const { f, deviation } = locatedNumber(target, E), { ratios } = target, n = ratios.length;
  const k = Math.max(Math.floor(((1 - level) / 2) * (n + 1) + 1e-9), 1);
  const floor = target.floor ?? -Infinity;
  const [value, low, high] = [0, ratios[k - 1], ratios[n - k]].map((r) => Math.max(f + deviation * r, floor));
  return { value, low, high };
}
