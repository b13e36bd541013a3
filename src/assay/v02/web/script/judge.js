// Send a file as it is, and follow a judgement until it is done.
(() => {
  "use strict";

  function sending(drop) {
    const chosen = document.getElementById("file");
    const status = document.getElementById("sending");
    const bar = document.getElementById("sent");
    const stop = document.getElementById("stop");
    const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

    const send = (file) => {
      const largest = Number(drop.dataset.largest);
      if (file.size > largest) {
        status.textContent = `${file.name} has ${megabytes(file.size)}, and ${megabytes(largest)} are taken. The command line judges it: assay evaluate.`;
        return;
      }
      const request = new XMLHttpRequest();
      request.open("POST", `/judge/files?name=${encodeURIComponent(file.name)}`);
      request.setRequestHeader("Content-Type", "application/octet-stream");
      request.setRequestHeader("Accept", "application/json");
      request.responseType = "json";
      request.upload.addEventListener("progress", ({ loaded, total }) => {
        bar.value = loaded / total;
        status.textContent = `Sending ${file.name}: ${megabytes(loaded)} of ${megabytes(total)}`;
      });
      request.addEventListener("load", () => {
        if (request.status === 201) window.location.assign(request.response.page);
        else ended(request.response?.error?.message ?? "The file was not taken.");
      });
      request.addEventListener("error", () => ended("The app does not answer."));
      request.addEventListener("abort", () => ended("Stopped."));
      stop.onclick = () => request.abort();
      [bar.hidden, stop.hidden] = [false, false];
      request.send(file);
    };
    const ended = (text) => {
      status.textContent = text;
      [bar.hidden, stop.hidden] = [true, true];
    };

    chosen.disabled = false;
    chosen.addEventListener("change", () => chosen.files.length && send(chosen.files[0]));
    for (const kind of ["dragenter", "dragover"]) {
      drop.addEventListener(kind, (event) => {
        event.preventDefault();
        drop.classList.add("over");
      });
    }
    drop.addEventListener("dragleave", () => drop.classList.remove("over"));
    drop.addEventListener("drop", (event) => {
      event.preventDefault();
      drop.classList.remove("over");
      if (event.dataTransfer.files.length) send(event.dataTransfer.files[0]);
    });
  }

  function following(job) {
    const state = document.getElementById("state");
    const bar = document.getElementById("done");
    const look = async () => {
      const answer = await fetch(`${job.dataset.job}.json`);
      const told = answer.ok ? await answer.json() : { state: "failed" };
      if (told.state !== "running") {
        window.location.replace(told.result ?? job.dataset.job);
        return;
      }
      const share = told.total ? ` ${Math.round((100 * told.done) / told.total)}%` : "";
      state.textContent = `${told.stage[0].toUpperCase()}${told.stage.slice(1)}${share}`;
      if (told.total) [bar.max, bar.value] = [told.total, told.done];
      setTimeout(look, 250);
    };
    setTimeout(look, 150);
  }

  const drop = document.getElementById("drop");
  if (drop) sending(drop);
  const job = document.getElementById("job");
  if (job) following(job);
})();
