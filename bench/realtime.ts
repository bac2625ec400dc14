/**
 * How fast messages are published to a realtime channel, each stored before its publisher is answered. With `--base`, beside another
 * commit: both are measured in turn.
 */

import { Agent, request } from "node:http";
import { join } from "node:path";
import { checkOutBase } from "./base-checkout.ts";
import { inTurn } from "./compare-sides.ts";
import { SIGNING_KEY } from "./drive-runs.ts";
import { PROGRAM, type Server, startInlet } from "./processes.ts";
import { median, type Row } from "./report.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

export interface RealtimeOptions {
  seconds: number;
  rounds: number;
  base: string | undefined;
}

/** One publisher waits for the disk with each message; many share a commit. */
const CONNECTIONS = [1, 32];
const SHARE_GOAL = 0.5;
const BODY = JSON.stringify({ token: "x".repeat(200) });
const PATH = "/v1/realtime/publish?channel=chat:1&topic=tokens";

export async function benchRealtime({ seconds, rounds, base }: RealtimeOptions): Promise<Row[]> {
  const checkout = base === undefined ? null : checkOutBase(base);
  const programs = { new: PROGRAM, old: checkout ? join(checkout.folder, "packages/cli/bin/inlet.js") : PROGRAM };
  const start = (folder: string, program: string) => startInlet(folder, ["--signing-key", SIGNING_KEY], program);
  return inTemporaryFolder((newFolder) =>
    inTemporaryFolder(async (oldFolder) => {
      const servers = { new: await start(newFolder, programs.new), old: await start(oldFolder, programs.old) };
      try {
        const rows: Row[] = [];
        for (const connections of CONNECTIONS) {
          const measured = await inTurn(rounds, servers, (server) => publishPerSecond(server, connections, seconds));
          rows.push(...rowsOf(connections, { old: median(measured.old), new: median(measured.new) }, checkout !== null));
        }
        return rows;
      } finally {
        await Promise.all([servers.new.stop(), servers.old.stop()]);
        checkout?.remove();
      }
    }),
  );
}

function rowsOf(connections: number, rates: { old: number; new: number }, hasBase: boolean): Row[] {
  const what = `messages published, ${connections} connection${connections === 1 ? "" : "s"}`;
  const share = rates.new / rates.old;
  const own: Row = { what, value: rates.new, unit: "msg/s" };
  if (!hasBase) return [own];
  return [
    own,
    { what: `${what}: the base`, value: rates.old, unit: "msg/s" },
    {
      what: `${what}: share of the base`,
      value: share,
      unit: "×",
      ...(connections > 1 && { goal: `≥ ${SHARE_GOAL}`, met: share >= SHARE_GOAL }),
    },
  ];
}

async function publishPerSecond({ url }: Server, connections: number, seconds: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const endAt = performance.now() + seconds * 1_000;
  let published = 0;
  const publisher = async () => {
    while (performance.now() < endAt) {
      await publish(url, agent);
      published++;
    }
  };
  await Promise.all(Array.from({ length: connections }, publisher));
  agent.destroy();
  return published / seconds;
}

function publish(url: string, agent: Agent): Promise<void> {
  const headers = { authorization: `Bearer ${SIGNING_KEY}`, "content-type": "application/json", "content-length": Buffer.byteLength(BODY) };
  return new Promise((resolve, reject) => {
    const call = request(`${url}${PATH}`, { method: "POST", agent, headers }, (response) => {
      response.resume().on("end", () => (response.statusCode === 200 ? resolve() : reject(new Error(`answered ${response.statusCode}`))));
    });
    call.on("error", reject);
    call.end(BODY);
  });
}
