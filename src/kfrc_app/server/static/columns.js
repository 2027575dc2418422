// The list of columns: what each was understood as, what it can be instead, and what the file leaves open.

import { chosen } from "./choices.js";
import { byId, count, make, show } from "./parts.js";

const PAGE = 50; // columns that are listed at a time
const FILTERED = 12; // from this many columns on they can be searched
const USES = [
  ["Used to find groups", [
    ["numeric", "Number"], ["ordinal", "Ordered steps"], ["nominal", "Category"], ["date", "Date"]]],
  ["Not used to find groups", [
    ["names", "Names of the rows"], ["groups", "Known groups, only compared"], ["weight", "How often a row counts"],
    ["drop", "Leave out"]]],
];
const ASIDE = new Set(["names", "groups", "weight", "drop"]);

let described = { columns: [] };
let problems = {};
let first = 0;
let changed = () => {};

export function onChange(callback) {
  changed = callback;
}

export function showColumns(description, columnProblems = {}) {
  if (description !== described) first = Math.min(first, Math.max(0, description.columns.length - 1));
  described = description;
  problems = Object.fromEntries(described.columns.filter((each) => each.problem).map((each) => [each.name, each.problem]));
  Object.assign(problems, columnProblems);
  summarize();
  showQuestions();
  showSheets();
  showNotes();
  show("filter-box", described.columns.length > FILTERED);
  list();
}

export function startOver() {
  first = 0;
  byId("filter").value = "";
}

function summarize() {
  const used = described.n_used;
  const aside = described.n_columns - used;
  const beyond = described.n_columns - described.columns.length;
  const parts = [`${count(used, "column")} will be used to find groups${aside ? `, ${count(aside, "column")} will not` : ""}.`];
  parts.push("Change what was misunderstood.");
  if (beyond > 0) parts.push(`${count(beyond, "more column")} cannot be shown here.`);
  byId("columns-summary").textContent = parts.join(" ");
}

function matching() {
  const wanted = byId("filter").value.trim().toLowerCase();
  return wanted ? described.columns.filter((column) => column.name.toLowerCase().includes(wanted)) : described.columns;
}

function list() {
  const found = matching();
  if (first >= found.length) first = 0;
  const page = found.slice(first, first + PAGE);
  const focused = document.activeElement?.id;
  byId("column-rows").replaceChildren(...page.map(row));
  if (focused && document.activeElement?.id !== focused) byId(focused)?.focus({ preventScroll: true });
  show("pager", found.length > PAGE);
  byId("earlier").disabled = first === 0;
  byId("later").disabled = first + PAGE >= found.length;
  byId("page-shown").textContent = `${first + 1} to ${first + page.length} of ${count(found.length, "column")}`;
}

function row(column) {
  const place = described.columns.indexOf(column);
  const name = make("th", { scope: "row", id: `name-${place}`, dir: "auto" }, column.title);
  const use = make("td", { className: "use" }, select(column, place));
  use.dataset.title = "Use it as";
  if (problems[column.name]) {
    use.append(make("p", { className: "problem", id: `problem-${place}`, role: "alert" }, problems[column.name]));
  }
  if (column.why) use.append(make("p", { className: "why", id: `why-${place}` }, column.why));
  if (isOrdered(column)) use.append(order(column, place));
  const empty = make("td", { className: "empty" }, make("span", { className: "gaps" }, gaps(column)));
  empty.dataset.title = "Empty cells:";
  const examples = make("td", { className: "examples" }, ...column.examples.map((text) => make("span", { dir: "auto" }, text)));
  if (column.extent) examples.append(make("small", {}, column.extent));
  return make("tr", { className: ASIDE.has(column.use) ? "aside" : "" }, name, use, empty, examples);
}

function gaps(column) {
  if (!column.n_missing) return "none";
  const share = (100 * column.n_missing) / described.n_rows;
  return `${column.n_missing.toLocaleString("en")} (${share < 1 ? "<1" : Math.round(share)} %)`;
}

function select(column, place) {
  const groups = USES.map(([label, uses]) => make("optgroup", { label }, ...uses.map(([value, text]) =>
    make("option", { value, selected: value === column.use, disabled: !isPossible(column, value) }, text))));
  const element = make("select", { id: `use-${place}` }, ...groups);
  element.setAttribute("aria-labelledby", `name-${place}`);
  const about = [problems[column.name] && `problem-${place}`, column.why && `why-${place}`].filter(Boolean).join(" ");
  if (about) element.setAttribute("aria-describedby", about);
  if (problems[column.name]) element.setAttribute("aria-invalid", "true");
  element.addEventListener("change", () => {
    const choice = { use: element.value };
    if (choice.use === "ordinal" && column.levels?.length) choice.levels = [...column.levels];
    if (["names", "groups", "weight"].includes(choice.use)) takeAway(choice.use, column.name);
    chosen.columns[column.name] = choice;
    changed(column.name);
  });
  return element;
}

