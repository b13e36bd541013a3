// The one state of the panel, the point that was chosen, and all that follows it.

function panel() {
  const slider = document.getElementById("threshold");
  const field = document.getElementById("threshold-number");
  const back = document.getElementById("back");
  const notes = [...document.querySelectorAll("[data-when]")];
  let index = REPORT;

  const choose = (chosen) => {
    index = chosen;
    show();
    slider.focus({ preventScroll: true, focusVisible: false });
  };
  const plots = POINTS ? [...CURVES.map((each) => curve(each, choose)), distribution(choose)] : [];
  if (POINTS && DATA.positives && DATA.negatives) {
    plots.push(costCurve(choose));
    if (DATA.probability) plots.push(decisionCurve(choose));
  }
  // Without a table nothing moves but the base rate, and what the page says is left as it is.
  const lines = POINTS ? [readings()] : [];
  const there = deployment(() => {
    for (const plot of plots) plot.deploy(there.state.rate);
    there.show(pointAt(index));
  });

  // The slider's right end is the highest threshold; the table starts with it.
  const last = POINTS - 1;
  const show = () => {
    const point = pointAt(index);
    for (const part of [...plots, ...lines, there]) part.show(point);
    for (const node of notes) node.hidden = (node.dataset.when === "report") !== point.atReport;
    if (!POINTS) return;
    slider.value = String(last - (index < 0 ? nearest(point.cells) : index));
    slider.setAttribute("aria-valuetext", spoken(point));
    field.value = Number.isFinite(point.threshold) ? String(point.threshold) : "";
    back.disabled = point.atReport;
  };
  if (POINTS) {
    slider.max = String(last);
    slider.addEventListener("input", () => {
      index = last - slider.valueAsNumber;
      show();
    });
    field.addEventListener("change", () => {
      if (!Number.isNaN(field.valueAsNumber)) index = indexAt(field.valueAsNumber);
      show();
    });
    back.addEventListener("click", () => choose(REPORT));
  }
  for (const node of document.querySelectorAll("[data-script]")) node.hidden = false;
  for (const plot of plots) plot.deploy(there.state.rate);
  show();
}

// The point of the table whose counts are closest to some cells.
function nearest({ tp, fp }) {
  const far = (i) => Math.abs(DATA.sweep.tp[i] - tp) + Math.abs(DATA.sweep.fp[i] - fp);
  return THRESHOLDS.reduce((best, _, i) => (far(i) < far(best) ? i : best), 0);
}

function spoken(point) {
  const said = (name) => percent(valueOf(name, point.cells));
  return (
    `threshold ${shownThreshold(point)}: detection rate ${said("recall")}, ` +
    `false alarm rate ${said("false_discovery_rate")}`
  );
}

panel();
