import assert from "node:assert/strict";
import { test } from "node:test";
import { Experiment, parseNumber, quote } from "../page/experiment.ts";
import { parseAddress, formatAddress } from "../page/hash.ts";
import { canonicalName } from "../page/setup.ts";

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

test("parsed file keeps its text", () => {
  assert.equal(Experiment.parse(TEXT).toml, TEXT);
});

test("keys are read, replaced and added", () => {
  const experiment = Experiment.parse(TEXT);
  assert.equal(experiment.get("device", "preset"), "mems-g2");
  assert.equal(experiment.get("workload", "mean_interarrival_ms"), "0.7");
  assert.equal(experiment.get("replay", "speedup"), undefined);
  const faster = experiment.withValue("replay", "speedup", 2).withValue("device", "preset", "mems-g3");
  assert.equal(faster.get("replay", "speedup"), "2");
  assert.equal(faster.get("device", "preset"), "mems-g3");
  assert.match(faster.toml, /# What it shows/);
  assert.equal(experiment.get("device", "preset"), "mems-g2");
});

test("literal string is read without quotes", () => {
  assert.equal(Experiment.parse("[scheduler]\nkind = 'c-look'  # 'C-LOOK'\n").get("scheduler", "kind"), "c-look");
});

test("alias resolves to the name of its entry", () => {
  const entries = [{ name: "fcfs", meaning: "" }, { name: "c-scan", meaning: "", aliases: ["c-look"] }];
  assert.deepEqual(["c-scan", "c-look", "mine:Mine"].map((word) => canonicalName(entries, word)), ["c-scan", "c-scan", "mine:Mine"]);
});

test("table is replaced together with its subtables", () => {
  const changed = Experiment.parse(TEXT).withTable("workload", null).withTable("trace", { file: "a \"b\".csv" });
  assert.equal(changed.has("workload"), false);
  assert.match(changed.toml, /file = "a \\"b\\".csv"/);
  assert.equal(Experiment.parse(`${TEXT}\n[workload.more]\na = 1\n`).withTable("workload", { kind: "small" }).has("workload.more"), false);
});

test("changes preserve arrays of tables", () => {
  const disk = "[device]\nkind = \"disk\"\n\n[[device.zone]]\nfirst = 0\n\n[[device.zone]]\nfirst = 433\n\n[replay]\nlimit = 10\n";
  assert.equal(Experiment.parse(disk).toml, disk);
  assert.equal(Experiment.parse(disk).withValue("replay", "limit", 20).toml, disk.replace("10", "20"));
  assert.equal(Experiment.parse(disk).withTable("device", { preset: "mems-g2" }).toml, '[replay]\nlimit = 10\n\n[device]\npreset = "mems-g2"\n');
});

test("chosen trace is replayed whole", () => {
  const chosen = Experiment.parse(TEXT).withValue("replay", "limit", 20_000).withTrace("a.csv");
  assert.deepEqual([chosen.get("trace", "file"), chosen.get("replay", "limit"), chosen.has("workload")], ["a.csv", "0", false]);
});

test("numbers are read with underscores and exponents", () => {
  assert.deepEqual(["1_000", "1e2", "0.5"].map(parseNumber), [1000, 100, 0.5]);
});

test("strings are quoted as TOML requires", () => {
  assert.equal(quote("a\nb\u007f\\"), '"a\\nb\\u007f\\\\"');
});

test("address round-trips place and experiment", async () => {
  const address = { view: "watch", t: 43_309_495_123, request: 39_183, experiment: TEXT };
  assert.deepEqual(await parseAddress(await formatAddress(address)), address);
  assert.deepEqual(await parseAddress("#t=x&r=-1"), {});
  await assert.rejects(parseAddress("#x=abc%25"), /cannot be read/);
  await assert.rejects(parseAddress(`#x=${"A".repeat(70_000)}`), /too long/);
});

test("address keeps every nanosecond", async () => {
  for (const t of [16_050_724, 32_740_398, 1, 999_999_999, 86_400_000_000_001]) assert.deepEqual(await parseAddress(await formatAddress({ t })), { t });
  for (let t = 15_000_000; t < 16_000_000; t += 997) assert.equal((await parseAddress(`#t=${(t / 1e9).toFixed(9)}`)).t, t);
  assert.deepEqual(await parseAddress(await formatAddress({ t: 16_050_723.9 })), { t: 16_050_723 });
});

test("small address with huge experiment is rejected", async () => {
  const hash = await formatAddress({ experiment: " ".repeat(3_000_000) });
  await assert.rejects(parseAddress(hash), /cannot be read/);
});
