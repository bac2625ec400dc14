/**
 * Serves functions with Remix or React Router, in `app/routes/api.inlet.ts`: `const served = serve({ client, functions })`, then
 * `export const action = served.action` and `export const loader = served.loader`. Their bundlers refuse exports that are destructured.
 */

import { type RequestHandler, serveRequests } from "./serving/serve-requests.ts";
import type { ServeOptions } from "./serving/served-app.ts";

export type { ServeOptions } from "./serving/served-app.ts";

/** `loader` handles GET, `action` all others. */
export function serve(options: ServeOptions): Record<"action" | "loader", RequestHandler> {
  const handler = serveRequests(options, "remix");
  return { action: handler, loader: handler };
}
