// The embedded table (threshold, tp, fp), and what is true at one of its points.

const DATA = JSON.parse(document.getElementById("assay-data").textContent);
const THRESHOLDS = DATA.sweep.threshold.map((t) => (t === null ? Infinity : t));
const POINTS = THRESHOLDS.length;

// Where the report stands in the table; -1 where decisions were given, which need not lie on it.
const REPORT = DATA.threshold === null ? -1 : indexAt(DATA.threshold);

// The point that decides like any threshold: the lowest score that is flagged at it.
function indexAt(threshold) {
  let index = 0;
  while (index + 1 < POINTS && THRESHOLDS[index + 1] >= threshold) index += 1;
  return index;
}

// What is left of a total; sums of weights leave a little where nothing is left.
function rest(total, part) {
  const left = total - part;
  return DATA.weighted && left < 1e-12 * total ? 0 : left;
}

function pointAt(index) {
  const atReport = index === REPORT;
  const [tp, fp] = [DATA.sweep.tp[index], DATA.sweep.fp[index]];
  const cells = { tp, fp, fn: rest(DATA.positives, tp), tn: rest(DATA.negatives, fp) };
  return {
    index,
    atReport,
    threshold: atReport ? DATA.threshold : THRESHOLDS[index],
    cells: atReport ? DATA.decided : cells,
  };
}

const valueOf = (name, { tp, fp, fn, tn }) => FORMULAS[name](tp, fp, fn, tn);

// Both ends of a measure's interval: the report's own there, Wilson's for shares elsewhere.
function intervalOf(name, point) {
  if (point.atReport) return DATA.shown_at[name]?.slice(1, 3).map(orNaN) ?? [NaN, NaN];
  if (!DATA.counted || !(name in SHARES)) return [NaN, NaN];
  const { tp, fp, fn, tn } = point.cells;
  return wilson(...SHARES[name](tp, fp, fn, tn));
}

const orNaN = (number) => number ?? NaN;

function wilson(successes, trials) {
  if (trials === 0) return [NaN, NaN];
  const z2 = DATA.z ** 2;
  const share = successes / trials;
  const centre = share + z2 / (2 * trials);
  const reach = DATA.z * Math.sqrt((share * (1 - share)) / trials + z2 / (4 * trials ** 2));
  const low = successes <= 0 ? 0 : (centre - reach) / (1 + z2 / trials);
  const high = successes >= trials ? 1 : (centre + reach) / (1 + z2 / trials);
  return [Math.max(low, 0), Math.min(high, 1)];
}

// The cells, as shares of all rows, if a share `rate` of them were positive.
function atBaseRate(cells, rate) {
  return {
    tp: rate * valueOf("recall", cells),
    fn: rate * valueOf("false_negative_rate", cells),
    fp: (1 - rate) * valueOf("false_positive_rate", cells),
    tn: (1 - rate) * valueOf("specificity", cells),
  };
}
