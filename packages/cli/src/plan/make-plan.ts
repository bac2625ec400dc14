/** The steps that make the server match the folder, for objects of every kind: `plan` prints the steps, `apply` takes them. */

import type { Match, Matching, ObjectKind, Step, Tense } from "./object-kind.ts";
import { stepLines } from "./step-lines.ts";

export interface PlannedStep {
  action: Step<unknown, unknown>["action"];
  /** Begins the message of an error. */
  where: string;
  lines: string[];
  json: object;
  /** Throws a CommandFault if the step cannot be taken. */
  check(): void;
  take(): Promise<DoneStep>;
}

export interface DoneStep {
  action: PlannedStep["action"];
  lines: string[];
  notes: string[];
  json: object;
}

export interface Plan {
  /** In order of execution. Deletions come last, after everything else has succeeded. */
  steps: PlannedStep[];
  unchanged: { json: object; keep(): string[] }[];
  /** On the server but not in the folder, and not deleted. */
  unlisted: { name: string; json: object }[];
  faults: string[];
  /** Printed at the end of the plan. */
  notes?: string[];
}

export function makePlan<Mine, Theirs>(
  kind: ObjectKind<Mine, Theirs>,
  { matches, unlisted, faults }: Matching<Mine, Theirs>,
  { prune }: { prune: boolean },
): Plan {
  const steps: PlannedStep[] = [];
  const unchanged: Plan["unchanged"] = [];
  for (const match of matches) {
    const step = stepFor(kind, match);
    if (step) steps.push(planned(kind, step));
    else unchanged.push(kept(kind, match));
  }
  if (prune) steps.push(...unlisted.map((theirs) => planned(kind, { action: "delete", theirs })));
  const left = unlisted.map((theirs) => ({ name: kind.unlistedName(theirs), json: kind.unlistedJson(theirs) }));
  return { steps, unchanged, unlisted: prune ? [] : left, faults };
}

/** Plans of several kinds as one. Objects are made in the order of the kinds and deleted in the opposite one. */
export function joinPlans(plans: readonly Plan[]): Plan {
  const made = plans.flatMap(({ steps }) => steps.filter(({ action }) => action !== "delete"));
  const deleted = plans.toReversed().flatMap(({ steps }) => steps.filter(({ action }) => action === "delete"));
  return {
    steps: [...made, ...deleted],
    unchanged: plans.flatMap(({ unchanged }) => unchanged),
    unlisted: plans.flatMap(({ unlisted }) => unlisted),
    faults: plans.flatMap(({ faults }) => faults),
  };
}

function stepFor<Mine, Theirs>(kind: ObjectKind<Mine, Theirs>, { mine, theirs }: Match<Mine, Theirs>): Step<Mine, Theirs> | null {
  if (theirs === null) return { action: "create", mine };
  const changes = kind.changes(mine, theirs);
  return changes.length > 0 ? { action: "change", mine, theirs, changes } : null;
}

function planned<Mine, Theirs>(kind: ObjectKind<Mine, Theirs>, step: Step<Mine, Theirs>): PlannedStep {
  const linesOf = (shown: Step<Mine, Theirs>, tense: Tense) =>
    stepLines(shown.action, tense, kind.heading(shown), kind.details(shown, tense));
  return {
    action: step.action,
    where: kind.where(step),
    lines: linesOf(step, "to do"),
    json: kind.json(step),
    check: () => kind.check?.(step),
    async take() {
      const { step: taken, lines, notes, json } = await kind.take(step);
      const own = lines.map((line) => `    ${line}`);
      return { action: step.action, lines: [...linesOf(taken, "done"), ...own], notes, json: { ...kind.json(taken), ...json } };
    },
  };
}

function kept<Mine, Theirs>(kind: ObjectKind<Mine, Theirs>, { mine, theirs }: Match<Mine, Theirs>): Plan["unchanged"][number] {
  const same = theirs as Theirs;
  return { json: kind.unchangedJson(mine, same), keep: () => kind.keep?.(mine, same) ?? [] };
}
