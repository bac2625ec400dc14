/** What all deeds need: whom people reach, and when they begin. */

import type { EdgeResponse } from "../apps/own-app.ts";
import type { Journal } from "../journal.ts";
import type { SimNode } from "../node.ts";
import type { Operated } from "../process.ts";
import type { Scenario } from "../scenario.ts";
import { pass } from "../virtual-time.ts";

export type Ask = (path: string, request: { headers: Record<string, string>; body: string }) => Promise<EdgeResponse>;

export interface DeedParts {
  scenario: Scenario;
  journal: Journal;
  startedAt: number;
  ask: Ask;
  nextNode(): SimNode;
}

/** The time within which random deeds begin. */
export const SPAN_MS = 60_000;
/** Events and signals have one of so many keys. */
export const KEYS = 4;
export const RESEND_MS = 500;

/** Tries until the service has said that it is done. */
export async function untilDone({ nextNode }: DeedParts, work: (at: Operated) => Promise<void>): Promise<void> {
  for (;;) {
    const done = nextNode().operate(work);
    if (await done.then(() => true).catch(() => false)) return;
    await pass(RESEND_MS);
  }
}
