/**
 * What nodes that share a PostgreSQL cost each other: the first is driven alone, with a second beside it that only waits, and while
 * the second is driven as well. All of it runs on this machine, so when both are driven they share its cores: then the first one's
 * CPU time for a request counts, and not how many it answers.
 */

import { type DriveResult, drive, type Server, startInlet } from "./processes.ts";
import { median, type Row } from "./report.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

export interface NodesOptions {
  seconds: number;
  rounds: number;
}

const CONNECTIONS = 32;
/** A second node may cost the first this share. */
const COST_GOAL = 0.2;

export async function benchNodes(options: NodesOptions): Promise<Row[]> {
  return inTemporaryFolder(async (folder) => {
    const first = await startInlet(folder);
    try {
      return rowsOf(await rounds(options, first, folder));
    } finally {
      await first.stop();
    }
  });
}

/** Of the first node, but for `second`. */
interface Round {
  alone: DriveResult;
  beside: DriveResult;
  both: DriveResult;
  second: DriveResult;
}

/** In turn, so that a slow spell of the machine hits all of them. */
async function rounds({ rounds: count, seconds }: NodesOptions, first: Server, dataDir: string): Promise<Round[]> {
  const send = (node: Server) => drive(node, CONNECTIONS, "event", seconds);
  await send(first);
  const done: Round[] = [];
  for (let round = 0; round < count; round++) {
    const alone = await send(first);
    const second = await startInlet(dataDir);
    try {
      const beside = await send(first);
      const [both, other] = await Promise.all([send(first), send(second)]);
      done.push({ alone, beside, both, second: other });
    } finally {
      await second.stop();
    }
  }
  return done;
}

function rowsOf(all: readonly Round[]): Row[] {
  const of = (pick: (round: Round) => number) => median(all.map(pick));
  const waiting = 1 - of(({ beside, alone }) => beside.perSecond / alone.perSecond);
  const working = of(({ both, alone }) => both.cpuPerRequest / alone.cpuPerRequest) - 1;
  const goal = `≤ ${COST_GOAL}`;
  return [
    { what: "first node alone: single events", value: of(({ alone }) => alone.perSecond), unit: "events/s" },
    { what: "first node beside one that waits: single events", value: of(({ beside }) => beside.perSecond), unit: "events/s" },
    { what: "both driven: first node", value: of(({ both }) => both.perSecond), unit: "events/s" },
    {
      what: "both driven: both together",
      value: of(({ both, second }) => both.perSecond + second.perSecond),
      unit: "events/s",
    },
    { what: "first node alone: p50", value: of(({ alone }) => alone.p50Ms), unit: "ms" },
    { what: "first node beside one that waits: p50", value: of(({ beside }) => beside.p50Ms), unit: "ms" },
    { what: "a second node that waits costs the first, of its events/s", value: waiting, unit: "×", goal, met: waiting <= COST_GOAL },
    { what: "a second node that works costs the first, of CPU per event", value: working, unit: "×", goal, met: working <= COST_GOAL },
  ];
}
