// The confusion matrix and the count measures at the chosen point.

const SUMS = { alerts: ["tp", "fp"], quiet: ["fn", "tn"] };
const ROW_OF = { tp: ["tp", "fn"], fn: ["tp", "fn"], fp: ["fp", "tn"], tn: ["fp", "tn"] };

const sumOf = (names, cells) => names.reduce((sum, name) => sum + cells[name], 0);

// With the digits that decide, as threshold_text writes it; its field holds all of them.
function shownThreshold({ threshold }) {
  if (threshold === null) return "as given";
  return Number.isFinite(threshold) ? significant(threshold, 10) : "∞";
}

function write(node, text, value, title = "") {
  node.textContent = text;
  node.dataset.value = String(value);
  if (title) node.title = title;
  else node.removeAttribute("title");
}

// Ten shades, by the root of the share of a row of the matrix.
function shade(node, share) {
  node.dataset.shade = String(Math.min(Math.ceil(Math.sqrt(share || 0) * 9), 9));
}

function readings() {
  const all = (kind) => [...document.querySelectorAll(`[data-${kind}]`)];
  const [rows, cells, sums, said] = [all("measure"), all("cell"), all("sum"), all("said")];
  return {
    show(point) {
      for (const node of cells) {
        const name = node.dataset.cell;
        write(node.querySelector(".count"), count(point.cells[name]), point.cells[name]);
        shade(node, ratio(point.cells[name], sumOf(ROW_OF[name], point.cells)));
      }
      for (const node of sums) {
        const sum = sumOf(SUMS[node.dataset.sum], point.cells);
        write(node, count(sum), sum);
      }
      for (const row of rows) showMeasure(row, point);
      for (const node of said) node.textContent = sayOf(node.dataset.said, point);
      const given = point.threshold === null;
      for (const node of all("when-given")) node.hidden = !given;
      for (const node of all("when-threshold")) node.hidden = given;
    },
  };
}

function sayOf(name, point) {
  if (name === "threshold") return shownThreshold(point);
  const alerts = count(sumOf(SUMS.alerts, point.cells));
  if (name === "alerts") return alerts;
  if (name === "alerts-word") return alerts === "1" ? "alert" : "alerts";
  return percent(valueOf(name, point.cells));
}

function showMeasure(row, point) {
  const { measure: name, formula } = row.dataset;
  const value = valueOf(name, point.cells);
  const [low, high] = Number.isNaN(value) ? [NaN, NaN] : intervalOf(name, point);
  const [text, interval] = measured(value, low, high);
  const why = Number.isNaN(value) ? `undefined: a denominator of ${formula} is zero` : "";
  const about = point.atReport ? DATA.shown_at[name]?.[3] : "";
  write(row.querySelector(".value"), text, value, about || why);
  row.querySelector(".interval").textContent = interval;
  if (row.dataset.range) moveStrip(row, value, low, high);
}

function moveStrip(row, value, low, high) {
  const [from, to] = row.dataset.range.split(" ").map(Number);
  const at = (number) => `${((100 * (number - from)) / (to - from)).toFixed(2)}%`;
  const [range, dot] = [row.querySelector(".range"), row.querySelector(".dot")];
  range.toggleAttribute("hidden", Number.isNaN(low));
  dot.toggleAttribute("hidden", Number.isNaN(value));
  if (!Number.isNaN(low)) change(range, { x1: at(low), x2: at(high) });
  if (!Number.isNaN(value)) change(dot, { cx: at(value) });
}
