// Tests the page in a browser, beside the same examples as programs of their own:
// `node test.mjs SITE EXAMPLES OUT MEGABYTES`. Pictures and a table of costs are left in OUT. A visitor downloads so many
// megabytes at most before the first page shows its character.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PNG } from "pngjs";
import puppeteer from "puppeteer-core";
import { serve } from "./serve.mjs";

const [site, examples, out, megabytes] = process.argv.slice(2);
mkdirSync(out, { recursive: true });
const server = await serve(site, 0);
const origin = `http://localhost:${server.address().port}/`;
const executable = ["chromium", "google-chrome"]
  .map((name) => execFileSync("sh", ["-c", `command -v ${name} || true`], { encoding: "utf8" }).trim())
  .find((path) => path);
const launch = (...args) =>
  puppeteer.launch({ executablePath: executable, protocolTimeout: 600_000, args: ["--no-sandbox", ...args] });
// Software rendering, in a browser for each: a canvas shows what WebGPU draws only on Vulkan, where WebGL2 crashes.
const browsers = {
  webgl2: await launch("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"),
  webgpu: await launch(
    "--enable-features=Vulkan", "--use-vulkan=swiftshader", "--use-angle=vulkan",
    "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader",
  ),
};

// Software rendering takes its time.
const PATIENCE = { timeout: 420_000, polling: 250 };
const SIZE = "640x400";
// `ONLY=crowd` runs the checks whose names contain it, as a regular expression.
const only = new RegExp(process.env.ONLY ?? "");
let failures = 0;

async function check(name, test) {
  if (!only.test(name)) return;
  const since = Date.now();
  try {
    const note = await test();
    console.log(`ok      ${name}${note ? `: ${note}` : ""} (${((Date.now() - since) / 1000).toFixed(0)} s)`);
  } catch (error) {
    failures += 1;
    console.log(`FAILED  ${name}: ${error.message}`);
  }
}

// Opens an example for a test, and returns the test's result. Errors on the page and in its console fail it, except
// those that `expected` knows.
async function onPage({ example, args = "", renderer = "webgl2", mobile = false, expected = () => false }, test) {
  const page = await browsers[renderer].newPage();
  const errors = [];
  page.on("pageerror", (error) => {
    // The program leaves `main` by this exception, and goes on.
    if (!error.message.includes("Using exceptions for control flow")) errors.push(error.message);
  });
  page.on("console", (message) => {
    if (message.type() === "error" && !expected(message.text())) errors.push(message.text());
  });
  page.setDefaultTimeout(PATIENCE.timeout);
  page.setDefaultNavigationTimeout(PATIENCE.timeout);
  try {
    await page.setViewport({ width: 640, height: 400, isMobile: mobile, hasTouch: mobile });
    await page.goto(`${origin}?${new URLSearchParams({ example, renderer, arguments: args })}`);
    const result = await test(page);
    assert.deepEqual(errors, [], "errors in the console");
    return result;
  } catch (error) {
    const caption = await page.evaluate("marionette.log.caption").catch(() => "");
    throw new Error([error.message, `caption: ${caption}`, ...errors].join("\n"));
  } finally {
    await page.close();
  }
}

async function hasWebGpu() {
  const page = await browsers.webgpu.newPage();
  await page.goto(origin);
  const found = await page.evaluate(async () => Boolean(await navigator.gpu?.requestAdapter()));
  await page.close();
  return found;
}

// Waits until the page says something, or has failed.
async function until(page, condition) {
  await page.waitForFunction(`marionette.log.failure || (${condition})`, PATIENCE);
  assert.equal(await page.evaluate("marionette.log.failure"), null);
}

// Runs an example without a window, on the page or as a program: its lines and its picture.
async function inBrowser(example, args, renderer) {
  // A bare MD5 model doesn't say what its textures' files are called, so the loader tries several names.
  const expected = (error) => example === "md5_character" && error.includes("404");
  const settings = { example, args: `--headless ${example}.png --size ${SIZE} ${args}`, renderer, expected };
  const log = await onPage(settings, async (page) => {
    await until(page, "Object.keys(marionette.log.files).length");
    return page.evaluate("marionette.log");
  });
  const bytes = Buffer.from(Object.values(log.files)[0], "base64");
  writeFileSync(join(out, `${example}.${renderer}.png`), bytes);
  return { lines: log.lines.flatMap((line) => line.split("\n")), picture: PNG.sync.read(bytes) };
}

