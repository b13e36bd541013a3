// What every page of the app has: parts that need a script are shown, and deleting asks first.
(() => {
  "use strict";
  for (const part of document.querySelectorAll("[data-script]")) part.hidden = false;
  for (const form of document.querySelectorAll("form[data-confirm]")) {
    form.addEventListener("submit", (event) => {
      if (!window.confirm(form.dataset.confirm)) event.preventDefault();
    });
  }
  // A filter that was chosen is applied at once.
  for (const field of document.querySelectorAll(".filters select")) {
    field.addEventListener("change", () => field.form.requestSubmit());
  }
})();
