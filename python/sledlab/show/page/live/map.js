// Positioning times to all places of a sled, which are the longer of those in x and in y.
const CIVIDIS = ["#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838"];

class TimeMap extends Plot {
  get own() { return true; }

  columns() {
    const {map} = this.panel;
    Object.assign(this, {y: places(map.y), inX: unpacked(map.inX), inY: unpacked(map.inY)});
    this.longest = Math.max(...this.inX, ...this.inY);
    this.shortest = Math.max(Math.min(...this.inX), Math.min(...this.inY));
    return [places(this.panel.x)];
  }

  arrange() {
    this.order = [0];
    this.shown = [this.xs.map(() => null)];
  }

  look() { return {}; }

  upright() {
    const {y} = this, half = Math.abs(y[1] - y[0]) / 2;
    return [Math.min(y[0], y[y.length - 1]) - half, Math.max(y[0], y[y.length - 1]) + half];
  }

  axes() {
    return [this.axis(this.panel.xName, 28), this.axis(this.panel.map.yName, 52)];
  }

  /** The colour of a time: short ones are light. */
  colour(ms) {
    const share = (this.longest - ms) / (this.longest - this.shortest || 1), at = share * (CIVIDIS.length - 1);
    const low = Math.min(Math.floor(at), CIVIDIS.length - 2);
    const part = (colour, place) => parseInt(CIVIDIS[colour].slice(place, place + 2), 16);
    return [1, 3, 5].map(place => Math.round(part(low, place) + (part(low + 1, place) - part(low, place)) * (at - low)));
  }

  over(u) {
    const {left, top, width, height} = u.bbox, image = u.ctx.createImageData(Math.round(width), Math.round(height));
    const rows = Array.from({length: image.height}, (_, row) => this.inY[this.nearest(this.y, u.posToVal(top + row, "y", true))]);
    const colours = new Map();
    for (let column = 0; column < image.width; column++) {
      const across = this.inX[this.nearest(this.xs, u.posToVal(left + column, "x", true))];
      rows.forEach((upright, row) => {
        const ms = Math.max(across, upright);
        if (!colours.has(ms)) colours.set(ms, this.colour(ms));
        image.data.set([...colours.get(ms), 255], (row * image.width + column) * 4);
      });
    }
    u.ctx.putImageData(image, Math.round(left), Math.round(top));
  }

  /** Which of equally distant places is nearest. */
  nearest(list, at) {
    return within(Math.round((at - list[0]) / (list[1] - list[0])), 0, list.length - 1);
  }

  tell() {
    const {u} = this, {left, top} = u.cursor, there = left >= 0;
    const [column, row] = there ? [this.nearest(this.xs, u.posToVal(left, "x")), this.nearest(this.y, u.posToVal(top, "y"))] : [];
    this.place.textContent = !there ? "" : `x = ${this.xs[column]}, y = ${this.y[row]}: ` +
      `${formatNumber(Math.max(this.inX[column], this.inY[row]))} ms, in x ${formatNumber(this.inX[column])}, in y ${formatNumber(this.inY[row])}`;
    Object.assign(this, {column, row, heard: ""});
  }

  walk(step, turn) {
    const {xs, y, u} = this, up = y[1] > y[0] ? -turn : turn;
    const column = within((this.column ?? this.nearest(xs, 0)) + step, 0, xs.length - 1);
    const row = within((this.row ?? this.nearest(y, 0)) + up, 0, y.length - 1);
    this.move(xs[column], u.valToPos(y[row], "y"));
  }
}
