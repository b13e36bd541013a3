// What decisions are worth: the decision curve and the cost curve.

const GRID = 200;

// How far a sum of two weighted shares reaches below and above: Wilson's distances of both, squared
// and added. Shares of the same rows are correlated.
function reaches(parts, together) {
  const ends = parts.map(([weight, successes, trials]) => {
    const share = successes / trials;
    const far = wilson(successes, trials).map((end) => Math.abs(weight * (end - share)));
    return weight < 0 ? [far[1], far[0]] : far;
  });
  const [p, q] = parts.map(([, successes, trials]) => successes / trials);
  const size = together ? Math.sqrt((p * q) / ((1 - p) * (1 - q))) : 0;
  const sign = -Math.sign(parts[0][0] * parts[1][0]);
  const between = Number.isFinite(size) ? sign * size : 0;
  return [0, 1].map((side) => {
    const [a, b] = [ends[0][side], ends[1][side]];
    return Math.sqrt(Math.max(a * a + b * b + 2 * between * a * b, 0));
  });
}

// Lines and a band on one frame; `known` are values and how far they reach.
function worthPlot(id, choose, { lines, known, xLabel, yLabel, low, high }) {
  const figure = document.getElementById(`plot-${id}`);
  const svg = figure.querySelector("svg");
  const readout = figure.querySelector(".readout");
  const title = svg.getAttribute("aria-label");
  const x = scale(0, 1, FRAME.left, FRAME.right);
  const inside = (number) => Math.min(Math.max(number, low), high);
  const up = scale(low, high, FRAME.bottom, FRAME.top);
  const y = (number) => up(inside(number));
  axes(svg, { x, y, xTicks: ticks(0, 1), yTicks: ticks(low, high), xLabel, yLabel });
  const place = ([h, v]) => `${x(h).toFixed(2)} ${up(v).toFixed(2)}`;
  const path = (points) => {
    const shown = points.filter(([, v]) => v >= low && v <= high);
    return shown.length ? `M${shown.map(place).join("L")}` : "";
  };
  if (DATA.counted) {
    const [below, above] = [0, 1].map((side) =>
      known.map(({ at, value, reach }) => [at, inside(value + (side ? reach[1] : -reach[0]))]),
    );
    draw(svg, "path", { class: "spread", d: `${path([...above, ...below.reverse()])}z` });
  }
  for (const [name, points] of lines) draw(svg, "path", { class: name, d: path(points) });
  draw(svg, "path", { class: "curve", d: path(known.map(({ at, value }) => [at, value])) });
  draggable(svg, (h) => choose(Math.min(Math.max(x.back(h), 0), 1)));
  const say = (said) => {
    readout.textContent = said;
    svg.setAttribute("aria-label", `${title}. ${said}`);
  };
  return { svg, x, y, path, say };
}

const even = (last) => Array.from({ length: GRID + 1 }, (_, i) => (last * i) / GRID);

// Net benefit where scores of t and above are flagged, at the costs that t stands for.
function decisionCurve(choose) {
  const rows = DATA.positives + DATA.negatives;
  const benefit = ({ tp, fp, fn, tn }, t) => PRICED.net_benefit(tp, fp, fn, tn, t, 1 - t);
  const reach = ({ tp, fp }, t) => reaches([[1, tp, rows], [-t / (1 - t), fp, rows]], true);
  const all = { tp: DATA.positives, fp: DATA.negatives, fn: 0, tn: 0 };
  const known = even(0.995).map((t) => {
    const { cells } = pointAt(indexAt(t));
    return { at: t, value: benefit(cells, t), reach: reach(cells, t) };
  });
  const top = Math.max(...known.map(({ value }) => value)) || 0.01;
  const [low, high] = [-0.25 * top, 1.15 * top];
  // Where the line of flagging everything leaves the frame.
  const last = (all.tp / rows - low) / (1 - low);
  const plot = worthPlot("decision", (t) => choose(indexAt(t)), {
    known,
    lines: [
      ["trivial", even(Math.min(last, 0.995)).map((t) => [t, benefit(all, t)])],
      ["chance", [[0, 0], [1, 0]]],
    ],
    xLabel: "threshold probability",
    yLabel: "net benefit",
    low,
    high,
  });
  keys(plot.svg, { trivial: "flag everything", chance: "flag nothing" }, FRAME.right - 116);
  const bars = draw(plot.svg, "path", { class: "bars" });
  const dot = draw(plot.svg, "circle", { class: "handle", r: 6.5 });
  return {
    show({ threshold: t, cells }) {
      const defined = t !== null && t >= 0 && t < 1;
      dot.toggleAttribute("hidden", !defined);
      bars.toggleAttribute("hidden", !defined || !DATA.counted);
      if (!defined) return plot.say("a threshold that is no probability has no net benefit");
      const value = benefit(cells, t);
      const [below, above] = reach(cells, t);
      const h = plot.x(t);
      change(dot, { cx: h, cy: plot.y(value) });
      change(bars, { d: `M${h} ${plot.y(value - below)}V${plot.y(value + above)}` });
      const ends = DATA.counted ? [value - below, value + above] : [];
      return plot.say(`net benefit ${measured(value, ...ends).join(" ").trim()}`);
    },
    deploy() {},
  };
}

