// Serves a folder: `node serve.mjs FOLDER PORT`. A file that has a `.br` beside it is sent compressed, as hosts do.

import { createReadStream, existsSync, realpathSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { pathToFileURL } from "node:url";

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".wasm": "application/wasm",
  ".png": "image/png",
};

// Returns a server on a port, or on any free one for 0.
export function serve(folder, port) {
  const server = createServer((request, response) => {
    let file, size;
    const headers = {};
    try {
      const path = normalize(decodeURIComponent(new URL(request.url, "http://localhost").pathname));
      file = join(folder, path.endsWith("/") ? `${path}index.html` : path);
      const found = statSync(file);
      if (!found.isFile()) throw new Error();
      headers["Content-Type"] = TYPES[extname(file)] ?? "application/octet-stream";
      if (existsSync(`${file}.br`) && /\bbr\b/.test(request.headers["accept-encoding"])) {
        file += ".br";
        headers["Content-Encoding"] = "br";
      }
      size = statSync(file).size;
    } catch {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, {
      ...headers,
      "Content-Length": size,
      "Cache-Control": "no-cache",
      // These make the browser's clock finer.
      "Cross-Origin-Opener-Policy": "same-origin",
      "Cross-Origin-Embedder-Policy": "require-corp",
    });
    createReadStream(file).pipe(response);
  });
  return new Promise((resolve) => server.listen(port, () => resolve(server)));
}

if (import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
  const [folder, port] = process.argv.slice(2);
  await serve(folder, Number(port));
  console.log(`http://localhost:${port}`);
}
