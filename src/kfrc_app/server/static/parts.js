// Small helpers for elements. Text from tables only ever becomes text, never markup.

export const byId = (id) => document.getElementById(id);

export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

export function show(id, visible = true) {
  byId(id).hidden = !visible;
}

export function say(id, text = "") {
  const element = byId(id);
  element.textContent = text;
  element.hidden = text === "";
}

export function count(n, noun) {
  return `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
}

export function duration(seconds) {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  return minutes < 60 ? `${minutes} min ${whole % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function focusOn(id) {
  const heading = byId(id);
  heading.focus({ preventScroll: true });
  heading.scrollIntoView({ block: "start" });
}

const STEPS = ["file", "columns", "groups", "result"];

export function markStep(current) {
  for (const item of document.querySelectorAll(".steps li")) {
    const [here, there] = [STEPS.indexOf(item.dataset.step), STEPS.indexOf(current)];
    item.classList.toggle("past", here < there);
    if (here === there) item.setAttribute("aria-current", "step");
    else item.removeAttribute("aria-current");
  }
}
