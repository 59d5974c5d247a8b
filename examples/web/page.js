// The gallery, and the page around a running example. The program calls the functions of `marionette`.

const EXAMPLES = {
  skinned_mesh: "One .m3d character that plays one clip: the minimum.",
  multi_animation: "Cross-fades between clips on a key.",
  blend_animations: "Pairs of clips with adjustable weights and priorities; the blend is in the middle.",
  animation_callbacks: "Callbacks that turn the camera and leave footprints.",
  hit_window: "A kick that hits while its window is open, at any frame rate.",
  clip_queue: "A queue of clips that falls back to idling.",
  faces: "A face that speaks, smiles, blinks and looks at the camera.",
  avatar: "An avatar of a .vrm file, with its expressions, eyes, and springs.",
  partial_body: "Jogging legs under a waving body.",
  attachments: "A lantern and a sword attached to joints.",
  rig: "A hand and a foot on goals, with poles for elbow and knee; a head that looks.",
  hero: "Scout as `marionette import` writes her: steered, with states and footsteps.",
  locomotion: "Scout under your control: a blend space by speed and turn, and a jump.",
  adventure: "A small third-person game: run, jump a gap, kick a post, wave.",
  terrain: "Root motion over stairs and slopes, heads that follow a lantern, ears and scarf in the wind.",
  md5_character: "An MD5 model with its skeleton drawn.",
  gltf_character: "A .glb by itself, and a manifest that adds clips from another .glb.",
  many_instances: "Hundreds of characters that share one asset.",
  dressing: "Armor, hidden and repainted parts, weights on the skin, a mirrored twin.",
  picking: "Darts that stick in the moving skin.",
  loading_screen: "A bar that fills, and a game that begins when everything is there.",
  custom_material: "A toon shader made from each part's own material.",
  crowd: "Thousands of characters, and what each stage of a frame costs beside bevy_animation.",
  viewer: "Every sample character, and your own: drop .glb, .m3d, .md5mesh or .character.ron files, with all they need.",
};

const address = new URLSearchParams(location.search);
// More browsers have WebGL2, so WebGPU is asked for: `?renderer=webgpu`.
const renderer = address.get("renderer") === "webgpu" ? "webgpu" : "webgl2";
const FOLDER = `./${renderer}`;
const find = (id) => document.getElementById(id);
const title = (name) => name[0].toUpperCase() + name.slice(1).replaceAll("_", " ");

// Written to by the program, and read by tests.
const log = { lines: [], files: {}, caption: "", failure: null, shown: null };

window.marionette = {
  log,
  example: () => address.get("example"),
  // Spaces separate arguments: `?example=viewer&arguments=--clip walk`.
  arguments: () => (address.get("arguments") ?? "").split(" ").filter((argument) => argument),
  print(line) {
    log.lines.push(line);
    console.log(line);
  },
  caption(text) {
    log.caption = text;
    find("caption").textContent = text;
  },
  save(name, bytes) {
    log.files[name] = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  },
  fail(reason) {
    log.failure = reason;
    find("message").hidden = false;
    find("message").textContent = reason;
  },
  help: showKeys,
};

find("back").href = link({});
if (address.has("example")) play(address.get("example"));
else showGallery();

// An address of this page that keeps the renderer.
function link(parameters) {
  return `?${new URLSearchParams(renderer === "webgpu" ? { ...parameters, renderer } : parameters)}`;
}

async function hasWebGpu() {
  return Boolean(await navigator.gpu?.requestAdapter());
}

async function showRenderers() {
  for (const choice of find("renderers").querySelectorAll("a")) {
    if (choice.textContent.toLowerCase() === renderer) choice.setAttribute("aria-current", "true");
  }
  find("renderers").hidden = !(await hasWebGpu());
}

function showGallery() {
  showRenderers();
  const pictures = [];
  for (const [name, line] of Object.entries(EXAMPLES)) {
    const card = document.createElement("a");
    card.href = link({ example: name });
    const picture = document.createElement("img");
    const file = `pictures/${name === "viewer" ? "inspector" : name}.png`;
    picture.alt = "";
    picture.loading = "lazy";
    pictures.push(() => (picture.src = file));
    const heading = document.createElement("h2");
    heading.textContent = title(name);
    const words = document.createElement("p");
    words.textContent = line;
    card.append(picture, heading, words);
    find("cards").append(card);
  }
  find("gallery").hidden = false;
  // Scout goes first: her program calls this before the first frame with her.
  marionette.shown = () => {
    log.shown = performance.now();
    requestAnimationFrame(() => requestAnimationFrame(() => find("welcome").classList.add("shown")));
    find("arrival").hidden = true;
    pictures.forEach((load) => load());
    prefetchExamples();
  };
  welcome().catch((error) => {
    find("hero").classList.add("still");
    pictures.forEach((load) => load());
    log.failure = String(error);
    console.error(error);
  });
}

// Starts the small program of the first page. Without WebGL2, the page is complete without it.
async function welcome() {
  preload("assets/adventure/scout_adventure.character.ron");
  const { default: start } = await import("./welcome/welcome.js");
  await run(start, "./welcome/welcome_bg.wasm", "./welcome/size.txt", find("arrival"));
}

