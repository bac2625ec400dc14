/**
 * What a declared schema of 20 fields costs those who send events: a service without one and a service that refuses what does not match are
 * driven in turn with the same event, several rounds; the ratio of a round counts, and the median of the rounds. Beside it, what a check alone takes.
 */

import { join } from "node:path";
import { FIELDS_EVENT_NAME, FIELDS_SCHEMA } from "./events.ts";
import { type DriveResult, drive, type Server, startInlet } from "./processes.ts";
import { median, type Row } from "./report.ts";
import { benchEvaluators } from "./schema-evaluators.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

const CONNECTIONS = 64;
/** Code that has just been loaded runs at a fraction of its speed. */
const WARM_SECONDS = 2;
const BODY = "event-20-fields";
/** Of the figure without a schema. */
const SHARE_GOAL = 0.85;

export async function benchSchemas({ seconds, rounds }: { seconds: number; rounds: number }): Promise<Row[]> {
  return inTemporaryFolder(async (folder) => {
    const plain = await startInlet(join(folder, "plain"));
    const checked = await startInlet(join(folder, "checked"));
    try {
      await declare(checked);
      return [...(await compare(plain, checked, seconds, rounds)), ...benchEvaluators(rounds)];
    } finally {
      await Promise.all([plain.stop(), checked.stop()]);
    }
  });
}

async function declare({ url }: Server): Promise<void> {
  const answer = await fetch(`${url}/v1/event-types/${encodeURIComponent(FIELDS_EVENT_NAME)}`, {
    method: "PUT",
    headers: { authorization: "Bearer bench", "content-type": "application/json" },
    body: JSON.stringify({ schema: FIELDS_SCHEMA, mode: "refuse" }),
  });
  if (answer.status !== 200) throw new Error(`the schema was not declared: ${answer.status} ${await answer.text()}`);
}

async function compare(plain: Server, checked: Server, seconds: number, rounds: number): Promise<Row[]> {
  const measured: { without: DriveResult; with: DriveResult }[] = [];
  for (const server of [plain, checked]) await drive(server, CONNECTIONS, BODY, WARM_SECONDS);
  for (let round = 0; round < rounds; round++) {
    const without = () => drive(plain, CONNECTIONS, BODY, seconds);
    const withSchema = () => drive(checked, CONNECTIONS, BODY, seconds);
    // Neither side is always first after a pause of the machine.
    if (round % 2 === 0) measured.push({ without: await without(), with: await withSchema() });
    else {
      const last = await withSchema();
      measured.push({ without: await without(), with: last });
    }
  }
  const of = (pick: (round: (typeof measured)[number]) => number) => median(measured.map(pick));
  const share = of((round) => round.with.perSecond / round.without.perSecond);
  const what = `single events of 20 fields, ${CONNECTIONS} connections`;
  return [
    { what: `${what}: without a schema`, value: of(({ without }) => without.perSecond), unit: "events/s" },
    { what: `${what}: with one`, value: of((round) => round.with.perSecond), unit: "events/s" },
    { what: `${what}: CPU per event without`, value: of(({ without }) => without.cpuPerRequest * 1e6), unit: "µs" },
    { what: `${what}: CPU per event with`, value: of((round) => round.with.cpuPerRequest * 1e6), unit: "µs" },
    { what: `${what}: with against without`, value: share, unit: "×", goal: `≥ ${SHARE_GOAL}`, met: share >= SHARE_GOAL },
  ];
}
