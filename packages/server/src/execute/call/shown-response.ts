/** How much of another server's response is shown: enough to recognise it, not enough to read data from it. */

const SHOWN_UNITS_MAX = 300;
/** How much of the response of an SDK or a provider of a step is stored. */
export const RESPONSE_UNITS_KEPT = 4_000;

export function shownResponse(body: string): string {
  const line = body.trim().replace(/\s+/g, " ");
  if (line === "") return "(nothing)";
  return line.length > SHOWN_UNITS_MAX ? `${line.slice(0, SHOWN_UNITS_MAX - 1).toWellFormed()}…` : line;
}
