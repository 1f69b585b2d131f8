// Numbers and elements. Everything that comes from a page's data is text to these scripts, never markup.
const INK = "#1b1f24", QUIET = "#5d6670", FAINT = "#d9dee3", GREY = "#b9c1c9";
const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#A2568B", "#56B4E9", "#B8860B"];
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** A new element at the end of another. */
const made = (tag, holder, text, attributes) => {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  for (const name in attributes) element.setAttribute(name, attributes[name]);
  holder.append(element);
  return element;
};

/** A number as people read it. */
const formatNumber = value => Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") :
  String(Number(value.toPrecision(4)));

/** The name of an axis in two: its words and its unit. */
const apart = name => (/^(.*) \(([^()]*)\)$/.exec(name) || [name, name, ""]).slice(1);

const within = (value, low, high) => Math.min(Math.max(value, low), high);

/** Numbers out of a text of three letters each, as `_packed` in series.py makes them. */
const unpacked = text => typeof text !== "string" ? text : text.match(/.../g).map(letters => {
  const code = [...letters].reduce((sum, letter) => sum * 64 + DIGITS.indexOf(letter), 0) - 2;
  return code === -2 ? null : code === -1 ? 0 : Number(`${code % 9000 + 1000}e${Math.floor(code / 9000) - 17}`);
});

/** Places on an axis, which may be given by the first, their distance and their number. */
const places = x => !x ? [] : Array.isArray(x) ? x :
  Array.from({length: x.count}, (_, index) => x.first + index * x.step);

/** Whether a place of an axis has its number: of a logarithmic one only 1, 2, 5, or powers of ten where many are. */
const round = (at, scale) => {
  if (scale.distr !== 3) return true;
  const digit = Number(at.toExponential(3).split("e")[0]), decades = Math.log10(scale.max / scale.min);
  return digit === 1 || (decades < 2.5 && (digit === 2 || digit === 5)) || (decades < 0.5 && digit % 1 === 0);
};
