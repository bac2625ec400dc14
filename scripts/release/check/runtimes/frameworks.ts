/** Frameworks whose projects are built. Each is served by the handler for Node that its build makes. */

import { listening, type Runtime } from "./runtime.ts";

const methods = (adapter: string, more = "") => `
import { serve } from "@inlet/sdk/${adapter}";
import { shop } from "INLET";
export const { GET, POST, PUT } = serve(shop());
${more}`;

/** Their bundlers remove exports of the server from the code for browsers, and refuse `export const { action, loader } = …`. */
const ACTIONS = `
import { serve } from "@inlet/sdk/remix";
import { shop } from "../../inlet.js";
const served = serve(shop());
export const action = served.action;
export const loader = served.loader;
`;

const rootRoute = (router: string) => `
import { Outlet } from "${router}";
export default function Root() {
  return <html><body><Outlet /></body></html>;
}
`;

export const FRAMEWORKS: readonly Runtime[] = [
  {
    name: "SvelteKit",
    packages: [
      "@sveltejs/kit@latest",
      "@sveltejs/adapter-node@latest",
      "@sveltejs/vite-plugin-svelte@latest",
      "svelte@latest",
      "vite@latest",
    ],
    files: {
      "vite.config.js": `
import adapter from "@sveltejs/adapter-node";
import { sveltekit } from "@sveltejs/kit/vite";
export default { plugins: [sveltekit({ adapter: adapter() })] };
`,
      "src/app.html": "<html><head>%sveltekit.head%</head><body>%sveltekit.body%</body></html>",
      "src/routes/api/inlet/+server.js": methods("sveltekit").replace("INLET", "../../../../inlet.js"),
      "serve.js": listening('import { handler } from "./build/handler.js";', "handler"),
    },
    build: ["vite", "build"],
  },
  {
    name: "Astro",
    packages: ["astro@latest", "@astrojs/node@latest"],
    files: {
      "astro.config.mjs": `
import node from "@astrojs/node";
export default { output: "server", adapter: node({ mode: "middleware" }) };
`,
      "src/pages/api/inlet.js": methods("astro", "export const prerender = false;").replace("INLET", "../../../inlet.js"),
      "serve.js": listening('import { handler } from "./dist/server/entry.mjs";', "handler"),
    },
    build: ["astro", "build"],
  },
  {
    name: "React Router",
    // One version of all: they require each other exactly, and are not always published together.
    packages: [
      "react-router@8.4.0",
      "@react-router/node@8.4.0",
      "@react-router/dev@8.4.0",
      "react@19",
      "react-dom@19",
      "isbot@5",
      "vite@8",
    ],
    files: {
      "vite.config.js": `
import { reactRouter } from "@react-router/dev/vite";
export default { plugins: [reactRouter()] };
`,
      "app/root.jsx": rootRoute("react-router"),
      "app/routes.js": 'import { route } from "@react-router/dev/routes";\nexport default [route("api/inlet", "routes/inlet.js")];\n',
      "app/routes/inlet.js": ACTIONS,
      "serve.js": listening(
        'import { createRequestListener } from "@react-router/node";\nimport * as build from "./build/server/index.js";',
        "createRequestListener({ build })",
      ),
    },
    build: ["react-router", "build"],
  },
  {
    name: "Remix",
    packages: [
      "@remix-run/dev@2",
      "@remix-run/express@2",
      "@remix-run/node@2",
      "@remix-run/react@2",
      "express@4",
      "isbot@5",
      "react@18",
      "react-dom@18",
      "vite@6",
    ],
    files: {
      "vite.config.js": 'import { vitePlugin } from "@remix-run/dev";\nexport default { plugins: [vitePlugin()] };\n',
      "app/root.jsx": rootRoute("@remix-run/react"),
      "app/routes/api.inlet.js": ACTIONS,
      "serve.js": listening(
        'import { createRequestHandler } from "@remix-run/express";\nimport express from "express";\nimport * as build from "./build/server/index.js";',
        'express().all("*", createRequestHandler({ build }))',
      ),
    },
    build: ["remix", "vite:build"],
  },
  {
    name: "Next",
    packages: ["next@latest", "react@latest", "react-dom@latest"],
    files: {
      "app/layout.jsx": "export default function Layout({ children }) {\n  return <html><body>{children}</body></html>;\n}\n",
      "app/api/inlet/route.js": methods("next").replace("INLET", "../../../inlet.js"),
      "serve.js": listening(
        'import next from "next";\nconst app = next({ dev: false, dir: process.cwd() });\nawait app.prepare();',
        "app.getRequestHandler()",
      ),
    },
    build: ["next", "build"],
  },
  {
    name: "Nuxt",
    packages: ["nuxt@latest"],
    files: {
      "nuxt.config.ts": 'export default defineNuxtConfig({ nitro: { preset: "node-listener" } });\n',
      "server/api/inlet.js": `
import { serve } from "@inlet/sdk/h3";
import { shop } from "../../inlet.js";
export default defineEventHandler(serve(shop()));
`,
      "serve.js": listening('import { handler } from "./.output/server/index.mjs";', "handler"),
    },
    build: ["nuxt", "build"],
  },
];
