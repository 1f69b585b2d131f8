import assert from "node:assert/strict";
import { test } from "node:test";
import { Experiment, quoted } from "../page/experiment.ts";
import { read, write } from "../page/hash.ts";
import { nameOf } from "../page/setup.ts";

const TEXT = `# What it shows
seed = 1

[device]
preset = "mems-g2"  # of the papers

[workload]
kind = "uniform"
mean_interarrival_ms = 0.7

[study.vary.layout]
"mix: a" = {"device.layout" = "row-first"}
`;

test("a file stays as it was written", () => {
  assert.equal(Experiment.of(TEXT).toml, TEXT);
});

test("keys are read, replaced and added", () => {
  const experiment = Experiment.of(TEXT);
  assert.equal(experiment.get("device", "preset"), "mems-g2");
  assert.equal(experiment.get("workload", "mean_interarrival_ms"), "0.7");
  assert.equal(experiment.get("replay", "speedup"), undefined);
  const faster = experiment.with("replay", "speedup", 2).with("device", "preset", "mems-g3");
  assert.equal(faster.get("replay", "speedup"), "2");
  assert.equal(faster.get("device", "preset"), "mems-g3");
  assert.match(faster.toml, /# What it shows/);
  assert.equal(experiment.get("device", "preset"), "mems-g2");
});

test("literal strings are read without their quotes", () => {
  assert.equal(Experiment.of("[scheduler]\nkind = 'c-look'  # 'C-LOOK'\n").get("scheduler", "kind"), "c-look");
});

test("an alias is the name of its entry", () => {
  const entries = [{ name: "fcfs", meaning: "" }, { name: "c-scan", meaning: "", aliases: ["c-look"] }];
  assert.deepEqual(["c-scan", "c-look", "mine:Mine"].map((word) => nameOf(entries, word)), ["c-scan", "c-scan", "mine:Mine"]);
});

test("a table and its subtables can be replaced or removed", () => {
  const changed = Experiment.of(TEXT).withTable("workload", null).withTable("trace", { file: "a \"b\".csv" });
  assert.equal(changed.has("workload"), false);
  assert.match(changed.toml, /file = "a \\"b\\".csv"/);
  assert.equal(Experiment.of(`${TEXT}\n[workload.more]\na = 1\n`).withTable("workload", { kind: "small" }).has("workload.more"), false);
});

test("arrays of tables stay what they are", () => {
  const disk = "[device]\nkind = \"disk\"\n\n[[device.zone]]\nfirst = 0\n\n[[device.zone]]\nfirst = 433\n\n[replay]\nlimit = 10\n";
  assert.equal(Experiment.of(disk).toml, disk);
  assert.equal(Experiment.of(disk).with("replay", "limit", 20).toml, disk.replace("10", "20"));
  assert.equal(Experiment.of(disk).withTable("device", { preset: "mems-g2" }).toml, '[replay]\nlimit = 10\n\n[device]\npreset = "mems-g2"\n');
});

test("texts are quoted as TOML wants them", () => {
  assert.equal(quoted("a\nb\u007f\\"), '"a\\nb\\u007f\\\\"');
});

test("an address brings a place and an experiment back", async () => {
  const address = { view: "watch", t: 43_309_495_123, request: 39_183, experiment: TEXT };
  assert.deepEqual(await read(await write(address)), address);
  assert.deepEqual(await read("#t=x&r=-1"), {});
  await assert.rejects(read("#x=abc%25"), /cannot be read/);
  await assert.rejects(read(`#x=${"A".repeat(70_000)}`), /too long/);
});

test("a small address cannot become a huge experiment", async () => {
  const hash = await write({ experiment: " ".repeat(3_000_000) });
  await assert.rejects(read(hash), /cannot be read/);
});
