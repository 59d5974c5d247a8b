// Runs a benchmark in Node.js, whose engine is Chromium's:
//     rustup target add wasm32-wasip1
//     export CARGO_TARGET_WASM32_WASIP1_RUNNER="node --no-warnings wasi.mjs"
//     cargo bench --bench table --target wasm32-wasip1 -- pose
// With RUSTFLAGS=-Ctarget-feature=+simd128, it is built as `examples/web` is.
import { readFileSync } from "node:fs";
import { WASI } from "node:wasi";

const [program, ...args] = process.argv.slice(2);
const wasi = new WASI({ version: "preview1", args: [program, ...args] });
const module = await WebAssembly.compile(readFileSync(program));
wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject()));
