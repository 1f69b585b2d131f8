import assert from "node:assert/strict";
import { test } from "node:test";
import { spread } from "../charts/curves.ts";
import { csv } from "../charts/menu.ts";
import { isolatedIndexes, unpack, unpackPositions, unpackShares } from "../charts/numbers.ts";
import { svgDocument } from "../charts/svg.ts";
import { linearTicks, logTicks, roundDown, roundUp } from "../charts/ticks.ts";
import { colorPlaces } from "../charts/palette.ts";
import { traceCanvas } from "../charts/trace.ts";
import places from "./places.json";
import cases from "./ticks.json";

test("linear ticks are multiples of a round step", () => {
  for (const { low, high, count, ticks } of cases.linear) assert.deepEqual(linearTicks(low, high, count), ticks);
});

test("logarithmic ticks are 1, 2 and 5 in each decade", () => {
  for (const { low, high, count, ticks } of cases.log) assert.deepEqual(logTicks(low, high, count), ticks);
});

test("any range has at least three ticks inside it", () => {
  for (let seed = 1; seed < 2000; seed++) {
    const low = 10 ** ((seed * 0.37) % 9 - 4);
    const high = low * (1.001 + ((seed * 7.13) % 1000));
    for (const ticks of [linearTicks(low, high, seed % 9), logTicks(low, high, seed % 9)]) {
      assert.ok(ticks.length >= 3, `${low} to ${high}: ${ticks}`);
      assert.ok(ticks.every((tick, index) => tick >= low * 0.999999 && tick <= high * 1.000001 && (index === 0 || tick > ticks[index - 1]!)));
    }
  }
});

test("a name has the same color in all figures", () => {
  for (const { names, places: expected } of places) assert.deepEqual(colorPlaces(names), expected);
});

test("values are rounded to 1, 2 or 5", () => {
  assert.deepEqual([0.034, 1, 4.9, 50, 99].map(roundDown), [0.02, 1, 2, 50, 50]);
  assert.deepEqual([0.034, 1, 4.9, 50, 99].map(roundUp), [0.05, 1, 5, 50, 100]);
});

test("values without a neighbor are isolated", () => {
  assert.deepEqual(isolatedIndexes([1, null, 2, 3, null, null, 4]), [0, 6]);
  assert.deepEqual(isolatedIndexes([5]), [0]);
  assert.equal(isolatedIndexes([1, 2, null]), null);
});

test("packed numbers are unpacked", () => {
  assert.deepEqual(unpack("AAAAABhBE"), [null, 0, 12.34]);
  assert.deepEqual(unpack([1, null]), [1, null]);
  assert.deepEqual(unpackShares([0.005, 50, 12.34, 0.005, 0], 2), [0.005, 50, 87.66, 99.995, 100]);
  assert.deepEqual(unpackPositions({ first: 1, step: 0.5, count: 3 }), [1, 1.5, 2]);
});

test("names at lines keep their distance and stay inside", () => {
  assert.deepEqual(spread([10, 12, 50], 10, 0, 100), [6, 16, 50]);
  assert.deepEqual(spread([99, 98], 10, 0, 100), [100, 90]);
});

test("a saved table quotes commas and formulas", () => {
  assert.equal(csv([["a,b", "=1+1"], [1.5, null]]), "\"a,b\",'=1+1\r\n1.5,\r\n");
});

/** The state of a canvas, without a canvas. */
class Pen {
  fillStyle = "#000000";
  strokeStyle = "#000000";
  lineWidth = 1;
  lineJoin = "miter";
  globalAlpha = 1;
  font = "12px system-ui, \"DejaVu Sans\", sans-serif";
  textAlign = "left";
  dash: number[] = [];
  matrix = { a: 1, b: 0, c: 0, d: 1, e: 0, f: 0 };
  painted = 0;
  beginPath(): void {}
  moveTo(): void {}
  lineTo(): void {}
  closePath(): void {}
  rect(): void {}
  arc(): void {}
  save(): void {}
  restore(): void {}
  clip(): void {}
  fill(): void { this.painted++; }
  stroke(): void { this.painted++; }
  fillRect(): void { this.painted++; }
  strokeRect(): void { this.painted++; }
  fillText(): void { this.painted++; }
  putImageData(): void {}
  getLineDash(): number[] { return this.dash; }
  getTransform(): object { return this.matrix; }
  measureText(): object { return { alphabeticBaseline: -4 }; }
}

