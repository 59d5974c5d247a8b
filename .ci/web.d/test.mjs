// Tests the page in a browser, beside the same examples as programs of their own:
// `node test.mjs SITE EXAMPLES OUT`. Pictures and a table of costs are left in OUT.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PNG } from "pngjs";
import puppeteer from "puppeteer-core";
import { serve } from "./serve.mjs";

const [site, examples, out] = process.argv.slice(2);
mkdirSync(out, { recursive: true });
const server = await serve(site, 0);
const origin = `http://localhost:${server.address().port}/`;
const executable = ["chromium", "google-chrome"]
  .map((name) => execFileSync("sh", ["-c", `command -v ${name} || true`], { encoding: "utf8" }).trim())
  .find((path) => path);
const browser = await puppeteer.launch({
  executablePath: executable,
  protocolTimeout: 600_000,
  args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"],
});

// Software rendering takes its time.
const PATIENCE = { timeout: 420_000, polling: 250 };
const SIZE = "640x400";
let failures = 0;

// Opens an example. Every error on the page or in the console is kept.
async function open(example, args = "", mobile = false) {
  const page = await browser.newPage();
  await page.setViewport({ width: 640, height: 400, isMobile: mobile, hasTouch: mobile });
  page.errors = [];
  page.on("pageerror", (error) => {
    // The program leaves `main` by this exception, and goes on.
    if (!error.message.includes("Using exceptions for control flow")) page.errors.push(error.message);
  });
  page.on("console", (message) => {
    if (message.type() === "error") page.errors.push(message.text());
  });
  page.setDefaultTimeout(PATIENCE.timeout);
  await page.goto(`${origin}?example=${example}&arguments=${encodeURIComponent(args)}`);
  return page;
}

async function check(name, test) {
  const since = Date.now();
  try {
    const note = await test();
    console.log(`ok      ${name}${note ? `: ${note}` : ""} (${((Date.now() - since) / 1000).toFixed(0)} s)`);
  } catch (error) {
    failures += 1;
    console.log(`FAILED  ${name}: ${error.message}`);
  }
}

// Runs an example without a window, on the page or as a program: its lines and its picture.
async function inBrowser(example, args) {
  const page = await open(example, `--headless ${example}.png --size ${SIZE} ${args}`);
  try {
    await page.waitForFunction("Object.keys(marionette.log.files).length || marionette.log.failure", PATIENCE);
  } catch (error) {
    throw new Error(`${error.message} ${page.errors.join("; ")}`);
  }
  const log = await page.evaluate("marionette.log");
  await page.close();
  assert.equal(log.failure, null);
  // A bare MD5 model doesn't say what its textures' files are called, so the loader tries several names.
  const errors = page.errors.filter((error) => example !== "md5_character" || !error.includes("404"));
  assert.deepEqual(errors, [], "errors in the console");
  const bytes = Buffer.from(Object.values(log.files)[0], "base64");
  writeFileSync(join(out, `${example}.web.png`), bytes);
  return { lines: log.lines.flatMap((line) => line.split("\n")), picture: PNG.sync.read(bytes) };
}

function asProgram(example, args) {
  const file = join(out, `${example}.native.png`);
  const all = ["--headless", file, "--size", SIZE, "--one-light", ...args.split(" ").filter((argument) => argument)];
  const text = execFileSync(join(examples, example), all, {
    encoding: "utf8",
    env: { ...process.env, BEVY_ASSET_ROOT: process.cwd() },
    maxBuffer: 1 << 28,
  });
  return { lines: text.split("\n"), picture: PNG.sync.read(readFileSync(file)) };
}

// Largest difference of two lists of joint matrices, and how many there are.
function compareJoints(ours, theirs) {
  const parts = (lines) =>
    lines
      .filter((line) => line.startsWith("joints "))
      .map((line) => line.split(" "))
      .map(([, clip, part, ...numbers]) => ({ of: `${clip} ${part}`, numbers: numbers.map(Number) }));
  const [web, native] = [parts(ours), parts(theirs)];
  assert.equal(web.length, native.length, "parts with joints");
  const apart = (a, b) =>
    a.of === b.of && a.numbers.length === b.numbers.length
      ? a.numbers.reduce((worst, number, at) => Math.max(worst, Math.abs(number - b.numbers[at])), 0)
      : Infinity;
  let [worst, count] = [0, 0];
  for (const part of web) {
    // Characters are listed in the order in which they were loaded, so each part is compared with the one most like it.
    const differences = native.map((other) => apart(part, other));
    const closest = differences.indexOf(Math.min(...differences));
    worst = Math.max(worst, differences[closest] ?? Infinity);
    native.splice(closest, 1);
    count += part.numbers.length / 16;
  }
  return { worst, count };
}

