// Folded parts are opened for printing, and folded again after it.

const opened = new Set();
window.addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details:not([open])")) {
    part.open = true;
    opened.add(part);
  }
});
window.addEventListener("afterprint", () => {
  for (const part of opened) part.open = false;
  opened.clear();
});
