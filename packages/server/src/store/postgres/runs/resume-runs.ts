/** An event that is being stored resumes the runs that wait for it, and cancels those it is meant to cancel. */

import type { EnvironmentId } from "@inlet/protocol";
import type { NewEvent, RunRules, StoredWait } from "../../contract/index.ts";
import type { Handing } from "../../rows/entry-writes.ts";
import type { AdvanceRun } from "./advance-run.ts";
import { boundedKey } from "../bounded-key.ts";
import type { FoundWait } from "./run-reads.ts";
import type { UnitDraft } from "./unit-draft.ts";

export class ResumeRuns {
  readonly #runs: () => AdvanceRun;
  readonly #rules: RunRules;

  constructor(runs: () => AdvanceRun, rules: RunRules) {
    this.#runs = runs;
    this.#rules = rules;
  }

  /** `waits` are those for the event's name. A run that this event itself starts is not among them. */
  resume(draft: UnitDraft, handing: Handing, environmentId: EnvironmentId, event: NewEvent, waits: readonly FoundWait[]): void {
    const keys = new Map<string, string | null>();
    for (const found of waits) {
      if (found.expiresAt <= handing.now) continue;
      if (found.path !== "*" && !keys.has(found.path)) keys.set(found.path, this.#rules.keyAt(event, found.path));
      const key = found.path === "*" ? "" : (keys.get(found.path) ?? null);
      if (key === null || boundedKey(key) !== found.key) continue;
      const { no: _, path, key: __, ...wait } = found;
      const stored = { ...wait, match: path === "*" ? null : { path, key } };
      if (this.#matches(draft, environmentId, stored, event)) this.#apply(draft, handing, environmentId, stored, event);
    }
  }

  #matches(draft: UnitDraft, environmentId: EnvironmentId, wait: StoredWait, event: NewEvent): boolean {
    if (wait.expression === null) return true;
    const run = draft.run({ environmentId, runNo: wait.runNo });
    const runEvent = run && draft.starterOf(run);
    return runEvent !== null && this.#rules.matches(wait, event, runEvent);
  }

  #apply(draft: UnitDraft, handing: Handing, environmentId: EnvironmentId, { kind, runNo, stepId }: StoredWait, event: NewEvent): void {
    this.#runs().advance(draft, handing, { environmentId, runNo }, null, (state) => {
      if (kind === "cancel" || stepId === null) return this.#rules.cancel(state, handing.now);
      return this.#rules.resolve(state, { id: stepId, status: "completed", value: this.#rules.eventValue(event) }, handing.now);
    });
  }
}