// Downloads a manifest and the files that it names while the program is still on its way.
async function preload(manifest) {
  const response = await fetch(manifest);
  const text = await response.text();
  const model = new URL(text.match(/model: "([^"]+)"/)[1], response.url);
  const names = new Set(Array.from(text.matchAll(/"([^"]+\.(?:glb|md5anim|png))"/g), ([, name]) => name));
  // Textures are beside the model.
  for (const name of names) fetch(new URL(name, name.endsWith(".png") ? model : response.url));
}

// The program of the examples, so that the first click finds it in the cache; not where data is dear.
function prefetchExamples() {
  if (navigator.connection?.saveData || matchMedia("(pointer: coarse)").matches) return;
  const link = document.createElement("link");
  Object.assign(link, { rel: "prefetch", href: `${FOLDER}/bevy_marionette_web_bg.wasm` });
  document.head.append(link);
}

async function play(name) {
  document.title = `${title(name)} - bevy_marionette`;
  find("player").hidden = false;
  if (renderer === "webgpu" && !(await hasWebGpu())) {
    find("progress").hidden = true;
    marionette.fail("This browser has no WebGPU. Go back and choose WebGL2.");
    find("back").href = "?";
    return;
  }
  const { default: start, drop_files } = await import(`${FOLDER}/bevy_marionette_web.js`);
  takeDrops(drop_files);
  try {
    await run(start, `${FOLDER}/bevy_marionette_web_bg.wasm`, `${FOLDER}/size.txt`, find("bar"));
  } catch (error) {
    marionette.fail(log.failure ?? String(error));
    throw error;
  } finally {
    find("progress").hidden = true;
  }
  find("stage").focus();
}

// Downloads a program and starts it.
async function run(start, file, size, bar) {
  try {
    await start({ module_or_path: await download(file, size, bar) });
  } catch (error) {
    // Not an error: the program leaves `main` this way, and goes on frame by frame.
    if (!String(error).includes("Using exceptions for control flow")) throw error;
  }
}

// Downloads a program, with a bar that fills.
async function download(file, size, bar) {
  // The length of a compressed file is not what arrives; the build wrote down the real one.
  const [response, length] = await Promise.all([fetch(file), fetch(size)]);
  if (!response.ok) throw new Error(`${file}: ${response.status} ${response.statusText}`);
  const total = Number((await length.text()).trim());
  let loaded = 0;
  const counted = response.body.pipeThrough(
    new TransformStream({
      transform(chunk, controller) {
        loaded += chunk.length;
        bar.value = loaded / total;
        controller.enqueue(chunk);
      },
    }),
  );
  return new Response(counted, { headers: { "Content-Type": "application/wasm" } });
}

// Hands dropped files to the program: all of one drop together, so that a model finds its textures.
function takeDrops(drop_files) {
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", async (event) => {
    event.preventDefault();
    const files = [...event.dataTransfer.files];
    const contents = await Promise.all(files.map(async (file) => new Uint8Array(await file.arrayBuffer())));
    drop_files(files.map((file) => file.name), contents);
  });
}

// Key codes and signs of the keys that help texts name by words.
const KEYS = { space: ["Space"], tab: ["Tab"], minus: ["Minus", "\u2212"], plus: ["Equal", "+"] };

function keyCode(key) {
  if (KEYS[key.toLowerCase()]) return KEYS[key.toLowerCase()][0];
  if (/^[A-Z]$/.test(key)) return `Key${key}`;
  if (/^\d$/.test(key)) return `Digit${key}`;
  return /^F\d$/.test(key) ? key : null;
}

// Lists the keys of a part such as "1 - 4" or "space".
function keysOf(names) {
  const [, first, last] = names.match(/^(\d) - (\d)$/) ?? [];
  const keys = first ? Array.from({ length: last - first + 1 }, (_, index) => String(+first + index)) : [names];
  return keys.filter(keyCode);
}

// Makes a button of each key in the help text, such as "space: pause   N, P: next, previous clip   minus, plus: speed".
function showKeys(help) {
  if (!matchMedia("(pointer: coarse)").matches) return;
  for (const part of help.split(/\s{2,}|\n/)) {
    const [names, words] = part.trim().split(": ");
    if (!words) continue;
    const [groups, labels] = [names.split(", ").map(keysOf), words.split(", ")];
    const keys = groups.flat();
    for (const [index, group] of groups.entries()) {
      for (const key of group) {
        const sign = KEYS[key.toLowerCase()]?.[1] ?? key;
        if (labels.length === keys.length) addKey(key, labels[keys.indexOf(key)]);
        else if (labels.length === groups.length) addKey(key, group.length > 1 ? `${labels[index]} ${sign}` : labels[index]);
        else addKey(key, keys.length > 1 ? `${words} ${sign}` : words);
      }
    }
  }
}

function addKey(key, label) {
  const button = document.createElement("button");
  button.textContent = label;
  const press = (type) => (event) => {
    event.preventDefault();
    const init = { code: keyCode(key), key: key.toLowerCase(), bubbles: true };
    find("stage").dispatchEvent(new KeyboardEvent(type, init));
  };
  button.addEventListener("pointerdown", press("keydown"));
  for (const end of ["pointerup", "pointercancel", "pointerleave"]) button.addEventListener(end, press("keyup"));
  find("keys").append(button);
}
