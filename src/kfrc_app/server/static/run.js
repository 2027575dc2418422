// One run: started, followed until it is over, cancelled, and its report shown.

import { byId, count, duration, make, say, show } from "./parts.js";
import { ask, askJson, Lost } from "./server.js";

const PAUSE = 700; // milliseconds between two questions to the server
const PATIENCE = 3; // questions without an answer after which the server is gone
const STEPS = ["reading", "looking", "checking", "writing"];
const TEXTS = { reading: "Reading the table", looking: "Looking for groups", checking: "Checking the groups on parts of the rows", writing: "Writing the report" };
const ENDS = { reading: [0, 3], looking: [3, 25], checking: [25, 96], writing: [96, 100] }; // of the bar, in percent
const MANY = 5000; // calculations after which a part counts as half done, where nobody knows how many it takes
const COUNTED = 3; // parts that have to end before it is said how long the others take
const FILES = [
  ["clustered.xlsx", "Download Excel", "your table with the group of every row"],
  ["clustered.csv", "Download CSV", "the same as text"],
  ["kfrc-results.zip", "Download everything", "all files in one"],
];

let followed = null;
let usual = ""; // how long such a table takes, in words
let pace = null; // of the parts of a step: when the first one ended, and when the last one did

export function startRun(table, choices) {
  return askJson("POST", `tables/${table}/runs`, choices);
}

export function cancelRun(run) {
  return ask("DELETE", `runs/${run}`);
}

export function stopFollowing() {
  followed = null;
}

// Resolves with the last state of the run, or null if something else is followed by now.
export async function follow(run, checked, expected) {
  followed = run;
  usual = checked ? `. ${expected.split(". ")[0]}` : "";
  pace = null;
  let failures = 0;
  let told = "";
  byId("work-steps").querySelector('[data-step="checking"]').hidden = !checked;
  while (followed === run) {
    try {
      const state = await ask("GET", `runs/${run}`);
      failures = 0;
      if (followed !== run) return null;
      if (!["waiting", "running"].includes(state.state)) return state;
      const text = showProgress(state);
      if (text !== told) byId("work-said").textContent = told = text;
    } catch (error) {
      if (!(error instanceof Lost) || ++failures >= PATIENCE) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
  return null;
}

// The text without its counts, for those who listen: they hear of every step once.
function showProgress({ state, ahead, progress, seconds }) {
  const step = state === "waiting" ? null : progress.step || "reading";
  for (const item of byId("work-steps").children) {
    const [here, there] = [STEPS.indexOf(item.dataset.step), STEPS.indexOf(step)];
    item.className = here < there ? "past" : here === there ? "now" : "";
  }
  if (step === null) {
    const before = ahead === 0 ? "another table is" : `${count(ahead + 1, "other table")} are`;
    byId("work-text").textContent = `Waiting: ${before} first`;
    byId("work-time").textContent = "It starts by itself.";
    byId("bar").removeAttribute("value");
    return "Waiting for its turn";
  }
  const { done = 0, total = null, small = null } = progress;
  const begun = small ? (small[1] ? Math.min(1, small[0] / small[1]) : small[0] / (small[0] + MANY)) : 0;
  const share = total ? Math.min(1, (done + begun) / total) : 0;
  const [from, last] = ENDS[step];
  const to = step === "looking" && byId("work-steps").querySelector('[data-step="checking"]').hidden ? ENDS.writing[0] : last;
  byId("bar").value = Math.max(byId("bar").value, from + (to - from) * share); // calculations are counted anew now and then
  byId("work-text").textContent = total ? `${TEXTS[step]}: ${Math.min(done, total)} of ${step === "looking" ? "at most " : ""}${total}` : TEXTS[step];
  const left = step === "checking" ? timeLeft(done, total, seconds) : null;
  byId("work-time").textContent = `${duration(seconds)} so far${left !== null ? `, ${roughly(left)} left` : step === "writing" ? "" : usual}.`;
  return TEXTS[step];
}

// Seconds, as far as the parts that have ended tell; null as long as they are too few.
function timeLeft(done, total, seconds) {
  if (done > 0) pace ??= { first: done, since: seconds, done, at: seconds };
  if (pace === null) return null;
  if (done > pace.done) Object.assign(pace, { done, at: seconds });
  const ended = pace.done - pace.first;
  if (ended < COUNTED) return null;
  const part = (pace.at - pace.since) / ended;
  return Math.max(0, part * (total - done) - Math.min(part, seconds - pace.at));
}

function roughly(seconds) {
  if (seconds < 10) return "a few seconds";
  return seconds < 55 ? `about ${10 * Math.ceil(seconds / 10)} s` : `about ${Math.ceil((seconds - 5) / 60)} min`;
}

export function showWork() {
  for (const id of ["failed", "done", "stale"]) show(id, false);
  show("work");
  byId("bar").value = 0;
  byId("work-text").textContent = "Starting";
  byId("work-time").textContent = "";
  for (const item of byId("work-steps").children) item.className = "";
}

export function showFailed(sentence) {
  for (const id of ["work", "done"]) show(id, false);
  show("failed");
  byId("failed-text").textContent = sentence;
  byId("work-said").textContent = "";
}

export function showDone(run, { result, seconds }) {
  for (const id of ["work", "failed"]) show(id, false);
  show("done");
  byId("done-text").textContent = `${result.title}. The work took ${duration(seconds)}.`;
  const links = [make("li", {}, link(`runs/${run}/report`, "Open the report", "in a tab of its own, to read or print", true, { target: "_blank", rel: "noopener" }))];
  for (const [name, label, about] of FILES) {
    if (name.endsWith(".zip") || result.files.includes(name)) {
      links.push(make("li", {}, link(`runs/${run}/files/${name}`, label, about, false, { download: "" })));
    }
  }
  byId("downloads").replaceChildren(...links);
  byId("report").src = `runs/${run}/report`;
  byId("work-said").textContent = "The report is ready.";
}

function link(href, label, about, primary, properties) {
  return make("a", { href, className: primary ? "button primary" : "button", ...properties }, label, make("small", {}, about));
}
