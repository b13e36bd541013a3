// The same rates of detection and of false positives, where attacks are rarer or more frequent.

const PREVALENCE = ratio(DATA.positives, DATA.positives + DATA.negatives);
const ROUND = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8];
const STOPS = stops();
const DEPLOYED = new Map(DATA.deployed);

// Round numbers on a log scale, the report's base rates and the test set's prevalence.
function stops() {
  const rates = new Set([...DATA.base_rates, PREVALENCE, 0.9, 0.95, 0.99]);
  for (let power = -6; power < 0; power += 1) {
    for (const head of ROUND) rates.add(Number(`${head}e${power}`));
  }
  return [...rates].filter((rate) => rate > 0 && rate < 1).sort((a, b) => a - b);
}

function nearestStop(rate) {
  const far = (i) => Math.abs(Math.log(STOPS[i] / rate));
  return STOPS.reduce((best, _, i) => (far(i) < far(best) ? i : best), 0);
}

const shownRate = (rate) => (rate === PREVALENCE ? percent(rate) : exactPercent(rate));

function rateInWords(rate) {
  if (rate === PREVALENCE) return `${shownRate(rate)} (as in the test set)`;
  const often = count(Number((1 / rate).toPrecision(3)));
  return rate < 0.2 ? `${shownRate(rate)} (1 in ${often})` : shownRate(rate);
}

const PER_DAY = {
  alerts_per_day: (cells) => cells.tp + cells.fp,
  false_alarms_per_day: (cells) => cells.fp,
  missed_per_day: (cells) => cells.fn,
};

// One value at a base rate; its interval where the report gives one.
function deployedOf(name, cells, { point, rate, volume }) {
  const each = PER_DAY[name];
  const value = each ? volume * each(cells) : valueOf(name, cells);
  const known = point.atReport && (!each || volume === DATA.volume);
  const [, low, high] = (known && DEPLOYED.get(rate)?.[name]) || [];
  return [value, orNaN(low), orNaN(high)];
}

function deployment(changed) {
  const [slider, field, volume] = ["base-rate", "base-rate-number", "volume"].map((id) =>
    document.getElementById(id),
  );
  const tiles = [...document.querySelectorAll("[data-deployed]")];
  const words = ["base-rate-words", "volume-words", "rows-word"].map((id) => document.getElementById(id));
  const state = {
    rate: DATA.base_rates[0] ?? PREVALENCE,
    volume: DATA.volume ?? volume.valueAsNumber,
  };
  slider.max = String(STOPS.length - 1);
  field.value = String(state.rate);

  const set = (rate) => {
    state.rate = rate;
    changed();
  };
  slider.addEventListener("input", () => {
    set(STOPS[slider.valueAsNumber]);
    field.value = String(Number(state.rate.toPrecision(6)));
  });
  field.addEventListener("input", () => {
    if (field.valueAsNumber > 0 && field.valueAsNumber < 1) set(field.valueAsNumber);
  });
  volume.addEventListener("input", () => {
    if (volume.valueAsNumber >= 0) state.volume = volume.valueAsNumber;
    changed();
  });

  return {
    state,
    show(point) {
      slider.value = String(nearestStop(state.rate));
      slider.setAttribute("aria-valuetext", rateInWords(state.rate));
      words[0].textContent = rateInWords(state.rate);
      words[1].textContent = count(state.volume);
      words[2].textContent = words[1].textContent === "1" ? "row" : "rows";
      const cells = atBaseRate(point.cells, state.rate);
      for (const tile of tiles) {
        const name = tile.dataset.deployed;
        const values = deployedOf(name, cells, { point, ...state });
        const [text, interval] = (name in PER_DAY ? daily : measured)(...values);
        const why = Number.isNaN(values[0]) ? "undefined: a denominator is zero" : "";
        write(tile.querySelector(".value"), text, values[0], why);
        tile.querySelector(".interval").textContent = interval;
      }
    },
  };
}
