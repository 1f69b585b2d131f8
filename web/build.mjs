// Bundles the laboratory into one HTML file that needs no network, for Python to put the core into: `node build.mjs`. With
// `--charts` it bundles the script of interactive report figures instead, with `--tests` the tests. Explorable figures of
// the documentation are a page of their own, without core and figures.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const OUT = join(HERE, "..", "python", "sledlab", "view", "page.html");
const EXPLORE = join(HERE, "dist", "explore.html");
const CHARTS = join(HERE, "..", "python", "sledlab", "show", "charts");

/** A module whose default export is a text that is known only now. */
const text = (name, contents) => ({
  name,
  setup(plugin) {
    plugin.onResolve({ filter: new RegExp(`^${name}$`) }, () => ({ path: name, namespace: "text" }));
    plugin.onLoad({ filter: new RegExp(`^${name}$`), namespace: "text" }, () => ({ contents, loader: "text" }));
  },
});

const bundle = async (entry, plugins = []) => {
  const result = await build({
    entryPoints: [join(HERE, entry)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2022",
    charset: "utf8",
    legalComments: "inline",
    loader: { ".css": "text" },
    plugins,
  });
  return result.outputFiles[0].text;
};

const hash = (contents) => `'sha256-${createHash("sha256").update(contents).digest("base64")}'`;

/** `</script` inside a script would end it. */
const escapeScript = (contents) => contents.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");

async function buildPage(folder, out) {
  const worker = await bundle("core/worker.ts");
  const script = escapeScript(await bundle(`${folder}/main.ts`, [text("sledlab:worker", worker)]));
  const style = (await build({
    entryPoints: [join(HERE, folder, "style.css")], bundle: true, minify: true, write: false, loader: { ".woff2": "dataurl" },
  })).outputFiles[0].text;
  const policy = [
    "default-src 'none'", `script-src ${hash(script)} 'wasm-unsafe-eval'`, "style-src 'unsafe-inline'",
    "img-src data: blob:", "font-src data:", "worker-src blob:", "connect-src 'none'", "base-uri 'none'", "form-action 'none'",
  ].join("; ");
  const parts = { policy, style, script };
  const html = readFileSync(join(HERE, "index.html"), "utf8")
    .replace(/\{\{(\w+)\}\}/g, (_, name) => parts[name]);
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, html);
}

async function buildPages() {
  await buildPage("page", OUT);
  await buildPage("explore", EXPLORE);
}

/** The script and style of interactive figures in reports. */
async function buildCharts() {
  mkdirSync(CHARTS, { recursive: true });
  // A page contains the script: no text in it may end the script element.
  writeFileSync(join(CHARTS, "charts.js"), escapeScript(await bundle("charts/report.ts")));
  const style = await build({ entryPoints: [join(HERE, "charts/charts.css")], bundle: true, minify: true, write: false });
  writeFileSync(join(CHARTS, "charts.css"), style.outputFiles[0].text);
  copyFileSync(join(HERE, "node_modules/uplot/LICENSE"), join(CHARTS, "LICENSE"));
}

async function buildTests() {
  const files = readdirSync(join(HERE, "test")).filter((name) => name.endsWith(".test.ts"));
  await build({
    entryPoints: files.map((name) => join(HERE, "test", name)),
    bundle: true,
    outdir: join(HERE, "dist/tests"),
    outExtension: { ".js": ".mjs" },
    format: "esm",
    platform: "node",
    logLevel: "warning",
  });
}

await (process.argv.includes("--tests") ? buildTests() : process.argv.includes("--charts") ? buildCharts() : buildPages());
