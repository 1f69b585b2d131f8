// Curves, areas and bars that stand on each other.
const STRIP = 9;  // height of a row of overloaded points

class Curves extends Plot {
  /** A column of places, and one for each series; steps hold their value up to the next place. */
  columns() {
    const {panel} = this;
    for (const series of panel.series) {
      Object.assign(series, {at: unpacked(series.at), values: unpacked(series.values) || []});
    }
    if (!panel.series.some(series => series.at)) {
      const x = panel.steps ? panel.steps.map((_, index) => index) : places(panel.x);
      return [x, ...panel.series.map(series => series.values)];
    }
    const joined = uPlot.join(panel.series.map(series => [series.at, series.values]));
    for (const column of joined.slice(1)) {
      column.forEach((value, index) => { if (value == null && index) column[index] = column[index - 1]; });
    }
    return joined;
  }

  get scalable() {
    return this.panel.series.some(({kind, values}) => kind !== "bar" && values.some(value => value > 0));
  }

  /** Those that are grey lie below the others; bars stand on those before them that are picked. */
  arrange() {
    const {series} = this.panel, below = this.xs.map(() => 0), standing = new Map();
    this.order = series.map((_, index) => index).sort((a, b) => this.picked[a] - this.picked[b]);
    series.forEach(({kind, values}, index) => {
      if (kind !== "bar" || !this.picked[index]) return;
      standing.set(index, values.map((value, place) => below[place] += value || 0));
    });
    if (standing.size) this.order.reverse();
    this.shown = this.order.map(index => standing.get(index) || this.data[index + 1]);
  }

  look(series, index) {
    const picked = this.picked[index], colour = picked ? this.colours[index] : GREY, {kind} = series;
    const dash = series.grey ? [2 + 3 * Math.floor(index / COLOURS.length), 3] :
      series.dash && series.dash.map(length => length * 1.6);
    return {show: picked || !!series.grey || this.panel.series.length > 6, stroke: colour,
      width: kind === "bar" ? 0 : picked ? 1.8 : 0.8, dash: picked ? dash : undefined,
      fill: kind === "bar" ? colour : kind === "area" ? `${colour}40` : undefined,
      paths: kind === "bar" ? uPlot.paths.bars({size: [0.66, 80]}) :
        series.at ? uPlot.paths.stepped({align: 1}) : undefined,
      points: {show: this.xs.length <= 40 && picked && kind !== "bar", size: 6, fill: colour}};
  }

  /** Selected series with overloaded points that have no value: each has a row above the plot. */
  get strip() {
    return this.panel.series.filter((series, index) =>
      this.picked[index] && (series.late || []).some(place => series.values[place] == null));
  }

  across(low, high) {
    const {steps} = this.panel, count = this.xs.length;
    if (steps && low <= 0 && high >= count - 1) return [-0.6, count - 0.4];
    return super.across(low, high);
  }

  upright(low, high) {
    if (low == null || !(high > 0)) return this.log ? [0.1, 10] : [0, 1];
    const above = this.strip.length * STRIP + (this.panel.marks || []).length * 16;
    const share = Math.min(above / (this.height - 46), 0.5);  // of the plot's height
    const top = this.log ? high * 1.15 * (high / low * 1.3) ** (share / (1 - share)) : high * 1.05 / (1 - share);
    return [this.log ? low / 1.15 : Math.min(0, low), top];
  }

  axes() {
    const {panel} = this, few = !panel.steps && this.xs.length <= 12;
    return [{...this.axis(panel.xName, 28, panel.steps), ...few && this.few()}, this.axis("", 52)];
  }

  /** Numbers at the places themselves: those on the right first, as far as there is room. */
  few() {
    return {values: (_, splits) => splits.map(formatNumber), splits: u => {
      let last = Infinity;
      return this.xs.filter(x => x >= u.scales.x.min && x <= u.scales.x.max).reverse().filter(x => {
        const at = u.valToPos(x, "x"), free = last - at >= 46;
        if (free) last = at;
        return free;
      }).reverse();
    }};
  }

  /** What uPlot does not draw: marks, and hollow points where a queue kept growing. */
  over(u) {
    const {ctx} = u, {panel, strip} = this, scale = devicePixelRatio;
    this.mark(u, scale);
    ctx.save();
    ctx.beginPath();
    ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
    ctx.clip();
    for (const index of this.order) {
      const series = panel.series[index];
      if (!series.late || !this.picked[index]) continue;
      const above = u.bbox.top + (strip.indexOf(series) + 0.5) * STRIP * scale;
      for (const place of series.late) {
        const value = series.values[place], height = value == null ? above : u.valToPos(value, "y", true);
        ctx.beginPath();
        ctx.arc(u.valToPos(this.xs[place], "x", true), height, 3 * scale, 0, 7);
        ctx.fillStyle = "#fff";
        ctx.fill();
        ctx.lineWidth = 1.5 * scale;
        ctx.strokeStyle = this.colours[index];
        ctx.stroke();
      }
    }
    ctx.restore();
  }

  /** Lines at places, with a text at the top of each. */
  mark(u, scale) {
    const {ctx} = u, {left, top, width, height} = u.bbox;
    (this.panel.marks || []).forEach(([text, place], rank) => {
      const at = u.valToPos(place, "x", true), right = at < left + width * 0.6;
      if (at < left || at > left + width) return;
      ctx.save();
      ctx.strokeStyle = ctx.fillStyle = INK;
      ctx.lineWidth = scale;
      ctx.setLineDash([4 * scale, 2 * scale]);
      ctx.beginPath();
      ctx.moveTo(at, top);
      ctx.lineTo(at, top + height);
      ctx.stroke();
      ctx.font = `${12 * scale}px system-ui, 'DejaVu Sans', sans-serif`;
      ctx.textAlign = right ? "left" : "right";
      ctx.fillText(text, at + (right ? 4 : -4) * scale, top + (12 + 15 * rank) * scale);
      ctx.restore();
    });
  }

  /** Shows the values at a place next to the names of the series. */
  tell(index) {
    const {panel} = this, [words, unit] = apart(panel.xName), none = index == null;
    const where = none ? "" : panel.steps ? panel.steps[index] : formatNumber(this.xs[index]);
    this.place.textContent = none ? "" : panel.steps ? `${panel.xName}: ${where}` : `${words}: ${where} ${unit}`.trim();
    this.heard = panel.series.map((series, each) => {
      const value = none ? null : this.data[each + 1][index];
      const late = !none && series.late && series.late.includes(index);
      const text = [value == null ? "" : formatNumber(value), late ? "overloaded" : ""].filter(Boolean).join(", ");
      this.values[each].textContent = text;
      return text && this.picked[each] ? `${series.name} ${text}` : "";
    }).filter(Boolean).join("; ");
  }

  walk(step) {
    const {u, xs} = this, first = xs.findIndex(x => x >= u.scales.x.min), now = u.cursor.idx ?? first - step;
    this.move(xs[within(now + step, 0, xs.length - 1)]);
  }
}