function asProgram(example, args) {
  const file = join(out, `${example}.native.png`);
  const lines = runProgram(example, `--headless ${file} --size ${SIZE} --one-light ${args}`);
  return { lines, picture: PNG.sync.read(readFileSync(file)) };
}

function runProgram(example, args) {
  const text = execFileSync(join(examples, example), args.split(" ").filter((argument) => argument), {
    encoding: "utf8",
    // What it says on the side is in the error if it fails.
    stdio: "pipe",
    env: { ...process.env, BEVY_ASSET_ROOT: process.cwd() },
    maxBuffer: 1 << 28,
  });
  return text.split("\n");
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
const caption = (lines) => lines.filter((line) => line.startsWith("| "));

// Before Scout sets a foot so near to the edge of a step that the last bit decides which step it is on.
const STAIRS = "--time 1.8";
const EXAMPLES = {
  skinned_mesh: "", avatar: "", multi_animation: "", blend_animations: "", animation_callbacks: "", clip_queue: "", partial_body: "",
  attachments: "", rig: "", hero: "", locomotion: "", adventure: "", terrain: STAIRS, md5_character: "", gltf_character: "", faces: "",
  many_instances: "--count 12", dressing: "", picking: "", loading_screen: "", custom_material: "", hit_window: "", viewer: "",
};
const noWebGpu = !existsSync(join(site, "webgpu"))
  ? "its program was not built"
  : !(await hasWebGpu()) && "this browser has no adapter for it";
const renderers = ["webgl2", ...(noWebGpu ? [] : ["webgpu"])];
for (const [example, args] of Object.entries(EXAMPLES)) {
  let native;
  for (const renderer of renderers) {
    await check(`${example}, ${renderer}`, async () => {
      native ??= asProgram(example, `--joints ${args}`);
      const web = await inBrowser(example, `--joints ${args}`, renderer);
      const joints = compareJoints(web.lines, native.lines);
      assert(joints.count > 0, "no joints");
      // Springs and feet carry differences of the last bit on from frame to frame.
      assert(joints.worst <= 5e-3, `joint matrices differ by ${joints.worst}`);
      assert.deepEqual(caption(web.lines), caption(native.lines), "captions");
      const share = comparePictures(web.picture, native.picture);
      assert(share <= 0.005, `${(share * 100).toFixed(2)} % of the pixels differ`);
      return `${joints.count} joint matrices within ${joints.worst.toExponential(1)}, ${(share * 100).toFixed(2)} % of the pixels differ`;
    });
  }
}

// Nothing is drawn: that would measure the software renderer.
const costs = [];
for (const count of [100, 1000]) {
  await check(`costs of a crowd of ${count}`, async () => {
    const args = `--headless --costs --count ${count}`;
    const cost = (lines) => lines.filter((line) => line.includes(` ${count} characters, `));
    const web = await onPage({ example: "crowd", args }, async (page) => {
      const found = `marionette.log.lines.filter((line) => line.includes(" ${count} characters, "))`;
      await until(page, `${found}.length === 2`);
      return page.evaluate(found);
    });
    const native = cost(runProgram("crowd", args));
    assert.equal(native.length, 2);
    costs.push(...native.map((line) => `native   ${line}`), ...web.map((line) => `browser  ${line}`));
  });
}

await check("a dropped file opens in the viewer", () =>
  onPage({ example: "viewer" }, async (page) => {
    await until(page, "marionette.log.caption.includes('walk')");
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
    await until(page, "marionette.log.caption.toLowerCase().startsWith('hound.')");
    await until(page, "!marionette.log.caption.includes('loading')");
    await page.screenshot({ path: join(out, "dropped.png") });
    return (await page.evaluate("marionette.log.caption")).replace("\n", ", ");
  }),
);

await check("keys", () =>
  onPage({ example: "skinned_mesh" }, async (page) => {
    await until(page, "marionette.log.caption.includes('speed 1.00')");
    await page.focus("#stage");
    await page.keyboard.press("Minus", { delay: 400 });
    await until(page, "marionette.log.caption.includes('speed 0.80')");
  }),
);

await check("touch", () =>
  onPage({ example: "skinned_mesh", mobile: true }, async (page) => {
    await until(page, "marionette.log.caption.includes('speed 1.00')");
    const labels = await page.$$eval("#keys button", (buttons) => buttons.map((button) => button.textContent));
    assert.deepEqual(labels, ["pause", "speed −", "speed +", "reverse"]);
    const buttons = await page.$$("#keys button");
    await buttons[3].tap();
    await until(page, "marionette.log.caption.includes('speed -1.00')");
    await page.screenshot({ path: join(out, "touch.png") });
  }),
);

// Waits for Scout on the first page, and for the frames after the one that she is ready in.
async function untilWelcome(page) {
  await until(page, "marionette.log.shown");
  await new Promise((resolve) => setTimeout(resolve, 3000));
}

await check("the gallery", async () => {
  const page = await browsers.webgl2.newPage();
  page.setDefaultTimeout(PATIENCE.timeout);
  await page.setViewport({ width: 1280, height: 1000 });
  await page.goto(origin);
  await untilWelcome(page);
  await page.screenshot({ path: join(out, "gallery.png"), fullPage: true });
  // She turns to the pointer, and waves.
  await page.mouse.click(300, 150);
  await new Promise((resolve) => setTimeout(resolve, 2000));
  await page.screenshot({ path: join(out, "welcome.png"), clip: { x: 0, y: 0, width: 1280, height: 600 } });
  const broken = await page.evaluate(() => [...document.images].filter((image) => !image.naturalWidth).length);
  assert.equal(broken, 0, "pictures that are missing");
  await Promise.all([page.waitForNavigation({ waitUntil: "domcontentloaded" }), page.click("#cards a")]);
  await until(page, "marionette.log.caption.includes('walk')");
  await page.screenshot({ path: join(out, "example.png") });
  await page.close();
});

await check("the first page, on a phone", async () => {
  const page = await browsers.webgl2.newPage();
  page.setDefaultTimeout(PATIENCE.timeout);
  await page.setViewport({ width: 390, height: 844, isMobile: true, hasTouch: true });
  const network = await page.createCDPSession();
  await network.send("Network.enable");
  // As on a first visit.
  await network.send("Network.clearBrowserCache");
  // An ordinary connection: 50 Mbit/s.
  const speed = { offline: false, latency: 30, downloadThroughput: 50e6 / 8, uploadThroughput: 10e6 / 8 };
  await network.send("Network.emulateNetworkConditions", speed);
  let bytes = 0;
  let arrival = 0;
  const since = Date.now();
  network.on("Network.loadingFinished", ({ encodedDataLength }) => {
    bytes += encodedDataLength;
    arrival = (Date.now() - since) / 1000;
  });
  await page.goto(origin);
  await until(page, "marionette.log.shown");
  const before = bytes;
  const note = `${(before / 1e6).toFixed(1)} MB before she is there, in ${arrival.toFixed(1)} s at 50 Mbit/s`;
  await untilWelcome(page);
  await page.screenshot({ path: join(out, "phone.png") });
  // The page scrolls, although the finger is on her.
  await page.evaluate(() => scrollTo(0, 300));
  assert((await page.evaluate("scrollY")) > 0);
  await page.close();
  assert(before < Number(megabytes) * 1e6, note);
  return note;
});

if (renderers.includes("webgpu")) {
  await check("the gallery offers WebGPU", async () => {
    const page = await browsers.webgpu.newPage();
    page.setDefaultTimeout(PATIENCE.timeout);
    await page.goto(origin);
    await page.waitForSelector("#renderers:not([hidden])");
    await Promise.all([page.waitForNavigation(), page.click("#renderers a:last-child")]);
    const link = await page.$eval("#cards a", (card) => card.href);
    assert(link.endsWith("renderer=webgpu"), link);
    await page.close();
  });
} else console.log(`WEBGPU WAS NOT TESTED: ${noWebGpu}`);
costs.forEach((line) => console.log(line));
if (costs.length) writeFileSync(join(out, "costs.txt"), `${costs.join("\n")}\n`);
console.log(`pictures: ${out}`);
await Promise.all(Object.values(browsers).map((browser) => browser.close()));
server.close();
process.exitCode = failures ? 1 : 0;
