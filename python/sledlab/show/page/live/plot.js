// A plot that can be explored: frame, controls, zoom and keys. Curves draw themselves; others build on this.
const plots = [];

class Plot {
  constructor(panel, holder, title, height) {
    Object.assign(this, {panel, title, height, log: !!panel.logY});
    this.picked = panel.series.map(series => !series.grey);
    this.colours = panel.series.map((series, index) =>
      series.grey ? COLOURS[index % COLOURS.length] : series.colour);
    this.data = this.columns();
    this.xs = this.data[0];
    const box = made("div", holder, "", {class: "live"});
    const head = made("div", box, "", {class: "live-head"});
    made("span", head, panel.yName, {class: "live-name"});
    if (this.scalable) this.scaler(head);
    made("button", head, "All", {type: "button", "aria-label": `Show all of ${title}: ${panel.yName}`})
      .onclick = () => this.zoom(null);
    this.plot = made("div", box, "", {class: "live-plot", tabindex: 0, role: "group", "aria-label":
      `${title}: ${panel.yName} over ${panel.xName}. Arrow keys move, plus and minus zoom, 0 shows all.`});
    this.place = made("p", box, "", {class: "live-place"});
    this.aloud = made("p", box, "", {class: "live-aloud", "aria-live": "polite"});
    this.values = [];
    if (panel.series.length) this.chips(box);
    this.plot.onkeydown = event => this.key(event);
    this.draw();
    new ResizeObserver(() => {
      const width = this.plot.clientWidth;
      if (width && width !== this.u.width) this.u.setSize({width, height: this.height});
    }).observe(this.plot);
  }

  /** Those that zoom together, and whose series are picked together. */
  get friends() {
    const {together} = this.panel;
    return together ? plots.filter(plot => plot.panel.together === together) : [this];
  }

  scaler(head) {
    const button = made("button", head, "Log", {type: "button", "aria-pressed": this.log,
      "aria-label": `Logarithmic scale of ${this.title}: ${this.panel.yName}`});
    button.onclick = () => {
      this.log = !this.log;
      button.setAttribute("aria-pressed", this.log);
      this.draw();
    };
  }

  chips(box) {
    const holder = made("div", box, "", {class: "live-chips", role: "group", "aria-label": `DisplayedResult in ${this.title}`});
    this.values = this.panel.series.map((series, index) => {
      const chip = made("button", holder, "", {type: "button", "aria-pressed": this.picked[index]});
      made("i", chip, "", {}).style.background = this.colours[index];
      made("b", chip, series.name, {});
      chip.onclick = () => {
        const now = !this.picked[index];
        for (const plot of this.friends) plot.pick(series.name, now);
      };
      chip.onpointerenter = chip.onfocus = () => this.point(series.name);
      chip.onpointerleave = chip.onblur = () => this.point(null);
      return made("span", chip, "", {});
    });
  }

  /** Lets the others step back behind a series, or none. */
  point(name) {
    for (const {u, order, panel} of this.friends) {
      const place = order.findIndex(index => panel.series[index].name === name);
      u.setSeries(place < 0 ? null : place + 1, {focus: place >= 0});
    }
  }

  pick(name, now) {
    const index = this.panel.series.findIndex(series => series.name === name);
    if (index < 0) return;
    this.picked[index] = now;
    this.values[index].parentElement.setAttribute("aria-pressed", now);
    this.draw();
  }

  /** Draws anew, with the zoom that there was. */
  draw() {
    const before = this.u && this.u.scales.x, {panel} = this;
    if (this.u) this.u.destroy();
    this.arrange();
    this.u = new uPlot({
      width: this.plot.clientWidth || 480, height: this.height, legend: {show: false}, focus: {alpha: 0.2},
      cursor: {sync: panel.together ? {key: panel.together, scales: ["x", null]} : undefined, y: false,
        drag: {x: true, y: false}, points: {show: !this.own}},
      scales: {
        x: {time: false, distr: panel.logX ? 3 : 1, range: (_, low, high) => this.across(low, high)},
        y: {distr: this.log ? 3 : 1, dir: this.downwards ? -1 : 1, range: (_, low, high) => this.upright(low, high)},
      },
      axes: this.axes(),
      series: [{}, ...this.order.map(index => this.look(panel.series[index], index))],
      hooks: {
        setScale: [(u, key) => { if (key === "x") this.plot.dataset.shown = `${u.scales.x.min} ${u.scales.x.max}`; }],
        setCursor: [u => this.u === u && this.tell(u.cursor.idx)],
        draw: [u => this.over(u)],
      },
    }, [this.xs, ...this.shown], this.plot);
    if (before && before.min != null) this.u.setScale("x", {min: before.min, max: before.max});
  }

  across(low, high) {
    if (low == null) return [0, 1];
    if (low === high) return [low - 0.5, high + 0.5];
    const whole = low === this.xs[0] && high === this.xs[this.xs.length - 1];
    return this.panel.logX && whole ? [low / 1.04, high * 1.04] : [low, high];
  }

  /** An axis: names at some places, or numbers where there are none. */
  axis(label, size, names, shift = 0) {
    const font = "12px system-ui, 'DejaVu Sans', sans-serif";
    return {stroke: QUIET, font, labelFont: font, labelSize: 18, labelGap: 0, label: label || undefined, size,
      grid: {stroke: FAINT, width: 1, show: !names}, ticks: {stroke: FAINT, width: 1, size: 4},
      ...names && {splits: u => names.map((_, index) => index + shift)
        .filter(at => shift || (at >= u.scales.x.min && at <= u.scales.x.max))},
      filter: (_, splits) => splits, values: (u, splits, axis) => splits.map(at => names ? names[Math.round(at - shift)] :
        at == null || !round(at, u.scales[u.axes[axis].scale]) ? "" : formatNumber(at))};
  }

  key(event) {
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key] * (event.shiftKey ? 10 : 1) || 0;
    const turn = this.own ? {ArrowUp: -1, ArrowDown: 1}[event.key] || 0 : 0;
    const zoom = {"+": 0.5, "=": 0.5, "-": 2, "0": 0, Escape: 0}[event.key];
    if (!step && !turn && zoom === undefined) return;
    event.preventDefault();
    if (zoom !== undefined) return this.zoom(zoom);
    this.walk(step, turn);
    this.aloud.textContent = [this.place.textContent, this.heard].filter(Boolean).join(": ");
  }

  /** Puts the cursor at a place, and at a height in pixels. */
  move(x, top) {
    const {u} = this, {min, max} = u.scales.x;
    if (x < min || x > max) this.scale(x - (max - min) / 2, x + (max - min) / 2);
    u.setCursor({left: u.valToPos(x, "x") + 0.01, top: top ?? u.over.clientHeight / 2});
  }

  /** Zooms by a factor about where the cursor is; shows all for none. */
  zoom(factor) {
    const {u, xs, panel} = this, {min, max} = u.scales.x, first = xs[0], last = xs[xs.length - 1];
    if (!factor) return this.scale(first, last);
    const [to, from] = panel.logX ? [Math.log, Math.exp] : [x => x, x => x];
    const left = u.cursor.left > 0 ? u.posToVal(u.cursor.left, "x") : from((to(min) + to(max)) / 2);
    const [low, high] = [min, max].map(end => from(to(left) + (to(end) - to(left)) * factor));
    if (low <= first && high >= last) return this.scale(first, last);
    this.scale(Math.max(low, first), Math.min(high, last));
  }

  scale(min, max) {
    for (const plot of this.friends) plot.u.setScale("x", {min, max});
  }
}
