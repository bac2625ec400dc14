/** People do, while a scenario is played, what it says. */

import { EVENT_KEY } from "./apps/own-app.ts";
import { watchFailures } from "./deeds/alerts.ts";
import { requestApproval } from "./deeds/approvals.ts";
import { archiveEnvironment } from "./deeds/archives.ts";
import { sendBatch } from "./deeds/batches.ts";
import { cancelMany } from "./deeds/cancellations.ts";
import { decideSome } from "./deeds/decisions.ts";
import type { Deed, DeedKind } from "./deeds/deeds.ts";
import type { DeedParts } from "./deeds/doing.ts";
import { drill } from "./deeds/drills.ts";
import { sendTwice } from "./deeds/echoes.ts";
import { erase } from "./deeds/erasures.ts";
import { sendEvent } from "./deeds/events.ts";
import { limitFunction } from "./deeds/function-limits.ts";
import { useHook } from "./deeds/hooks.ts";
import { invokeFunction } from "./deeds/invocations.ts";
import { startJob } from "./deeds/jobs.ts";
import { pauseFunction } from "./deeds/pauses.ts";
import { setQuota } from "./deeds/quotas.ts";
import { rerun } from "./deeds/reruns.ts";
import { retain } from "./deeds/retentions.ts";
import { rotateKey } from "./deeds/rotations.ts";
import { removeApp } from "./deeds/schedules.ts";
import { declareSchema } from "./deeds/schemas.ts";
import { sendSignal } from "./deeds/signals.ts";
import { rotateSigningKey } from "./deeds/signing-rotations.ts";
import { streamMessages } from "./deeds/streams.ts";
import { wake } from "./deeds/wakes.ts";
import type { Scenario } from "./scenario.ts";
import { after, now } from "./virtual-time.ts";

const DO: { readonly [Kind in DeedKind]: (parts: DeedParts, deed: Deed<Kind>) => Promise<void> } = {
  events: sendEvent,
  signals: sendSignal,
  pauses: pauseFunction,
  archives: archiveEnvironment,
  jobs: startJob,
  reruns: rerun,
  wakes: wake,
  approvals: requestApproval,
  decisions: decideSome,
  quotas: setQuota,
  functionLimits: limitFunction,
  schemas: declareSchema,
  batches: sendBatch,
  echoes: sendTwice,
  retentions: retain,
  erasures: erase,
  rotations: rotateKey,
  signingRotations: rotateSigningKey,
  hooks: useHook,
  streams: streamMessages,
  schedules: removeApp,
  cancellations: cancelMany,
  invocations: invokeFunction,
  drills: drill,
  alerts: watchFailures,
};

export const DEED_KINDS = Object.keys(DO) as readonly DeedKind[];

export class People {
  readonly #parts: DeedParts;
  /** What they have not done yet, signals apart: those may come too late. */
  left: number;

  constructor(parts: DeedParts) {
    this.#parts = parts;
    parts.journal.noteKey(EVENT_KEY, null);
    this.left = DEED_KINDS.reduce((sum, kind) => sum + (kind === "signals" ? 0 : deedsOf(parts.scenario, kind).length), 0);
  }

  begin(): void {
    this.#parts.journal.peopleBeganAt = now();
    for (const kind of DEED_KINDS)
      for (const deed of deedsOf(this.#parts.scenario, kind)) after(deed.atMs, () => void this.#do(kind, deed));
  }

  async #do<Kind extends DeedKind>(kind: Kind, deed: Deed<Kind>): Promise<void> {
    await DO[kind](this.#parts, deed);
    if (kind !== "signals") this.left--;
  }

  noteSignal(body: string, answer: string): void {
    const { signal, data } = JSON.parse(body) as { signal: string; data: { no: number } };
    const { run_id: runId } = (JSON.parse(answer) as { data: { run_id: string } }).data;
    this.#parts.journal.signals.push({ signal, runId, no: data.no });
  }
}

export function deedsOf<Kind extends DeedKind>(scenario: Scenario, kind: Kind): readonly Deed<Kind>[] {
  return (scenario[kind] ?? []) as readonly Deed<Kind>[];
}