// Normalised expected cost: FNR PC + FPR (1 - PC), of the threshold that is best at each PC.
function costCurve(choose) {
  const { positives, negatives } = DATA;
  const rates = (cells) =>
    ["false_negative_rate", "false_positive_rate"].map((name) => valueOf(name, cells));
  const table = Array.from({ length: POINTS }, (_, i) => pointAt(i).cells);
  const errors = table.map(rates);
  const costOf = ([fnr, fpr], pc) => fnr * pc + fpr * (1 - pc);
  const best = (pc) =>
    errors.reduce((best, each, i) => (costOf(each, pc) < costOf(errors[best], pc) ? i : best), 0);
  const known = even(1).map((pc) => {
    const i = best(pc);
    const parts = [[pc, table[i].fn, positives], [1 - pc, table[i].fp, negatives]];
    return { at: pc, value: costOf(errors[i], pc), reach: reaches(parts, false) };
  });
  const high = Math.min(0.55, 3 * Math.max(...known.map(({ value }) => value)) || 0.1);
  // Cut where it leaves the frame; nothing where all of it lies above.
  const line = (fnr, fpr) => {
    const cut = (high - fpr) / (fnr - fpr);
    const ends = [fpr > high ? cut : 0, fnr > high ? cut : 1];
    return fpr > high && fnr > high ? [] : ends.map((pc) => [pc, Math.min(costOf([fnr, fpr], pc), high)]);
  };
  const plot = worthPlot("cost", (pc) => choose(best(pc)), {
    known,
    lines: [["trivial", line(0, 1)], ["chance", line(1, 0)]],
    xLabel: "probability cost (PC)",
    yLabel: "normalised expected cost",
    low: 0,
    high,
  });
  const used = draw(plot.svg, "path", { class: "deployed" });
  const names = { trivial: "flag everything", chance: "flag nothing", deployed: "this threshold" };
  keys(plot.svg, names, (FRAME.left + FRAME.right) / 2 - 50);
  return {
    show({ cells }) {
      const own = rates(cells);
      change(used, { d: plot.path(line(...own)) });
      // Between which PC no other threshold is cheaper.
      let [from, to] = [0, 1];
      for (const [fnr, fpr] of errors) {
        const [slope, room] = [own[0] - fnr - (own[1] - fpr), fpr - own[1]];
        if (slope > 0) to = Math.min(to, room / slope);
        else if (slope < 0) from = Math.max(from, room / slope);
        else if (room < 0) to = -1;
      }
      const best = to > from ? `best at PC ${significant(from, 2)} to ${significant(to, 2)}` : "";
      const more = known.map(({ at, value }) => costOf(own, at) - value);
      const near = known[more.indexOf(Math.min(...more))].at;
      plot.say(best || `never the very best; nearest to it at PC ${significant(near, 2)}`);
    },
    deploy() {},
  };
}

// What the lines are.
function keys(svg, names, start) {
  const group = draw(svg, "g", { class: "legend" });
  Object.entries(names).forEach(([name, text], i) => {
    const y = FRAME.top + 12 + 17 * i;
    draw(group, "path", { class: name, d: `M${start} ${y}h18` });
    draw(group, "text", { x: start + 25, y: y + 4 }, text);
  });
}
