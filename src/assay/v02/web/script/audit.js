// A table like the paper's: what is typed is audited while one types, and lives in the link.
(() => {
  "use strict";
  const numbers = document.getElementById("numbers");
  const verdict = document.getElementById("verdict");
  const conflicts = document.getElementById("conflicts");
  const share = document.getElementById("share");
  const cells = [...document.querySelectorAll("[data-cell]")];
  const WAIT = 250;
  const EXAMPLE = {
    cells: { tn: "7743", fp: "167", fn: "324", tp: "6635" },
    reported: [
      ["accuracy", "96.70%"],
      ["precision", "95.98%"],
      ["recall", "95.34%"],
      ["f1", "0.9643"],
      ["mcc", "0.934"],
    ],
  };
  const VERDICTS = {
    consistent: "consistent",
    rounding: "off by rounding",
    conflict: "in conflict with others",
    inconsistent: "can't be right",
    undetermined: "can't be told",
  };
  let count = 0;
  let timer = 0;
  let asked = 0;

  function element(kind, text = "", className = "") {
    const made = document.createElement(kind);
    made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  function addRow(key = "", value = "") {
    count += 1;
    const row = numbers.appendChild(document.createElement("tr"));
    for (const [name, text, label] of [
      ["key", key, `Measure ${count}`],
      ["value", value, `Reported value ${count}`],
    ]) {
      const field = document.createElement("input");
      [field.value, field.dataset.part] = [text, name];
      field.autocomplete = "off";
      field.setAttribute("aria-label", label);
      if (name === "key") field.setAttribute("list", "measure-names");
      row.appendChild(document.createElement("td")).append(field);
    }
    row.appendChild(element("td"));
    return row;
  }

  const part = (row, name) => row.querySelector(`[data-part="${name}"]`).value.trim();

  function table() {
    const typed = cells.map((cell) => [cell.dataset.cell, cell.value.replace(/[\s,_]/g, "")]);
    const rows = [...numbers.rows].map((row) => [part(row, "key"), part(row, "value")]);
    return {
      cells: Object.fromEntries(typed.filter(([, text]) => text)),
      reported: rows.filter(([key, value]) => key || value),
    };
  }

  // The claim as JSON; counts are written digit by digit, since a number here has 53 bits.
  function claim({ cells: given, reported }) {
    const counts = Object.entries(given).map(([key, text]) => {
      if (!/^\d+$/.test(text)) throw new Error(`${key} is ${text}, which is no count`);
      return `"${key}": ${BigInt(text)}`;
    });
    const told = reported.filter(([key, value]) => key && value);
    const twice = told.find(([key], i) => told.findIndex(([other]) => other === key) < i);
    if (twice) throw new Error(`${twice[0]} is reported twice; keep one of them`);
    const numbers = JSON.stringify(Object.fromEntries(told));
    return `{"claim": [{"name": "typed", "confusion": {${counts.join(", ")}}, "reported": ${numbers}}]}`;
  }

  const encoded = (state) =>
    btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify(state))))
      .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

  function decoded(text) {
    try {
      const bytes = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
      return JSON.parse(new TextDecoder().decode(Uint8Array.from(bytes, (c) => c.charCodeAt(0))));
    } catch {
      return null;
    }
  }

  // A link may come from anybody, so nothing is taken for granted of what is in it.
  function fill({ cells: given, reported }) {
    for (const cell of cells) cell.value = String(given?.[cell.dataset.cell] ?? "");
    numbers.replaceChildren();
    const rows = Array.isArray(reported) ? reported.filter(Array.isArray) : [];
    for (const [key = "", value = ""] of rows) addRow(String(key), String(value));
    while (numbers.rows.length < 3) addRow();
    changed();
  }

  function changed() {
    const state = table();
    share.href = `/audit#${encoded(state)}`;
    clearTimeout(timer);
    timer = setTimeout(() => audit(state), WAIT);
  }

  async function audit(state) {
    asked += 1;
    const mine = asked;
    for (const row of numbers.rows) row.cells[2].replaceChildren();
    conflicts.replaceChildren();
    if (!state.reported.some(([key, value]) => key && value)) {
      say("Type counts and a reported number.");
      return;
    }
    try {
      const answer = await fetch("/audit/typed.json", {
        method: "POST",
        headers: { "Content-Type": "application/json", Accept: "application/json" },
        body: claim(state),
      });
      const told = await answer.json();
      // What was asked later has been answered, or soon will be.
      if (mine !== asked) return;
      if (told.claims) show(told.claims[0]);
      else say(told.error.message, "is-rounding");
    } catch (odd) {
      if (mine === asked) say(odd.message, "is-rounding");
    }
  }

  function say(text, className = "") {
    verdict.textContent = text;
    verdict.className = `verdict ${className}`;
  }

  const shown = (value) =>
    value === null ? "" : [value].flat().map((v) => (typeof v === "number" ? v.toPrecision(6) : v)).join(" to ");

  function show(judged) {
    const wrong = judged.numbers.filter((n) => ["inconsistent", "conflict"].includes(n.verdict));
    const sum = judged.numbers.length;
    const right = sum === 1 ? "The number can be right." : `All ${sum} can be right.`;
    say(
      judged.verdict === "inconsistent"
        ? `${wrong.length} of ${sum} can't be right.`
        : judged.verdict === "consistent" ? right : "Too little is given to tell.",
      `is-${judged.verdict}`,
    );
    const byKey = new Map(judged.numbers.map((number) => [number.key, number]));
    for (const row of numbers.rows) {
      const number = byKey.get(part(row, "key"));
      if (!number) continue;
      const value = number.recomputed === null ? "" : `, ${shown(number.recomputed)}`;
      row.cells[2].append(element("p", VERDICTS[number.verdict] + value, `said is-${number.verdict}`));
      for (const { text } of number.explanations) row.cells[2].append(element("p", text, "note"));
    }
    for (const { text } of judged.conflicts) conflicts.append(element("li", text));
  }

  document.getElementById("typing").addEventListener("input", changed);
  document.getElementById("report-form").addEventListener("submit", (event) => {
    try {
      document.getElementById("typed-claims").value = claim(table());
    } catch (odd) {
      event.preventDefault();
      say(odd.message, "is-rounding");
    }
  });
  document.getElementById("more").addEventListener("click", () => addRow().querySelector("input").focus());
  document.getElementById("example").addEventListener("click", () => fill(EXAMPLE));
  document.getElementById("empty").addEventListener("click", () => fill({}));
  window.addEventListener("hashchange", () => fill(decoded(window.location.hash.slice(1)) ?? {}));
  fill(decoded(window.location.hash.slice(1)) ?? {});
})();
