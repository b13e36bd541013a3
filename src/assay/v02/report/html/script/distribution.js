// The scores of both classes, as shares of each class: positives above the line, negatives below.

const BINS = 48;

function distribution(choose) {
  const figure = document.getElementById("plot-scores");
  const svg = figure.querySelector("svg");
  const readout = figure.querySelector(".readout");
  const title = svg.getAttribute("aria-label");
  const { left, right, top, bottom } = FRAME;
  const finite = THRESHOLDS.filter(Number.isFinite);
  let [low, high] = [Math.min(...finite), Math.max(...finite)];
  if (low >= 0 && high <= 1) [low, high] = [0, 1];
  const x = scale(low, high, left, right);
  const { up, down } = bins(low, high);
  const most = Math.max(...up, ...down, 1e-9);
  // Rare scores would vanish on an even scale: heights grow with the root of the share.
  const middle = (top + bottom) / 2;
  const height = (share) => Math.sqrt(share / most) * (middle - top - 4);
  const shares = [0.01, 0.1, 0.5].filter((share) => share < most);
  const marks = (sign) => shares.map((share) => [sign * share, `${100 * share}%`]);
  const y = (share) => middle - Math.sign(share) * height(Math.abs(share));
  axes(svg, {
    x,
    y,
    xTicks: ticks(low, high),
    yTicks: [...marks(1), ...marks(-1)],
    xLabel: "score",
    yLabel: "share of its class (root scale)",
  });
  const step = (right - left) / BINS;
  const bar = (share, i, sign) =>
    share ? `M${left + i * step} ${middle}v${-sign * height(share)}h${step}V${middle}z` : "";
  const bars = (shares, sign) => shares.map((share, i) => bar(share, i, sign)).join("");
  draw(svg, "path", { class: "positives", d: bars(up, 1) });
  draw(svg, "path", { class: "negatives", d: bars(down, -1) });
  draw(svg, "line", { class: "axis", x1: left, x2: right, y1: middle, y2: middle });
  draw(svg, "text", { class: "legend positive", x: left + 8, y: top + 14 }, DATA.positive);
  const end = { x: right - 8, y: bottom - 8, "text-anchor": "end" };
  draw(svg, "text", { class: "legend negative", ...end }, DATA.negative);
  const line = draw(svg, "line", { class: "cut", y1: top, y2: bottom });
  const dot = draw(svg, "circle", { class: "handle", r: 6.5, cy: middle });

  draggable(svg, (h) => {
    const wanted = x.back(h);
    let best = 0;
    THRESHOLDS.forEach((t, i) => {
      if (Math.abs(t - wanted) < Math.abs(THRESHOLDS[best] - wanted)) best = i;
    });
    choose(h >= right ? 0 : best);
  });

  return {
    show(point) {
      const given = point.threshold !== null;
      line.toggleAttribute("hidden", !given);
      dot.toggleAttribute("hidden", !given);
      if (given) {
        const at = Math.min(Math.max(x(point.threshold), left), right);
        change(line, { x1: at, x2: at });
        change(dot, { cx: at });
      }
      const said = given ? `flagged from ${shownThreshold(point)} on` : "decisions were given";
      readout.textContent = said;
      svg.setAttribute("aria-label", `${title}: ${said}`);
    },
    deploy() {},
  };
}

// What each step of the table adds, put where its score lies.
function bins(low, high) {
  const [up, down] = [new Array(BINS).fill(0), new Array(BINS).fill(0)];
  const at = scale(low, high, 0, BINS);
  for (let i = 1; i < POINTS; i += 1) {
    const bin = Math.min(Math.max(Math.floor(at(THRESHOLDS[i])), 0), BINS - 1);
    up[bin] += ratio(DATA.sweep.tp[i] - DATA.sweep.tp[i - 1], DATA.positives) || 0;
    down[bin] += ratio(DATA.sweep.fp[i] - DATA.sweep.fp[i - 1], DATA.negatives) || 0;
  }
  return { up, down };
}