// The share of pixels that differ visibly.
function comparePictures(a, b) {
  assert.deepEqual([a.width, a.height], [b.width, b.height]);
  let different = 0;
  for (let at = 0; at < a.data.length; at += 4) {
    const apart = (channel) => Math.abs(a.data[at + channel] - b.data[at + channel]);
    if (Math.max(apart(0), apart(1), apart(2)) > 24) different += 1;
  }
  return (different * 4) / a.data.length;
}

// What the caption says: counts of callbacks, positions in clips, parameters.
// Characters are listed in the order in which they were loaded.
const caption = (lines) => lines.filter((line) => line.startsWith("| ")).sort();

const EVERY = [
  "skinned_mesh", "multi_animation", "blend_animations", "animation_callbacks", "clip_queue", "partial_body",
  "attachments", "rig", "locomotion", "terrain", "md5_character", "gltf_character", "many_instances", "dressing",
  "viewer",
];
for (const example of process.env.EXAMPLES?.split(" ") ?? EVERY) {
  await check(example, async () => {
    const native = asProgram(example, "--joints");
    const web = await inBrowser(example, "--joints");
    const joints = compareJoints(web.lines, native.lines);
    assert(joints.count > 0, "no joints");
    // Springs and feet carry differences of the last bit on from frame to frame.
    assert(joints.worst <= 5e-3, `joint matrices differ by ${joints.worst}`);
    assert.deepEqual(caption(web.lines), caption(native.lines), "captions");
    const share = comparePictures(web.picture, native.picture);
    assert(share <= 0.02, `${(share * 100).toFixed(2)} % of the pixels differ`);
    return `${joints.count} joint matrices within ${joints.worst.toExponential(1)}, ${(share * 100).toFixed(2)} % of the pixels differ`;
  });
}

const costs = [];
for (const count of [100, 1000]) {
  await check(`crowd of ${count}`, async () => {
    const cost = (lines) => lines.filter((line) => line.includes(" characters, "));
    const args = `--count ${count}`;
    const [native, web] = [cost(asProgram("crowd", args).lines), cost((await inBrowser("crowd", args)).lines)];
    assert.equal(web.length, 2);
    costs.push(...native.map((line) => `native   ${line}`), ...web.map((line) => `browser  ${line}`));
  });
}

await check("a dropped file opens in the viewer", async () => {
  const page = await open("viewer");
  await page.waitForFunction("marionette.log.caption.includes('walk')", PATIENCE);
  const folder = join(site, "assets/hound");
  const files = readdirSync(folder).filter((file) => !file.endsWith(".ron"));
  const bytes = files.map((file) => [file, readFileSync(join(folder, file)).toString("base64")]);
  await page.evaluate((files) => {
    const transfer = new DataTransfer();
    for (const [name, text] of files) {
      const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
      transfer.items.add(new File([bytes], name));
    }
    dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, cancelable: true }));
  }, bytes);
  await page.waitForFunction("marionette.log.caption.toLowerCase().startsWith('hound.')", PATIENCE);
  await page.waitForFunction("!marionette.log.caption.includes('loading')", PATIENCE);
  await page.screenshot({ path: join(out, "dropped.png") });
  const caption = await page.evaluate("marionette.log.caption");
  await page.close();
  assert.deepEqual(page.errors, [], "errors in the console");
  return caption.replace("\n", ", ");
});

await check("keys", async () => {
  const page = await open("skinned_mesh");
  await page.waitForFunction("marionette.log.caption.includes('speed 1.00')", PATIENCE);
  await page.focus("#stage");
  await page.keyboard.press("Minus", { delay: 400 });
  await page.waitForFunction("marionette.log.caption.includes('speed 0.80')", PATIENCE);
  await page.close();
  assert.deepEqual(page.errors, [], "errors in the console");
});

await check("touch", async () => {
  const page = await open("skinned_mesh", "", true);
  await page.waitForFunction("marionette.log.caption.includes('speed 1.00')", PATIENCE);
  const button = await page.evaluateHandle(() =>
    [...document.querySelectorAll("#keys button")].find((button) => button.textContent === "reverse"),
  );
  await button.asElement().tap();
  await page.waitForFunction("marionette.log.caption.includes('speed -1.00')", PATIENCE);
  await page.screenshot({ path: join(out, "touch.png") });
  await page.close();
  assert.deepEqual(page.errors, [], "errors in the console");
});

await check("the gallery", async () => {
  const page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 1000 });
  await page.goto(origin, { waitUntil: "networkidle0" });
  await page.screenshot({ path: join(out, "gallery.png"), fullPage: true });
  const broken = await page.evaluate(() => [...document.images].filter((image) => !image.naturalWidth).length);
  assert.equal(broken, 0, "pictures that are missing");
  await page.click("#cards a");
  await page.waitForFunction("marionette.log.caption.includes('walk')", PATIENCE);
  await page.screenshot({ path: join(out, "example.png") });
  await page.close();
});

costs.forEach((line) => console.log(line));
console.log(`pictures: ${out}`);
await browser.close();
server.close();
process.exitCode = failures ? 1 : 0;
