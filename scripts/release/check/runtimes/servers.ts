/** Runtimes and small frameworks: no build, one file that listens. */

import { listening, type Runtime, SERVE } from "./runtime.ts";

const app = (adapter: string, text: string) => `
import { shop } from "./inlet.js";
import { serve } from "@inlet/sdk/${adapter}";
const served = serve(shop());
const options = { port: 0, hostname: "127.0.0.1" };
${text}
`;

export const SERVERS: readonly Runtime[] = [
  {
    name: "Bun",
    packages: ["bun@latest"],
    installScripts: true,
    files: { "serve.js": app("fetch", 'console.log("port", Bun.serve({ ...options, fetch: served }).port);') },
    serve: ["bun", "serve.js"],
  },
  {
    name: "Deno",
    packages: ["deno@latest"],
    installScripts: true,
    files: { "serve.js": app("fetch", 'Deno.serve({ ...options, onListen: ({ port }) => console.log("port", port) }, served);') },
    serve: ["deno", "run", "--allow-all", "--node-modules-dir=manual", "serve.js"],
  },
  {
    name: "Koa",
    packages: ["koa@latest", "koa-mount@latest"],
    files: {
      "serve.js": app(
        "koa",
        listening('import Koa from "koa";\nimport mount from "koa-mount";', 'new Koa().use(mount("/api/inlet", served)).callback()'),
      ),
    },
    serve: SERVE,
  },
  {
    name: "h3 version 1",
    packages: ["h3@1"],
    files: {
      "serve.js": app(
        "h3",
        listening(
          'import { createApp, createRouter, defineEventHandler, toNodeListener } from "h3";',
          'toNodeListener(createApp().use(createRouter().use("/api/inlet", defineEventHandler(served))))',
        ),
      ),
    },
    serve: SERVE,
  },
  {
    name: "h3 version 2",
    packages: ["h3@2"],
    files: {
      "serve.js": app(
        "h3",
        `import { H3, defineEventHandler, serve as listen } from "h3";
const server = listen(new H3().all("/api/inlet", defineEventHandler(served)), { ...options, silent: true });
await server.ready();
console.log("port", new URL(server.url).port);`,
      ),
    },
    serve: SERVE,
  },
];
