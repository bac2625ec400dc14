/** `inlet usage`. */

import type { CommandResult } from "../command-line/command-result.ts";
import type { Call } from "../command-line/command-row.ts";
import { instant } from "../command-line/list-flags.ts";
import { listResult } from "../rest/list-result.ts";
import { createRestClient } from "../rest/rest-client.ts";
import type { USAGE_FLAGS } from "./environments-flags.ts";

interface Usage {
  at: string;
  environment: string;
  name: string;
  eventsAccepted: number;
  eventsDuplicate: number;
  eventsRefused: number;
  bytes: number;
  runs: number;
  calls: number;
  transformMs: number;
}

const HEADINGS = ["AT", "ENVIRONMENT", "NAME", "ACCEPTED", "DUPLICATE", "REFUSED", "BYTES", "RUNS", "CALLS", "TRANSFORM MS"];

export async function showUsage({ options, io }: Call<typeof USAGE_FLAGS>): Promise<CommandResult> {
  const { by, interval } = options;
  const [from, to] = [options.from, options.to].map((time) => (time === null ? null : instant(time)));
  const items = await createRestClient(options).data<Usage[]>({ path: "/usage", query: { by, interval, from, to } });
  const rows = items.map((one) => [
    one.at,
    one.environment,
    by === "environment" ? "" : one.name,
    ...[one.eventsAccepted, one.eventsDuplicate, one.eventsRefused, one.bytes, one.runs, one.calls, one.transformMs].map(String),
  ]);
  return listResult({ headings: HEADINGS, rows, empty: "No usage in that time." }, items, null, io);
}
