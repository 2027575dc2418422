// The page: a table is chosen, its columns are checked, a run is started and followed. Each step shows its own problems.

import { chosen, keep, reading, reset, restore } from "./choices.js";
import { onChange, openQuestion, showColumns, startOver } from "./columns.js";
import { byId, count, focusOn, markStep, say, show } from "./parts.js";
import { cancelRun, follow, showDone, showFailed, showWork, startRun, stopFollowing } from "./run.js";
import { ask, askJson, example, Lost, Refused, sendFile } from "./server.js";

const GONE = "The connection to kfrc is lost: the program that runs this page has ended. Start it again by typing kfrc app, "
  + "open the address that it prints, and choose your table again. Nothing of your own file was changed.";

let description = null;
let next = null; // what is to be asked of the columns next
let answering = null;
let sending = null; // what a file that is given can stop

// ---- problems

function clearProblems() {
  for (const id of ["file-problem", "columns-problem", "groups-problem"]) say(id);
}

function tell(error, place) {
  if (error.name === "AbortError") return;
  if (error instanceof Lost) {
    if (byId("lost").hidden) {
      say("lost-text", GONE);
      show("lost");
      byId("main").inert = true;
      byId("lost").focus();
      byId("lost").scrollIntoView({ block: "center" });
    }
    return;
  }
  const where = byId(`${error.where}-problem`) && !byId(error.where).hidden ? error.where : place;
  say(`${where}-problem`, error instanceof Refused ? error.message : "Something went wrong on this page: load it again.");
  byId(`${where}-problem`).scrollIntoView({ block: "center" });
  if (!(error instanceof Refused)) throw error;
}

// ---- 1: the file

function showDrop() {
  stopFollowing();
  for (const id of ["kept", "columns", "groups", "result"]) show(id, false);
  fold(false, true);
  for (const id of ["drop", "try-box"]) show(id);
  byId("chosen").value = "";
  markStep("file");
}

async function give(file) {
  clearProblems();
  sending?.abort();
  sending = new AbortController();
  abandon();
  reset();
  description = null;
  showDrop();
  byId("file-status").textContent = `Reading ${file.name} …`;
  show("file-bar");
  try {
    refuseLarge(file);
    const table = await sendFile(file, sending.signal);
    reset(table);
    startOver();
    await describe(null);
    focusOn("columns-title");
  } catch (error) {
    reset();
    tell(error, "file");
    byId("chosen").focus({ preventScroll: true });
  } finally {
    byId("file-status").textContent = "";
    show("file-bar", false);
  }
}

function refuseLarge(file) {
  const most = Number(byId("chosen").dataset.most);
  if (file.size <= most) return;
  const sizes = [file.size, most].map((size) => Math.ceil(size / 1e6).toLocaleString("en"));
  const problem = `This file has ${sizes[0]} megabytes, and this page takes ${sizes[1]} at most: leave out columns or rows.`;
  throw new Refused({ problem, where: "file" }, 413);
}

// What was given before is not wanted any more; what cannot be removed now goes by itself, later.
function abandon() {
  const { run, table } = chosen;
  const ended = run ? cancelRun(run.id).catch(() => {}) : Promise.resolve();
  if (table) ended.then(() => ask("DELETE", `tables/${table.id}`)).catch(() => {});
}

function showKept() {
  for (const id of ["drop", "try-box"]) show(id, false);
  show("kept");
  byId("kept-name").textContent = chosen.table.name;
  byId("kept-size").textContent = `${count(description.n_rows, "row")}, ${count(description.n_columns, "column")}`;
}

// ---- 2: the columns

// One question at a time: a large table takes seconds, and only what was chosen last matters.
function describe(column) {
  next = { column };
  keep();
  answering ??= answerAll().finally(() => (answering = null));
  return answering;
}

async function answerAll() {
  while (next) {
    const { column } = next;
    next = null;
    byId("columns-status").textContent = description ? "Reading again …" : "";
    try {
      const table = chosen.table.id;
      const found = await askJson("POST", `tables/${table}/columns`, reading(), { signal: sending?.signal });
      if (!next && chosen.table?.id === table) showDescription(found);
    } catch (error) {
      if (!next && error.name !== "AbortError") tellOfColumn(error, column);
    } finally {
      byId("columns-status").textContent = "";
    }
  }
}

function showDescription(found) {
  description = found;
  chosen.sheet = found.sheet;
  keep();
  say("columns-problem", found.obstacle);
  say("groups-problem"); // what had to be settled may be settled now
  showColumns(description);
  showKept();
  show("columns");
  show("groups");
  byId("expected").textContent = description.expected || "";
  if (byId("result").hidden) markStep("columns");
}

// What is wrong stands beside the column that was changed, if there is one.
function tellOfColumn(error, column) {
  const beside = error.column ?? column;
  const known = description?.columns.find((each) => each.name === beside);
  if (!(error instanceof Refused) || description === null || error.where === "file") throw error;
  if (known === undefined) {
    tell(error, "columns");
  } else {
    known.use = chosen.columns[beside]?.use ?? known.use;
    showColumns(description, { [beside]: error.message });
  }
}

onChange((column) => {
  show("stale");
  return describe(column).catch((error) => tell(error, "columns"));
});

// ---- 3: how many groups

function choices() {
  const form = new FormData(byId("start"));
  return {
    ...reading(),
    clusters: form.get("how-many") === "auto" ? "auto" : byId("n-groups").value,
    missing: form.get("missing"),
    refits: Number(form.get("refits")),
  };
}

