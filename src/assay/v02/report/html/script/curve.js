// One measure against another at every point of the table.

const CURVES = [
  { id: "roc", across: "false_positive_rate", up: "recall", first: "across", chance: true },
  { id: "far-dr", across: "false_discovery_rate", up: "recall", first: "across", legend: "right" },
  { id: "precision-recall", across: "recall", up: "precision", first: "up", legend: "left" },
  { id: "det", across: "false_positive_rate", up: "false_negative_rate", first: "across", probit: true },
  { id: "gain", across: "alert_rate", up: "recall", first: "across", chance: true, legend: "right" },
];

function curve(kind, choose) {
  const { across, up, first } = kind;
  const figure = document.getElementById(`plot-${kind.id}`);
  const svg = figure.querySelector("svg");
  const readout = figure.querySelector(".readout");
  const title = svg.getAttribute("aria-label");
  const cells = Array.from({ length: POINTS }, (_, i) => pointAt(i).cells);
  const kept = (i) => !kind.probit || !(cells[i - 1]?.fn === 0 || cells[i + 1]?.fp === 0);
  const [xs, ys] = [across, up].map((name) =>
    cells.map((each, i) => (kept(i) ? valueOf(name, each) : NaN)),
  );
  const { left, right, top, bottom } = FRAME;
  const y = kind.probit
    ? probitScale(DATA.positives, bottom, top)
    : scale(0, 1, bottom, top);
  let x = kind.probit ? probitScale(DATA.negatives, left, right) : scale(0, 1, left, right);
  let parts = {};
  let [shown, rate] = [null, NaN];

  // Everything that depends on the scale across.
  const layOut = (log) => {
    svg.replaceChildren();
    const floor = 10 ** Math.floor(Math.log10(1 / Math.max(DATA.negatives, 10)));
    if (!kind.probit) x = log ? logScale(floor, left, right) : scale(0, 1, left, right);
    const xTicks = x.ticks ?? (log ? decades(floor) : ticks(0, 1));
    const [xLabel, yLabel] = [TITLES[across][0], TITLES[up][0]];
    axes(svg, { x, y, xTicks, yTicks: y.ticks ?? ticks(0, 1), xLabel, yLabel });
    if (kind.chance || kind.probit) draw(svg, "path", { class: "chance", d: diagonal(x, y) });
    if (kind.probit) equalErrors(svg, xs, ys, x, y);
    parts = {
      deployed: kind.legend && draw(svg, "path", { class: "deployed" }),
      curve: draw(svg, "path", { class: "curve", d: steps(xs, ys, x, y, first) }),
      legend: kind.legend && legend(svg, kind.legend),
      bars: draw(svg, "path", { class: "bars" }),
      dot: draw(svg, "circle", { class: "handle", r: 6.5 }),
    };
  };
  layOut(false);

  draggable(svg, (h, v) => {
    let [best, least] = [-1, Infinity];
    for (let i = 0; i < POINTS; i += 1) {
      const far = (x(xs[i]) - h) ** 2 + (y(ys[i]) - v) ** 2;
      if (far < least) [best, least] = [i, far];
    }
    if (best >= 0) choose(best);
  });

  const plot = {
    show(point) {
      shown = point;
      const here = [across, up].map((name) => valueOf(name, point.cells));
      const [from, to] = intervalOf(across, point).map(x);
      const [low, high] = intervalOf(up, point).map(y);
      const defined = !here.some(Number.isNaN);
      parts.dot.toggleAttribute("hidden", !defined);
      const certain = defined && !Number.isNaN(from + low);
      parts.bars.toggleAttribute("hidden", !certain);
      const [h, v] = [x(here[0]), y(here[1])];
      if (defined) change(parts.dot, { cx: h, cy: v });
      if (certain) change(parts.bars, { d: `M${from} ${v}H${to}M${h} ${low}V${high}` });
      const said = (form) =>
        [across, up].map((name, i) => `${TITLES[name][form]} ${measured(here[i])[0]}`);
      readout.textContent = said(1).join(" · ");
      svg.setAttribute("aria-label", `${title}. At this threshold: ${said(0).join(", ")}`);
    },
    deploy(chosen) {
      rate = chosen;
      if (!kind.legend) return;
      const there = cells.map((each) => atBaseRate(each, rate));
      const [h, v] = [across, up].map((name) => there.map((each) => valueOf(name, each)));
      change(parts.deployed, { d: steps(h, v, x, y, first) });
      parts.legend.textContent = `base rate ${shownRate(rate)}`;
    },
  };
  figure.querySelector("button")?.addEventListener("click", ({ currentTarget: button }) => {
    const log = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(log));
    layOut(log);
    plot.deploy(rate);
    plot.show(shown);
  });
  return plot;
}

// Where both measures are the same: a line, bent where the scale across is not even, from where it
// leaves the lower border.
function diagonal(x, y) {
  const points = [];
  for (let at = FRAME.left; at <= FRAME.right; at += 4) {
    const point = `${at} ${y(x.back(at)).toFixed(2)}`;
    if (points.length === 1 && y(x.back(at - 4)) >= FRAME.bottom) points.pop();
    points.push(point);
  }
  return `M${points.join("L")}`;
}

// Where the steps meet the diagonal: the least rate that both errors keep.
function equalErrors(svg, xs, ys, x, y) {
  const both = xs.map((each, i) => Math.max(each, ys[i]));
  const rate = Math.min(...both.filter((each) => !Number.isNaN(each)));
  if (!(rate > 0 && rate < 1)) return;
  const [h, v] = [x(rate), y(rate)];
  draw(svg, "path", { class: "equal", d: `M${h} ${v - 5}l5 5l-5 5l-5 -5z` });
  const place = { x: FRAME.right - 8, y: FRAME.top + 14, "text-anchor": "end" };
  draw(svg, "text", { class: "legend", ...place }, "◇ equal errors");
}

// Which line is of the test set, and which of the base rate that was chosen.
function legend(svg, side) {
  const [start, y] = [side === "right" ? FRAME.right - 128 : FRAME.left + 12, FRAME.bottom - 30];
  const group = draw(svg, "g", { class: "legend" });
  draw(group, "path", { class: "curve", d: `M${start} ${y}h18` });
  draw(group, "text", { x: start + 25, y: y + 4 }, "test set");
  draw(group, "path", { class: "deployed", d: `M${start} ${y + 17}h18` });
  return draw(group, "text", { x: start + 25, y: y + 21 }, "");
}
