/** Places among the runs of a function, in SQLite. */

import type { DatabaseSync } from "node:sqlite";
import type { RunNo } from "@inlet/protocol";
import { GRANTS_MAX, type PlaceGrantParams, type PlaceGrantResult, type PlaceStore } from "../contract/index.ts";
import type { GroupCommit } from "./group-commit.ts";
import type { Lanes } from "./lanes.ts";
import type { QueueEntries } from "./queue-entries.ts";

interface WaitingRow {
  run_no: number;
  rank: number;
}

export function placeStore(db: DatabaseSync, writer: GroupCommit, lanes: Lanes, entries: QueueEntries): PlaceStore {
  const isOver = "NOT EXISTS (SELECT 1 FROM runs WHERE runs.run_no = run_places.run_no AND ended_at IS NULL)";
  const leave = db.prepare(`DELETE FROM run_places WHERE place = ? AND ${isOver}`);
  const holders = db.prepare("SELECT run_no FROM run_places WHERE place = ?");
  const waiting = db.prepare("SELECT run_no, rank FROM queue INDEXED BY queue_by_lane WHERE lane_no = ? ORDER BY rank LIMIT ?");
  const hold = db.prepare("INSERT INTO run_places (place, run_no) VALUES (?, ?)");
  const moveRun = db.prepare("UPDATE runs SET lane_no = ? WHERE run_no = ?");
  // Its timers stay among the timers.
  const moveEntries = db.prepare("UPDATE queue SET lane_no = iif(lane_no = ?2, ?1, lane_no), home_lane_no = ?1 WHERE run_no = ?3");
  const forget = db.prepare(
    `DELETE FROM run_places WHERE (place, run_no) IN (SELECT place, run_no FROM run_places WHERE ${isOver} LIMIT ?)`,
  );

  function grant({ place, cap, gates, now }: PlaceGrantParams): PlaceGrantResult {
    leave.run(place);
    const held = (holders.all(place) as { run_no: RunNo }[]).map(({ run_no }) => run_no);
    const free = Math.min(cap - held.length, GRANTS_MAX);
    // One more than there are places shows that somebody is left behind.
    const queues = gates.map((gate) => ({
      gate,
      rows: waiting.all(lanes.no(gate.lane), Math.max(free, 0) + 1) as unknown as WaitingRow[],
    }));
    const everyone = queues.flatMap(({ gate, rows }) => rows.map((row) => ({ ...row, gate }))).sort((a, b) => a.rank - b.rank);
    const admitted = everyone.slice(0, Math.max(free, 0));
    for (const { run_no, gate } of admitted) {
      hold.run(place, run_no);
      const homeNo = lanes.no(gate.home);
      moveRun.run(homeNo, run_no);
      moveEntries.run(homeNo, lanes.no(gate.lane), run_no);
    }
    for (const home of new Set(admitted.map(({ gate }) => gate.home))) entries.announce(home, now);
    const left = new Set(everyone.slice(admitted.length).map(({ gate }) => gate.lane));
    const holdersNow = [...held, ...admitted.map(({ run_no }) => run_no as RunNo)];
    return { holders: holdersNow, waiting: [...left], more: left.size > 0 && holdersNow.length < cap };
  }

  return {
    placeGrantMany: (params) => writer.submit(() => grant(params)),
    placeForgetMany: ({ limit }) => writer.submit(() => forget.run(limit).changes as number, limit),
  };
}
