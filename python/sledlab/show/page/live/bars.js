// What happens when in rows, one after the other: the phases of nodes.
class Bars extends Plot {
  get own() { return true; }
  get downwards() { return true; }
  get rows() { return this.panel.rows; }

  columns() {
    return [[0, Math.max(...this.panel.bars.flat().map(bar => bar.reduce((a, b) => a + b)))]];
  }

  arrange() {
    this.order = this.panel.series.map((_, index) => index);
    this.shown = this.order.map(() => [null, null]);
  }

  look() { return {}; }
  upright() { return [0, this.rows.length]; }

  axes() {
    const longest = Math.max(...this.rows.map(name => name.length));
    return [this.axis(this.panel.xName, 28), this.axis("", longest * 7 + 16, this.rows, 0.5)];
  }

  over(u) {
    const {ctx} = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
    ctx.clip();
    this.panel.bars.forEach((row, place) => {
      const top = u.valToPos(place + 0.14, "y", true), height = u.valToPos(place + 0.86, "y", true) - top;
      for (const [start, ...lengths] of row) {
        let at = start;
        lengths.forEach((length, index) => {
          if (this.picked[index] && length > 0) {
            const left = u.valToPos(at, "x", true);
            ctx.fillStyle = this.colours[index];
            ctx.fillRect(left, top, Math.max(u.valToPos(at + length, "x", true) - left, 0.5), height);
          }
          at += length;
        });
      }
    });
    ctx.restore();
  }

  tell() {
    const {u, panel} = this, {left, top} = u.cursor, there = left >= 0;
    const at = there && u.posToVal(left, "x"), row = there && within(Math.floor(u.posToVal(top, "y")), 0, this.rows.length - 1);
    const bars = there && panel.bars[row] || [], step = bars.findLastIndex(([start]) => start <= at), bar = bars[step];
    const words = panel.series.map((_, each) => bar ? `${formatNumber(bar[each + 1])} s` : "");
    words.forEach((word, each) => { this.values[each].textContent = word; });
    this.place.textContent = bar ? `${this.rows[row]}, ${panel.steps[step]}: from ${formatNumber(bar[0])} s` : "";
    this.heard = panel.series.map((series, each) => `${series.name} ${words[each]}`).join("; ");
    Object.assign(this, {row, step});
  }

  walk(step, turn) {
    const row = within((this.row || 0) + turn, 0, this.rows.length - 1), bars = this.panel.bars[row];
    const bar = bars[within((this.step ?? -1) + step, 0, bars.length - 1)];
    this.move(bar ? bar[0] : 0, this.u.valToPos(row + 0.5, "y"));
  }
}
