/**
 * Tools that answer a question which would take several calls. What they tell comes from the REST API, asked with the caller's key, so that
 * they show nothing that the caller could not read itself.
 */

import { explainEvent } from "./explain-event.ts";
import { explainRun } from "./explain-run.ts";
import type { Tool } from "./tool.ts";

export const EXPLAIN_TOOLS: readonly Tool[] = [
  explainTool(
    "run",
    "Explains a run: its event, steps, attempts, error and calls, and what has changed since the function last succeeded.",
    explainRun,
  ),
  explainTool(
    "event",
    "Explains an event: where it came from, the runs that it started, resumed or cancelled, and for each function subscribed to its name why it was started or not.",
    explainEvent,
  ),
];

function explainTool(noun: string, description: string, explain: NonNullable<Tool["explain"]>): Tool {
  const properties = {
    id: { type: "string", description: `Id of the ${noun}.` },
    cursor: { type: "string", description: "`page.next` of the previous response: the list continues there." },
    environment: { type: "string", description: "Environment; default `production`, or `dev` on a dev server." },
  };
  return {
    name: `explain_${noun}`,
    description,
    inputSchema: { type: "object", properties, required: ["id"], additionalProperties: false },
    annotations: {
      title: `Explain ${noun === "event" ? "an" : "a"} ${noun}`,
      readOnlyHint: true,
      destructiveHint: false,
      openWorldHint: false,
    },
    routes: [],
    idFilter: "dedupId",
    explain,
  };
}
