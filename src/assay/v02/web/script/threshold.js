// An alert budget that is moved: from 1 to a million alerts a day, ten steps a power of ten.
(() => {
  "use strict";
  const form = document.getElementById("workbench");
  const slider = document.getElementById("budget");
  const words = document.getElementById("budget-words");
  const field = form.querySelector("[name='max-alerts']");
  const volume = form.querySelector("[name='volume']");
  const alerts = () => Number((10 ** (slider.valueAsNumber / 10)).toPrecision(2));
  const say = () => {
    const word = alerts() === 1 ? "alert" : "alerts";
    words.textContent = `${alerts().toLocaleString("en")} ${word} a day`;
  };
  const typed = Number(field.value);
  slider.value = String(typed > 0 ? Math.round(10 * Math.log10(typed)) : 33);
  say();
  slider.addEventListener("input", say);
  slider.addEventListener("change", () => {
    field.value = String(alerts());
    if (!volume.value) volume.value = "1000000";
    form.requestSubmit();
  });
})();
