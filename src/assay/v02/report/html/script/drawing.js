// Small pieces of SVG.

const SVG = "http://www.w3.org/2000/svg";

// The frame that all plots share, in units of their view box.
const FRAME = { width: 360, height: 292, left: 46, right: 350, top: 8, bottom: 248 };

function change(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

function draw(parent, tag, attributes, text) {
  const node = change(document.createElementNS(SVG, tag), attributes);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}

// From numbers to units of the view box, and back.
function scale(low, high, from, to) {
  const size = high - low || 1;
  const at = (number) => from + ((number - low) / size) * (to - from);
  at.back = (unit) => low + ((unit - from) / (to - from)) * size;
  return at;
}

// The same for powers of ten from `low` to 1; what is smaller stands at the edge.
function logScale(low, from, to) {
  const size = Math.log10(low);
  const at = (number) => to - (Math.log10(Math.max(number, low)) / size) * (to - from);
  at.back = (unit) => 10 ** (((to - unit) / (to - from)) * size);
  return at;
}

// Normal deviates and the shares below them, from -6.5 to 0: good to five digits, for drawing.
const NORMAL = (() => {
  const step = 0.005;
  const table = [];
  let below = 4e-11;
  for (let i = 0; i <= 1300; i += 1) {
    const deviate = -6.5 + i * step;
    table.push([deviate, below]);
    below += (step / Math.sqrt(2 * Math.PI)) * Math.exp(-((deviate + step / 2) ** 2) / 2);
  }
  return table;
})();

// Between the rows of the table: the column `to` at a value of the column `from`.
function looked(value, from, to) {
  let [low, high] = [0, NORMAL.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (NORMAL[middle][from] <= value) low = middle;
    else high = middle;
  }
  const share = (value - NORMAL[low][from]) / (NORMAL[high][from] - NORMAL[low][from]);
  return NORMAL[low][to] + Math.min(Math.max(share, 0), 1) * (NORMAL[high][to] - NORMAL[low][to]);
}

const probit = (rate) => (rate > 0.5 ? -looked(1 - rate, 1, 0) : looked(rate, 1, 0));
const normalShare = (deviate) => (deviate > 0 ? 1 - looked(-deviate, 0, 1) : looked(deviate, 0, 1));

const MOST_ERRORS = 0.8;
const PROBIT_TICKS = [1e-7, 1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.05, 0.2, 0.4, 0.6];

// Rates as normal deviates, from half of one of so many rows on; others stand at the edge.
function probitScale(rows, from, to) {
  const least = Math.min(0.5 / Math.max(rows, 1), 0.05);
  const even = scale(probit(least), probit(MOST_ERRORS), from, to);
  const at = (rate) => even(probit(Math.min(Math.max(rate, least), MOST_ERRORS)));
  at.back = (unit) => normalShare(even.back(unit));
  at.ticks = PROBIT_TICKS.filter((rate) => rate > least).map((rate) => [rate, exactPercent(rate)]);
  return at;
}

function decades(low) {
  const ticks = [];
  for (let power = Math.round(Math.log10(low)); power <= 0; power += 1) {
    ticks.push([10 ** power, power > -4 ? String(10 ** power) : `1e${power}`]);
  }
  return ticks;
}

// About five round numbers from low to high.
function ticks(low, high) {
  const rough = (high - low || 1) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  const digits = Math.min(Math.max(0, -Math.floor(Math.log10(step) + 1e-9)), 20);
  const ticks = [];
  for (let i = first; i <= last; i += 1) ticks.push([i * step, (i * step).toFixed(digits)]);
  return ticks;
}

function axes(svg, { x, y, xTicks, yTicks, xLabel, yLabel }) {
  const { left, right, top, bottom, height } = FRAME;
  const group = draw(svg, "g", { class: "axes" });
  for (const [number, text] of xTicks) {
    const at = x(number);
    draw(group, "line", { class: "grid", x1: at, x2: at, y1: top, y2: bottom });
    draw(group, "text", { class: "tick", x: at, y: bottom + 16, "text-anchor": "middle" }, text);
  }
  for (const [number, text] of yTicks) {
    const at = y(number);
    draw(group, "line", { class: "grid", x1: left, x2: right, y1: at, y2: at });
    draw(group, "text", { class: "tick", x: left - 7, y: at + 4, "text-anchor": "end" }, text);
  }
  draw(group, "path", { class: "axis", d: `M${left} ${top}V${bottom}H${right}` });
  const label = { class: "label", "text-anchor": "middle" };
  draw(group, "text", { ...label, x: (left + right) / 2, y: height - 6 }, xLabel);
  const turned = `translate(10 ${(top + bottom) / 2}) rotate(-90)`;
  draw(group, "text", { ...label, transform: turned }, yLabel);
}

// A path of steps: first along one axis, then along the other, never slanted.
function steps(xs, ys, x, y, first) {
  const parts = [];
  const short = (number) => number.toFixed(2);
  for (let i = 0; i < xs.length; i += 1) {
    if (Number.isNaN(xs[i]) || Number.isNaN(ys[i])) continue;
    const [h, v] = [short(x(xs[i])), short(y(ys[i]))];
    if (!parts.length) parts.push(`M${h} ${v}`);
    else parts.push(first === "across" ? `H${h}V${v}` : `V${v}H${h}`);
  }
  return parts.join("");
}

// Calls `move` with the position of a pointer that is pressed on the plot, as long as it is held.
function draggable(svg, move) {
  const follow = (event) => {
    const here = new DOMPoint(event.clientX, event.clientY);
    const { x, y } = here.matrixTransform(svg.getScreenCTM().inverse());
    move(x, y);
  };
  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    svg.setPointerCapture(event.pointerId);
    follow(event);
  });
  svg.addEventListener("pointermove", (event) => {
    if (svg.hasPointerCapture(event.pointerId)) follow(event);
  });
}
