/** Places among the runs of a function, in PostgreSQL. */

import type { EnvironmentId, RunNo } from "@inlet/protocol";
import type { PoolClient } from "pg";
import { GRANTS_MAX, type PlaceGrantParams, type PlaceGrantResult, type PlaceStore } from "../../contract/index.ts";
import { boundedKey, lockNumber } from "../bounded-key.ts";
import type { Database } from "../database.ts";
import { whenRead } from "./not-read.ts";
import { TIMER_LANE_NO, type Words } from "./words.ts";

export interface PlacesParts {
  database: Database;
  words: Words;
  /** Others are told that this lane holds work. */
  announce(lane: string, dueAt: number): void;
}

const IS_OVER = `NOT EXISTS (
    SELECT FROM runs WHERE runs.environment_id = run_places.environment_id AND runs.run_no = run_places.run_no AND ended_at IS NULL)`;

/** Runs that are just being changed, cancelled perhaps, are passed over: whoever changes them makes this be called again. */
const WAITING = `
  SELECT queue.run_no, queue.lane_no FROM queue JOIN runs USING (environment_id, run_no)
  WHERE environment_id = $1 AND queue.lane_no = ANY ($2) AND queue.lane_no <> ${TIMER_LANE_NO} AND ended_at IS NULL
  ORDER BY rank, entry_no LIMIT $3 FOR UPDATE SKIP LOCKED`;

/** Whoever decides about such a run at this moment decides anew, on the lane it is in now. */
const MOVE_RUNS = `
  UPDATE runs SET lane_no = moved.home_no, revision = revision + 1 FROM unnest($2::bigint[], $3::integer[]) AS moved(run_no, home_no)
  WHERE runs.environment_id = $1 AND runs.run_no = moved.run_no`;

/** Its timers stay among the timers. */
const MOVE_ENTRIES = `
  UPDATE queue SET lane_no = CASE lane_no WHEN moved.gate_no THEN moved.home_no ELSE lane_no END, home_lane_no = moved.home_no
  FROM unnest($2::bigint[], $3::integer[], $4::integer[]) AS moved(run_no, home_no, gate_no)
  WHERE queue.environment_id = $1 AND queue.run_no = moved.run_no`;

export function placeStore({ database, words, announce }: PlacesParts): PlaceStore {
  async function grant({ place, cap, gates, now }: PlaceGrantParams): Promise<PlaceGrantResult> {
    const environmentId = await environmentOf(gates);
    // Nobody waits, nor goes on in a lane behind a gate.
    if (environmentId === null) return { holders: [], waiting: [], more: false };
    const known: Gate[] = [];
    for (const { lane, home } of gates) {
      const gateNo = await whenRead(() => words.laneNo(lane, environmentId));
      known.push({ lane, home, gateNo, homeNo: await whenRead(() => words.laneNo(home, environmentId)) });
    }
    const granted = await database.transaction(async (client) => {
      await client.query("SELECT pg_advisory_xact_lock($1)", [lockNumber("place", place)]);
      return give(client, { environmentId, place: boundedKey(place) }, cap, known);
    });
    if (granted === "lane forgotten") {
      words.forgetLanes();
      return grant({ place, cap, gates, now });
    }
    const { homes, ...result } = granted;
    for (const home of homes) announce(home, now);
    return result;
  }

  /** The places of a function, and its gates, are in its environment. */
  async function environmentOf(gates: PlaceGrantParams["gates"]): Promise<EnvironmentId | null> {
    for (const lane of gates.flatMap((gate) => [gate.lane, gate.home])) {
      const environmentId = await words.environmentOf(lane);
      if (environmentId !== null) return environmentId;
    }
    return null;
  }

  return {
    placeGrantMany: grant,
    async placeForgetMany({ limit }) {
      const rows = await database.query(
        `DELETE FROM run_places WHERE (environment_id, place, run_no) IN (
           SELECT environment_id, place, run_no FROM run_places WHERE ${IS_OVER} LIMIT $1) RETURNING 1`,
        [limit],
      );
      return rows.length;
    },
  };
}

interface Gate {
  lane: string;
  home: string;
  gateNo: number;
  homeNo: number;
}

type Given = PlaceGrantResult & { homes: ReadonlySet<string> };

async function give(
  client: PoolClient,
  { environmentId, place }: { environmentId: EnvironmentId; place: string },
  cap: number,
  gates: readonly Gate[],
): Promise<Given | "lane forgotten"> {
  await client.query(`DELETE FROM run_places WHERE environment_id = $1 AND place = $2 AND ${IS_OVER}`, [environmentId, place]);
  const { rows: held } = await client.query<{ run_no: RunNo }>("SELECT run_no FROM run_places WHERE environment_id = $1 AND place = $2", [
    environmentId,
    place,
  ]);
  const free = Math.max(Math.min(cap - held.length, GRANTS_MAX), 0);
  const byNo = new Map(gates.map((gate) => [gate.gateNo, gate]));
  // One more than there are places shows that somebody is left behind.
  const { rows: everyone } = await client.query<{ run_no: RunNo; lane_no: number }>(WAITING, [environmentId, [...byNo.keys()], free + 1]);
  const admitted = everyone.slice(0, free).map(({ run_no, lane_no }) => ({ runNo: run_no, gate: byNo.get(lane_no) as Gate }));
  const runNos = admitted.map(({ runNo }) => runNo);
  const homeNos = admitted.map(({ gate }) => gate.homeNo);
  if (admitted.length > 0) {
    // Lanes that entries are moved to must not be forgotten meanwhile.
    const needed = [...new Set(homeNos)];
    const { rowCount } = await client.query("SELECT 1 FROM lanes WHERE lane_no = ANY ($1) ORDER BY lane_no FOR KEY SHARE", [needed]);
    if (rowCount !== needed.length) return "lane forgotten";
    await client.query("INSERT INTO run_places (environment_id, place, run_no) SELECT $1, $2, run_no FROM unnest($3::bigint[]) AS run_no", [
      environmentId,
      place,
      runNos,
    ]);
    await client.query(MOVE_RUNS, [environmentId, runNos, homeNos]);
    await client.query(MOVE_ENTRIES, [environmentId, runNos, homeNos, admitted.map(({ gate }) => gate.gateNo)]);
  }
  const holders = [...held.map(({ run_no }) => run_no), ...runNos];
  const { rows: left } = await client.query<{ lane_no: number }>(
    `SELECT lane_no FROM unnest($2::integer[]) AS lane_no WHERE EXISTS (
       SELECT FROM queue WHERE environment_id = $1 AND queue.lane_no = lane_no.lane_no AND queue.lane_no <> ${TIMER_LANE_NO})`,
    [environmentId, [...byNo.keys()]],
  );
  return {
    ...{ holders, more: admitted.length > 0 && left.length > 0 && holders.length < cap },
    ...{ waiting: left.map(({ lane_no }) => (byNo.get(lane_no) as Gate).lane), homes: new Set(admitted.map(({ gate }) => gate.home)) },
  };
}
