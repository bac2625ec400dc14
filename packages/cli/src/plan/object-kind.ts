/**
 * What the planner needs to know of a kind of object: webhooks, environments, event types and so on. `Mine` is an object of the folder,
 * `Theirs` one of the server.
 */

export interface FieldChange {
  field: string;
  onServer: unknown;
  inFolder: unknown;
}

export interface Match<Mine, Theirs> {
  mine: Mine;
  /** Null: the server does not have it. */
  theirs: Theirs | null;
}

export interface Matching<Mine, Theirs> {
  /** In the order of the folder. */
  matches: Match<Mine, Theirs>[];
  /** On the server, but not in the folder. */
  unlisted: Theirs[];
  faults: string[];
}

export type Step<Mine, Theirs> =
  | { action: "create"; mine: Mine }
  | { action: "change"; mine: Mine; theirs: Theirs; changes: FieldChange[] }
  | { action: "delete"; theirs: Theirs };

export type Tense = "to do" | "done";

/** What a step has done. */
export interface Taken<Mine, Theirs> {
  /** The step as it is shown afterwards. */
  step: Step<Mine, Theirs>;
  /** Printed below the step. */
  lines: string[];
  /** Printed after all steps: what is left to do for people. */
  notes: string[];
  /** Added to the JSON of the step. */
  json: object;
}

export interface ObjectKind<Mine, Theirs> {
  /** The fields in which both differ; none if the server matches the folder. */
  changes(mine: Mine, theirs: Theirs): FieldChange[];
  /** The object of a step, as it stands behind the verb. */
  heading(step: Step<Mine, Theirs>): string;
  details(step: Step<Mine, Theirs>, tense: Tense): string[];
  json(step: Step<Mine, Theirs>): object;
  /** An object that stays as it is. */
  unchangedJson(mine: Mine, theirs: Theirs): object;
  unlistedName(theirs: Theirs): string;
  unlistedJson(theirs: Theirs): object;
  /** Begins the message of an error. */
  where(step: Step<Mine, Theirs>): string;
  /** Throws a CommandFault if the step cannot be taken, before any step is. */
  check?(step: Step<Mine, Theirs>): void;
  /** One object, whole or not at all. */
  take(step: Step<Mine, Theirs>): Promise<Taken<Mine, Theirs>>;
  /** What apply does with an object that is as it should be. Returns notes. */
  keep?(mine: Mine, theirs: Theirs): string[];
}
