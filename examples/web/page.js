// The gallery, and the page around a running example. The program calls the functions of `marionette`.

const EXAMPLES = {
  skinned_mesh: "One .m3d character that plays one clip: the minimum.",
  multi_animation: "Cross-fades between clips on a key.",
  blend_animations: "Pairs of clips with adjustable weights and priorities; the blend is in the middle.",
  animation_callbacks: "Callbacks that turn the camera and leave footprints.",
  clip_queue: "A queue of clips that falls back to idling.",
  partial_body: "Jogging legs under a waving body.",
  attachments: "A lantern and a sword attached to joints.",
  rig: "A hand and a foot on goals, with poles for elbow and knee; a head that looks.",
  locomotion: "Scout under your control: a blend space by speed and turn, and a jump.",
  terrain: "Root motion over stairs and slopes, heads that follow a lantern, ears and scarf in the wind.",
  md5_character: "An MD5 model with its skeleton drawn.",
  gltf_character: "A .glb by itself, and a manifest that adds clips from another .glb.",
  many_instances: "Hundreds of characters that share one asset.",
  dressing: "Armor, hidden and repainted parts, weights on the skin, a mirrored twin.",
  crowd: "Thousands of characters, and what each stage of a frame costs beside bevy_animation.",
  viewer: "Every sample character, and your own: drop .glb, .m3d, .md5mesh or .character.ron files, with all they need.",
};

const address = new URLSearchParams(location.search);
const find = (id) => document.getElementById(id);
const title = (name) => name[0].toUpperCase() + name.slice(1).replaceAll("_", " ");

// Written to by the program, and read by tests.
const log = { lines: [], files: {}, caption: "", failure: null };

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

if (address.has("example")) play(address.get("example"));
else showGallery();

function showGallery() {
  for (const [name, line] of Object.entries(EXAMPLES)) {
    const card = document.createElement("a");
    card.href = `?example=${name}`;
    const picture = document.createElement("img");
    picture.src = `pictures/${name === "viewer" ? "inspector" : name}.png`;
    picture.alt = "";
    picture.loading = "lazy";
    const heading = document.createElement("h2");
    heading.textContent = title(name);
    const words = document.createElement("p");
    words.textContent = line;
    card.append(picture, heading, words);
    find("cards").append(card);
  }
  find("gallery").hidden = false;
}

async function play(name) {
  document.title = `${title(name)} - bevy_marionette`;
  find("player").hidden = false;
  const { default: start, drop_files } = await import("./bevy_marionette_web.js");
  takeDrops(drop_files);
  try {
    await start({ module_or_path: await download("bevy_marionette_web_bg.wasm") });
  } catch (error) {
    // Not an error: the program leaves `main` this way, and goes on frame by frame.
    if (!String(error).includes("Using exceptions for control flow")) {
      marionette.fail(log.failure ?? String(error));
      throw error;
    }
  } finally {
    find("progress").hidden = true;
  }
  find("stage").focus();
}

// Downloads the program, with a bar that fills.
async function download(file) {
  const response = await fetch(file);
  if (!response.ok) throw new Error(`${file}: ${response.status} ${response.statusText}`);
  // The length of a compressed file is not what arrives; the build wrote down the real one.
  const total = Number((await (await fetch("size.txt")).text()).trim());
  let loaded = 0;
  const counted = response.body.pipeThrough(
    new TransformStream({
      transform(chunk, controller) {
        loaded += chunk.length;
        find("bar").value = loaded / total;
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

// Makes a button of each key in the help text, such as "space: pause   N, P: next, previous clip".
function showKeys(help) {
  if (!matchMedia("(pointer: coarse)").matches) return;
  const names = { space: "Space", minus: "Minus", plus: "Equal", Tab: "Tab" };
  for (const part of help.split(/\s{2,}|\n/)) {
    const [keys, words] = part.trim().split(": ");
    for (const [index, key] of (words ? keys.split(", ") : []).entries()) {
      const code = names[key.toLowerCase()] ?? names[key] ?? (/^[A-Z]$/.test(key) ? `Key${key}` : /^F?\d$/.test(key) ? (key[0] === "F" ? key : `Digit${key}`) : null);
      if (!code) continue;
      const button = document.createElement("button");
      button.textContent = words.split(", ")[index] ?? words;
      const press = (type) => (event) => {
        event.preventDefault();
        find("stage").dispatchEvent(new KeyboardEvent(type, { code, key: key.toLowerCase(), bubbles: true }));
      };
      button.addEventListener("pointerdown", press("keydown"));
      for (const end of ["pointerup", "pointercancel", "pointerleave"]) button.addEventListener(end, press("keyup"));
      find("keys").append(button);
    }
  }
}
