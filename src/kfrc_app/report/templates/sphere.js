"use strict";
/* Points on the unit sphere in orthographic projection: drag or arrow keys rotate, pointing shows a row. */
class Sphere {
  constructor(canvas, xyz, onPoint) {
    this.canvas = canvas;
    this.xyz = xyz;
    this.onPoint = onPoint;
    this.colors = [];
    this.current = -1;
    this.reset();
    new ResizeObserver(() => this.draw()).observe(canvas);
    canvas.addEventListener("pointerdown", (e) => this.grab(e));
    canvas.addEventListener("pointermove", (e) => this.move(e));
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => { this.held = null; });
    canvas.addEventListener("pointerleave", () => this.point(-1));
    canvas.addEventListener("keydown", (e) => this.key(e));
  }
  reset() {
    /* Rows of the rotation: right, up, toward the reader. */
    this.rotation = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    this.turn(0.22, 0.28);
  }
  turn(yaw, pitch) {
    const [c, s, d, t] = [Math.cos(yaw), Math.sin(yaw), Math.cos(pitch), Math.sin(pitch)];
    const step = [[c, 0, s], [t * s, d, -t * c], [-d * s, t, d * c]];
    this.rotation = step.map((row) => [0, 1, 2].map((k) => row.reduce((sum, x, i) => sum + x * this.rotation[i][k], 0)));
    this.canvas.dataset.rotation = this.rotation.flat().map((x) => x.toFixed(3)).join(" ");
  }
  key(event) {
    const step = event.shiftKey ? 0.35 : 0.12;
    const turns = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    if (event.key in turns) this.turn(...turns[event.key]);
    else if (event.key === "Home") this.reset();
    else return;
    event.preventDefault();
    this.point(-1);
    this.draw();
  }
  grab(event) {
    this.held = [event.clientX, event.clientY];
    this.canvas.setPointerCapture(event.pointerId);
    if (event.pointerType === "touch") this.hover(event);
  }
  move(event) {
    if (!this.held) return this.hover(event);
    const [x, y] = this.held;
    this.held = [event.clientX, event.clientY];
    if (event.clientX === x && event.clientY === y) return;
    this.turn((event.clientX - x) / 160, (event.clientY - y) / 160);
    this.point(-1);
    this.draw();
  }
  hover(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let [best, nearest] = [-1, 14 * 14];
    (this.places || []).forEach(([px, py, depth], k) => {
      /* Of points at the same place the one in front wins. */
      const distance = (px - x) ** 2 + (py - y) ** 2 + (depth < 0 ? 60 : 0);
      if (distance < nearest) [best, nearest] = [k, distance];
    });
    this.point(best, event.clientX, event.clientY);
  }
  point(k, x, y) {
    if (k !== this.current) { this.current = k; this.draw(); }
    this.onPoint(k, x, y);
  }
  recolor(colors) { this.colors = colors; this.draw(); }
  draw() {
    const { context: g, width, height } = fitCanvas(this.canvas);
    if (!width) return;
    const radius = 0.45 * Math.min(width, height);
    const [cx, cy] = [width / 2, height / 2];
    const style = getComputedStyle(document.documentElement);
    g.strokeStyle = style.getPropertyValue("--rule");
    g.lineWidth = 1;
    this.graticule(g, cx, cy, radius);
    const [right, up, front] = this.rotation;
    const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    this.places = this.xyz.map((p) => [cx + radius * dot(right, p), cy - radius * dot(up, p), dot(front, p)]);
    const order = this.places.map((_, k) => k).sort((a, b) => this.places[a][2] - this.places[b][2]);
    const size = Math.max(2, Math.min(5.5, 90 / Math.sqrt(this.xyz.length))) * Math.min(1, 0.55 + width / 1000);
    const halo = style.getPropertyValue("--halo");
    for (const k of order) {
      const [x, y, depth] = this.places[k];
      g.globalAlpha = depth < 0 ? 0.9 + 0.55 * depth : 0.9;
      g.beginPath();
      g.arc(x, y, size * (1 + 0.25 * depth), 0, 2 * Math.PI);
      g.fillStyle = this.colors[k] || "gray";
      g.fill();
      if (depth >= 0 && size > 2.6) { g.strokeStyle = halo; g.lineWidth = 0.7; g.stroke(); }
    }
    g.globalAlpha = 1;
    if (this.current >= 0) {
      const [x, y] = this.places[this.current];
      g.beginPath();
      g.arc(x, y, size + 3.5, 0, 2 * Math.PI);
      g.strokeStyle = style.getPropertyValue("--ink");
      g.lineWidth = 2;
      g.stroke();
    }
  }
  graticule(g, cx, cy, radius) {
    g.beginPath();
    g.arc(cx, cy, radius, 0, 2 * Math.PI);
    g.stroke();
    const [right, up, front] = this.rotation;
    for (const [a, b] of [[0, 1], [1, 2], [0, 2]]) {
      let drawing = false;
      g.beginPath();
      for (let k = 0; k <= 72; k++) {
        const [c, s] = [Math.cos(k * Math.PI / 36), Math.sin(k * Math.PI / 36)];
        const on = c * front[a] + s * front[b] >= 0;
        const [x, y] = [cx + radius * (c * right[a] + s * right[b]), cy - radius * (c * up[a] + s * up[b])];
        if (on && drawing) g.lineTo(x, y); else if (on) g.moveTo(x, y);
        drawing = on;
      }
      g.stroke();
    }
  }
}

/* A canvas as sharp as the screen, cleared, in CSS pixels. */
function fitCanvas(canvas) {
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}