function traced(draw: (pen: CanvasRenderingContext2D, penState: Pen) => void): [string, Pen] {
  const penState = new Pen();
  const pen = penState as unknown as CanvasRenderingContext2D;
  return [traceCanvas(pen, () => draw(pen, penState), "p"), penState];
}

test("a traced curve is one path with its color and dash", () => {
  const [text, { painted }] = traced((pen, state) => {
    [state.strokeStyle, state.lineWidth, state.dash] = ["#0072b2", 1.8, [4, 2]];
    pen.beginPath();
    pen.moveTo(1, 2.005);
    pen.lineTo(3.14159, -4);
    pen.stroke();
  });
  assert.equal(text, '<path d="M1 2.01L3.14 -4" fill="none" stroke="#0072b2" stroke-width="1.8" stroke-dasharray="4 2"/>');
  assert.equal(painted, 1);
});

test("a traced tick is a text at its baseline", () => {
  const [text] = traced((pen, state) => {
    [state.textAlign, state.font, state.matrix] = ["right", "bold 11px serif", { a: 0, b: -1, c: 1, d: 0, e: 8, f: 9 }];
    pen.fillText("<1,000> & more\u0000", 10, 20);
  });
  assert.equal(text, '<text x="10" y="24" transform="matrix(0 -1 1 0 8 9)" fill="#000000" font-family="serif" font-size="11" font-weight="bold"'
    + ' text-anchor="end">&lt;1,000&gt; &amp; more</text>');
});

test("a traced area keeps opacity and clipping paths", () => {
  const [text] = traced((pen, state) => {
    for (const color of ["rgba(0, 114, 178, 0.25)", "#d55e00"]) {
      pen.save();
      pen.beginPath();
      pen.rect(0, 0, 10, 20);
      pen.clip();
      state.fillStyle = color;
      pen.fillRect(1, 2, 3, 4);
      pen.restore();
    }
    pen.beginPath();
    pen.arc(5, 5, 3, 0, 7);
    pen.fill();
  });
  assert.equal(text, '<defs><clipPath id="p-0"><path d="M0 0h10v20h-10Z"/></clipPath></defs><g clip-path="url(#p-0)">'
    + '<path d="M1 2h3v4h-3Z" fill="rgb(0, 114, 178)" fill-opacity="0.25"/><path d="M1 2h3v4h-3Z" fill="#d55e00"/></g>'
    + '<path d="M8 5A3 3 0 1 1 2 5A3 3 0 1 1 8 5" fill="#d55e00"/>');
});

test("a canvas has its own methods after a failed trace", () => {
  const state = new Pen();
  const pen = state as unknown as CanvasRenderingContext2D;
  assert.throws(() => traceCanvas(pen, () => { throw new Error("no plot"); }, "p"), /no plot/);
  assert.equal(state.fill, Pen.prototype.fill);
});

test("an SVG document has plots below each other with labels and legends", () => {
  const part = { label: "response (ms)", width: 300, height: 100, scale: 2, elements: "<path/>" };
  const legend = ["a", "b", "c"].map((name) => ({ name, color: "#0072b2", width: 100 }));
  const text = svgDocument("A & B", [{ ...part, legend }, { ...part, legend: [] }], { paper: "#ffffff", ink: "#1b1f24" });
  assert.match(text, /<title>A &amp; B<\/title>/);
  assert.match(text, /width="300" height="336" viewBox="0 0 300 336"/);
  assert.deepEqual([...text.matchAll(/translate\(0 (\d+)\) scale\(0\.5\)/g)].map(([, top]) => top), ["60", "236"]);
  assert.deepEqual([...text.matchAll(/<text x="(\d+)" y="(\d+)"[^>]*font-size="12">(.)</g)].map(([, ...name]) => name), [["26", "176", "a"], ["158", "176", "b"], ["26", "196", "c"]]);
});
