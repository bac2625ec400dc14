import assert from "node:assert/strict";
import { test } from "node:test";
import type { LeaseId, RunNo } from "@inlet/protocol";
import { type ClaimedEntry, TIMER_LANE } from "../../contract/index.ts";
import { claimResult, claimRoom, type DueEntry, leasedPosition, splitDue } from "./claim.ts";
import { LeaseAllocation } from "./lease-allocation.ts";

const allocation = (room: number) => new LeaseAllocation(1, { node: "n", until: 9, newId: () => "lease" as LeaseId, roomIn: () => room });
const call = (lane: string): DueEntry => ({ kind: "call", lane, home_lane: "a", home_rank: 3 });
const timer: DueEntry = { kind: "wake", lane: TIMER_LANE, home_lane: "a", home_rank: 3 };
const claimed = (runNo: number | null) => ({ runNo }) as unknown as ClaimedEntry;

test("calls in the lane of timers are leased as far as their own lane has capacity", () => {
  const due = [call(TIMER_LANE), call(TIMER_LANE), call("a"), timer];
  const { leased, sentHome } = splitDue(due, allocation(1));
  assert.deepEqual(leased, [due[0], due[2], due[3]]);
  assert.deepEqual(sentHome, [due[1]]);
});

test("a leased call keeps its rank, a leased timer is due again when its lease ends", () => {
  assert.deepEqual(leasedPosition(call(TIMER_LANE), 9), { lane: "a", rank: 3 });
  assert.deepEqual(leasedPosition(timer, 9), { lane: TIMER_LANE, rank: 9 });
});

test("no more is claimed than every limit has slots for, and a limit without a free slot is named", () => {
  const free = new Map([
    ["x", 2],
    ["y", 5],
  ]);
  assert.equal(claimRoom(10, free), 2);
  const result = claimResult([claimed(1), claimed(2), claimed(null)], { found: 3, room: 3, free });
  assert.deepEqual([result.fullLimits, result.more], [["x"], true]);
  assert.equal(claimResult([claimed(1 as RunNo)], { found: 1, room: 2, free }).more, false);
});
