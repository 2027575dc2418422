(() => {
  const { clusters, points, path } = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const rgb = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
  const prototypes = clusters.map((cluster) => rgb(cluster.color));
  /* Memberships are in thousandths. */
  const blend = (u) => "rgb(" + [0, 1, 2].map((k) => Math.round(u.reduce((sum, x, i) => sum + x * prototypes[i][k], 0) / 1000)).join(",") + ")";

  const tooltip = byId("tooltip");
  function showRow(title, label, memberships, x, y) {
    tooltip.replaceChildren();
    const add = (parent, tag, text, name) => {
      const element = parent.appendChild(document.createElement(tag));
      if (text !== undefined) element.textContent = text;
      if (name) element.className = name;
      return element;
    };
    add(add(tooltip, "strong"), "bdi", title);
    if (label !== null) add(add(tooltip, "div", "label (not used): ", "muted"), "bdi", label);
    const order = memberships.map((_, i) => i).sort((a, b) => memberships[b] - memberships[a]).slice(0, 5);
    for (const i of order) {
      const row = add(tooltip, "div", undefined, "row");
      add(row, "span", undefined, "swatch").style.background = clusters[i].color;
      add(row, "span", clusters[i].letter + " · " + clusters[i].name, "long");
      add(row, "span", (memberships[i] / 1000).toFixed(2));
    }
    tooltip.hidden = false;
    const { width, height } = tooltip.getBoundingClientRect();
    const left = x + 14 + width > window.innerWidth ? x - 14 - width : x + 14;
    tooltip.style.left = Math.max(4, Math.min(left, window.innerWidth - width - 4)) + "px";
    tooltip.style.top = Math.max(4, Math.min(y + 14, window.innerHeight - height - 4)) + "px";
  }
  const hide = () => { tooltip.hidden = true; };
  const pointAt = (k, memberships, x, y) => {
    if (k < 0) hide();
    else showRow("row " + points.ids[k], points.labels && points.labels[k], memberships, x, y);
  };
  window.addEventListener("scroll", hide, { passive: true });
  window.addEventListener("keydown", (e) => { if (e.key === "Escape") hide(); });

  const redraws = [];
  if (points.xyz) {
    const sphere = new Sphere(byId("sphere-canvas"), points.xyz, (k, x, y) => pointAt(k, points.memberships[k], x, y));
    sphere.recolor(points.memberships.map(blend));
    redraws.push(() => sphere.draw());
  }

  /* One pixel column per row of the data, stretched to the width. */
  function image(canvas, columns, rows, paint) {
    const source = document.createElement("canvas");
    source.width = columns; source.height = rows;
    const pixels = new ImageData(columns, rows);
    for (let j = 0; j < columns; j++) for (let i = 0; i < rows; i++) {
      const [r, g, b] = paint(j, i);
      pixels.data.set([r, g, b, 255], 4 * (i * columns + j));
    }
    source.getContext("2d").putImageData(pixels, 0, 0);
    const { context, width, height } = fitCanvas(canvas);
    if (!width) return;
    context.imageSmoothingEnabled = columns > 1.5 * width * (window.devicePixelRatio || 1);
    context.imageSmoothingQuality = "high";
    for (let i = 0; i < rows; i++) context.drawImage(source, 0, i, columns, 1, 0, i * height / rows, width, Math.ceil(height / rows));
    return { context, width, height };
  }
  function hoverColumns(canvas, columns, show) {
    const at = (event) => {
      const box = canvas.getBoundingClientRect();
      const j = Math.floor((event.clientX - box.left) / box.width * columns);
      if (j >= 0 && j < columns) show(j, event.clientX, event.clientY);
    };
    canvas.addEventListener("pointermove", at);
    canvas.addEventListener("pointerdown", at);
    canvas.addEventListener("pointerleave", hide);
  }

  const heat = byId("heat-canvas");
  const starts = points.counts.map((_, i) => points.counts.slice(0, i).reduce((a, b) => a + b, 0));
  function drawHeat() {
    const style = getComputedStyle(document.documentElement);
    const [low, high, paper] = ["--heat-low", "--heat-high", "--paper"].map((name) => rgb(style.getPropertyValue(name).trim()));
    const drawn = image(heat, points.order.length, clusters.length, (j, i) => {
      const u = points.memberships[points.order[j]][i] / 1000;
      return [0, 1, 2].map((k) => low[k] + u * (high[k] - low[k]));
    });
    if (!drawn) return;
    const { context, width, height } = drawn;
    context.fillStyle = "rgb(" + paper.join(",") + ")";
    for (let i = 1; i < clusters.length; i++) {
      context.fillRect(0, i * height / clusters.length - 1, width, 2);
      context.fillRect(starts[i] / points.order.length * width - 1, 0, 2, height);
    }
  }
  if (heat) {
    hoverColumns(heat, points.order.length, (j, x, y) => pointAt(points.order[j], points.memberships[points.order[j]], x, y));
    new ResizeObserver(drawHeat).observe(heat);
    redraws.push(drawHeat);
  }

  if (path) {
    const slider = byId("m-slider"), band = byId("band-canvas"), cursor = byId("m-cursor");
    const places = cursor.dataset.x.split(",");
    let step = path.steps[path.fitted];
    const soft = new Sphere(byId("path-sphere"), path.points.map((k) => points.xyz[k]), (k, x, y) => pointAt(k < 0 ? -1 : path.points[k], k < 0 ? null : step.memberships[k], x, y));
    const drawBand = () => image(band, path.points.length, 130, (j, i) => {
      let [rest, k] = [1000 * (i + 0.5) / 130, 0];
      const u = step.memberships[j];
      while (k < u.length - 1 && rest >= u[k]) rest -= u[k++];
      return prototypes[k];
    });
    const message = () => {
      const apart = path.n_apart;
      if (step.uniformity > 0.999) return "Collapsed: all memberships are equal, nothing is left to see.";
      if (step.n_distinct < apart) return "Merged: only " + step.n_distinct + " of " + apart + " clusters are still apart.";
      if (path.critical_m !== null && step.m >= path.critical_m) return "Above m*: the structure is kept from below, but a fit from scratch may collapse.";
      if (step.m === path.steps[path.fitted].m) return "This is the fitted value.";
      return step.m < path.steps[path.fitted].m ? "Crisper than the fit." : "Fuzzier than the fit; all clusters are still apart.";
    };
    const update = () => {
      const k = Number(slider.value);
      step = path.steps[k];
      const m = Number(step.m.toPrecision(3)).toString();
      byId("m-value").textContent = m;
      byId("m-uniformity").textContent = step.uniformity.toFixed(2);
      byId("m-distinct").textContent = step.n_distinct;
      byId("m-high").textContent = Math.round(100 * step.high_share) + " %";
      byId("m-message").textContent = message();
      slider.setAttribute("aria-valuetext", "m = " + m + ", fuzziness " + step.uniformity.toFixed(2) + ", " + step.n_distinct + " clusters apart");
      cursor.setAttribute("x1", places[k]);
      cursor.setAttribute("x2", places[k]);
      soft.recolor(step.memberships.map(blend));
      drawBand();
    };
    slider.addEventListener("input", update);
    byId("m-reset").addEventListener("click", () => { slider.value = path.fitted; update(); });
    hoverColumns(band, path.points.length, (j, x, y) => pointAt(path.points[j], step.memberships[j], x, y));
    new ResizeObserver(drawBand).observe(band);
    redraws.push(() => { soft.draw(); drawBand(); });
    /* Browsers restore the slider of an earlier visit. */
    slider.value = path.fitted;
    update();
  }
  /* Shadows at the edges tell that a table goes on; words tell it where there is room for them. */
  const wider = new ResizeObserver((entries) => entries.forEach(({ target }) => target.classList.toggle("wider", target.scrollWidth > target.clientWidth + 1)));
  document.querySelectorAll(".scroll").forEach((element) => wider.observe(element));
  for (const media of ["(prefers-color-scheme: dark)", "print"]) {
    window.matchMedia(media).addEventListener("change", () => redraws.forEach((draw) => draw()));
  }
})();