// While a run is followed, what it was started with is one line; afterwards it can be opened to be changed.
function fold(folded, changeable) {
  for (const [section, body] of [["columns", "columns-body"], ["groups", "start"]]) {
    show(`${section}-short`, folded);
    show(body, !folded);
    show(`change-${section}`, changeable);
  }
  if (!folded) return;
  byId("columns-short-text").textContent = byId("columns-summary").textContent.split(".")[0] + ".";
  byId("groups-short-text").textContent = chosen.run.asked;
}

function unfold(section) {
  fold(false, true);
  markStep(section);
  focusOn(`${section}-title`);
}

// Whether something has to be settled in the columns first; if so, that is where to look.
function isOpen() {
  const question = openQuestion();
  if (question) {
    say("groups-problem", "Answer the question about the columns first.");
    say("columns-problem", "Answer this question first."); // where the eyes are led
    question.focus();
    return true;
  }
  if (description.obstacle || description.columns.some((column) => column.problem)) {
    say("groups-problem", "Something about the columns has to be settled first: it is marked above.");
    document.querySelector("#columns-body .problem:not([hidden])").scrollIntoView({ block: "center" });
    return true;
  }
  return false;
}

async function begin(event) {
  event.preventDefault();
  for (const id of ["file-problem", "groups-problem"]) say(id);
  if (isOpen()) return;
  const asking = choices();
  byId("go").disabled = true;
  try {
    const run = await startRun(chosen.table.id, asking);
    const wanted = asking.clusters === "auto" ? "The number of groups is to be found out." : `${count(Number(asking.clusters), "group")}.`;
    chosen.run = { id: run.id, checked: asking.refits > 0, asked: wanted };
    keep();
    await watch(true);
  } catch (error) {
    tell(error, "groups");
    if (error.where === "groups") byId("n-groups").focus({ preventScroll: true });
  } finally {
    byId("go").disabled = false;
  }
}

// ---- 4: the result

async function watch(isNew) {
  const { id, checked } = chosen.run;
  showWork();
  show("result");
  byId("result-heading").textContent = "Working";
  markStep("result");
  byId("cancel").disabled = false;
  if (isNew) focusOn("result-title");
  let state;
  try {
    fold(true, false);
    state = await follow(id, checked, byId("expected").textContent);
  } catch (error) {
    byId("result-heading").textContent = "Not finished";
    const lost = error instanceof Lost;
    showFailed(lost ? "The work was not finished, because the program that does it has ended." : error.message);
    if (lost) tell(error, "groups");
    return;
  } finally {
    if (chosen.run?.id === id) fold(true, true);
  }
  if (state === null) return;
  if (state.state === "done") {
    byId("result-heading").textContent = "Result";
    showDone(id, state);
    focusOn("result-title");
  } else if (state.state === "failed") {
    byId("result-heading").textContent = "Not finished";
    showFailed(state.result.problem);
    fold(false, true);
    focusOn("result-title");
  } else {
    chosen.run = null;
    keep();
    show("result", false);
    unfold("groups");
  }
}

async function cancel() {
  byId("cancel").disabled = true;
  try {
    await cancelRun(chosen.run.id);
  } catch (error) {
    tell(error, "groups");
  }
}

// ---- wiring

function isFile(event) {
  return [...(event.dataTransfer?.types || [])].includes("Files");
}

let inside = 0; // elements that a dragged file is over
addEventListener("dragenter", (event) => {
  if (isFile(event) && ++inside) document.body.classList.add("over");
});
addEventListener("dragleave", (event) => {
  if (isFile(event) && --inside <= 0) document.body.classList.remove("over");
});
addEventListener("dragover", (event) => isFile(event) && event.preventDefault());
addEventListener("drop", (event) => {
  if (!isFile(event)) return;
  event.preventDefault();
  inside = 0;
  document.body.classList.remove("over");
  const file = event.dataTransfer.files[0];
  if (file) give(file);
});
byId("chosen").addEventListener("change", () => byId("chosen").files[0] && give(byId("chosen").files[0]));
byId("again").addEventListener("click", async () => {
  const found = await fetch("static/page.css", { cache: "no-store" }).catch(() => null);
  if (found?.ok) location.reload();
});
byId("try").addEventListener("click", async () => {
  clearProblems();
  try {
    give(await example(byId("try").dataset.name));
  } catch (error) {
    tell(error, "file");
  }
});
byId("another").addEventListener("click", () => {
  sending?.abort();
  sending = null;
  abandon();
  reset();
  description = null;
  clearProblems();
  showDrop();
  byId("chosen").focus();
});
byId("start").addEventListener("submit", begin);
byId("n-groups").addEventListener("focus", () => (byId("given").checked = true));
byId("cancel").addEventListener("click", cancel);
byId("back").addEventListener("click", () => {
  chosen.run = null;
  keep();
  show("result", false);
  unfold("columns");
});
for (const section of ["columns", "groups"]) byId(`change-${section}`).addEventListener("click", () => unfold(section));
for (const section of ["columns", "groups"]) {
  byId(section).addEventListener("focusin", () => byId("result").hidden && markStep(section));
}
byId("start").addEventListener("change", (event) => {
  show("stale");
  if (event.target.name === "refits") show("expected", event.target.value !== "0"); // which takes seconds
});

if (restore()) {
  describe(null)
    .then(() => (chosen.run ? watch(false) : undefined))
    .catch((error) => {
      reset();
      showDrop();
      if (error instanceof Lost) tell(error, "file");
    });
}
