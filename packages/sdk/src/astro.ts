/** Serves functions with Astro: `export const { GET, POST, PUT } = serve({ client, functions })` and `export const prerender = false` in `src/pages/api/inlet.ts`. */

import { type RequestHandler, serveRequests } from "./serving/serve-requests.ts";
import type { ServeOptions } from "./serving/served-app.ts";

export type { ServeOptions } from "./serving/served-app.ts";

export function serve(options: ServeOptions): Record<"GET" | "POST" | "PUT", RequestHandler> {
  const handler = serveRequests(options, "astro");
  return { GET: handler, POST: handler, PUT: handler };
}
