/** Serves functions with SvelteKit: `export const { GET, POST, PUT } = serve({ client, functions })` in `src/routes/api/inlet/+server.ts`. */

import { type RequestHandler, serveRequests } from "./serving/serve-requests.ts";
import type { ServeOptions } from "./serving/served-app.ts";

export type { ServeOptions } from "./serving/served-app.ts";

export function serve(options: ServeOptions): Record<"GET" | "POST" | "PUT", RequestHandler> {
  const handler = serveRequests(options, "sveltekit");
  return { GET: handler, POST: handler, PUT: handler };
}