// What the cells of a column do not allow cannot be chosen; what it is cannot be taken away.
function isPossible(column, use) {
  return ASIDE.has(use) || use === column.use || column.possible.includes(use);
}

// One column at a time has a part such as the names of the rows: another one that was chosen for it goes back to what it was.
function takeAway(use, name) {
  for (const [other, choice] of Object.entries(chosen.columns)) {
    if (other !== name && choice.use === use) delete chosen.columns[other];
  }
}

function levelsOf(column) {
  return chosen.columns[column.name]?.levels ?? column.levels ?? [];
}

function isOrdered(column) {
  return column.use === "ordinal" && levelsOf(column).length > 1;
}

function order(column, place) {
  const levels = [...levelsOf(column)];
  const move = (k, by, id) => {
    levels.splice(k + by, 0, ...levels.splice(k, 1));
    chosen.columns[column.name] = { use: "ordinal", levels };
    changed(column.name);
    showColumns(described, problems);
    const button = byId(id(k + by));
    (button.disabled ? button.parentElement.querySelector("button:enabled") : button).focus({ preventScroll: true });
  };
  const items = levels.map((level, k) => {
    const button = (text, by, id, disabled) => {
      const element = make("button", { type: "button", id: id(k), disabled }, text);
      element.setAttribute("aria-label", `Move “${level}” ${by < 0 ? "up" : "down"}`);
      element.addEventListener("click", () => move(k, by, id));
      return element;
    };
    return make("li", {}, make("span", { dir: "auto" }, level),
      button("↑", -1, (n) => `up-${place}-${n}`, k === 0), button("↓", 1, (n) => `down-${place}-${n}`, k === levels.length - 1));
  });
  const list = make("ol", {}, ...items);
  if (chosen.columns[column.name]) return make("div", { className: "order" }, make("p", {}, "From the lowest to the highest:"), list);
  // An order that was known beforehand is told in one line, and can be changed all the same.
  return make("details", { className: "order" }, make("summary", {}, `From “${levels[0]}” to “${levels.at(-1)}”`), list);
}

function showQuestions() {
  // A question that was answered stays, so that the answer can be changed.
  const answered = chosen.answered.filter((each) => !described.questions.some((question) => question.text === each.text));
  const focused = document.activeElement?.id;
  byId("questions").replaceChildren(...[...answered, ...described.questions].map((question, place) => {
    const answers = question.answers.map((answer, k) => {
      const checked = question.answer === answer.label;
      const radio = make("input", { type: "radio", name: `question-${place}`, id: `answer-${place}-${k}`, checked });
      radio.addEventListener("change", () => {
        const { columns = {}, ...marks } = answer.set;
        Object.assign(chosen, marks);
        Object.assign(chosen.columns, columns);
        chosen.answered = [...chosen.answered.filter((each) => each.text !== question.text), { ...question, answer: answer.label }];
        changed(question.column);
      });
      return make("label", {}, radio, make("span", {}, answer.label));
    });
    const state = question.answer !== undefined ? "" : question.must ? " unanswered needed" : " unanswered";
    const legend = make("legend", { id: `question-${place}` }, question.text);
    return make("fieldset", { className: `question${state}` }, legend, make("div", {}, ...answers));
  }));
  if (focused?.startsWith("answer-")) byId(focused)?.focus({ preventScroll: true });
}

// The first question that has to be answered before anything can be computed.
export function openQuestion() {
  return document.querySelector(".question.needed input");
}

function showSheets() {
  const sheets = described.sheets || [];
  show("sheet-box", sheets.length > 1);
  const read = described.sheet ?? (described.found_sheet || null);
  const found = read === null ? [make("option", { value: "", selected: true }, "The one with a table")] : [];
  byId("sheet").replaceChildren(...found, ...sheets.map((name) => make("option", { value: name, selected: name === read }, name)));
}

function showNotes() {
  const notes = described.notes || [];
  byId("note-list").replaceChildren(...notes.map((note) => make("li", {}, note)));
  show("notes", notes.length > 0);
}

byId("filter").addEventListener("input", () => {
  first = 0;
  list();
});
byId("earlier").addEventListener("click", () => turn(-PAGE));
byId("later").addEventListener("click", () => turn(PAGE));
byId("sheet").addEventListener("change", () => {
  chosen.sheet = byId("sheet").value || null;
  chosen.columns = {};
  chosen.answered = [];
  startOver();
  changed(null);
});

function turn(by) {
  first = Math.max(0, first + by);
  list();
  byId("columns-title").scrollIntoView({ block: "start" });
}
