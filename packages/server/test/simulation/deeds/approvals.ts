/** Approvals that answer a signal: requested and decided before a run waits for it, while one does, and after that. */

import { SIGNAL } from "../generate-code.ts";
import type { Random } from "../random.ts";
import { signalName } from "../scenario.ts";
import { now, pass } from "../virtual-time.ts";
import { decide } from "./decisions.ts";
import type { SimApproval } from "./deeds.ts";
import { type DeedParts, KEYS, SPAN_MS } from "./doing.ts";

export function generateApprovals(random: Random): SimApproval[] {
  return Array.from({ length: random.pick([0, 8, 25]) }, () => ({
    atMs: random.int(1, SPAN_MS * 1.5),
    signal: SIGNAL,
    key: random.int(0, KEYS - 1),
    timeoutMs: random.pick([2_000, 20_000, 60_000]),
    decideAfterMs: random.pick([0, 10, 1_000, 10_000, 30_000]),
  }));
}

/** Once: whether it was done is not known where the service goes away. A signal has one approval at a time. */
export async function requestApproval(parts: DeedParts, { signal, key, timeoutMs, decideAfterMs }: SimApproval): Promise<void> {
  const asked = {
    signal: signalName(signal, key),
    prompt: "May it go on?",
    data: JSON.stringify({ k: key }),
    confirmsReject: false,
    expiresAt: now() + timeoutMs,
    baseUrl: "http://service",
  };
  const requested = parts.nextNode().operate(({ functions, environment }) => functions.approvals.request(environment.id, asked));
  const approval = await requested.catch(() => null);
  if (!approval) return;
  await pass(decideAfterMs);
  await decide(parts, approval.id, decideAfterMs % 20 === 0 ? "approved" : "rejected");
}
