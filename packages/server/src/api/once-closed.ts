import type { ServerResponse } from "node:http";

/** Also if the client has gone already: the event of that is not emitted again. */
export function onceClosed(response: ServerResponse, done: () => void): void {
  if (response.destroyed) done();
  else response.once("close", done);
}
