/**
 * Declared schemas, cached in memory and compiled once. Every event is checked against them, whether from a key, a webhook or a step.
 * A change by another node applies here as soon as it is announced. Mismatches are counted in memory and added to the store every second.
 */

import { type EnvironmentId, FAULTS_REPORTED_MAX, type Fault, Refusal, type SentEvent } from "@inlet/protocol";
import type { Logger } from "pino";
import {
  type Environment,
  type EventSchema,
  type EventSchemaStore,
  type SchemaFaults,
  type SchemaMode,
  type Store,
  sharedRefresh,
  writeByDatabase,
} from "../store/contract/index.ts";
import { type CompiledSchema, compileSchema, type SchemaFault } from "./compile-schema.ts";

const FLUSH_EVERY_MS = 1_000;
/** Events of one request are marked with this many errors in total; each further one that does not match, with its first error. */
const STORED_ERRORS_MAX = 1_000;

export interface CatalogueParts {
  store: EventSchemaStore & Pick<Store, "storeDatabaseOf">;
  directory: { environments(): readonly Environment[]; environment(id: EnvironmentId): Environment | undefined };
  log: Logger;
  now: () => number;
}

/** A declared schema. */
interface Declared {
  key: { environmentId: EnvironmentId; name: string };
  text: string;
  mode: SchemaMode;
  /** Compiled with the first event. */
  check: Checks | null;
}

type Checks = Pick<CompiledSchema, "check">;

export interface SchemaCheck {
  mode: SchemaMode;
  valid: boolean;
  errors: SchemaFault[];
}

export class Catalogue {
  readonly #parts: CatalogueParts;
  #declared = new Map<string, Declared>();
  /** By environment and name: what a refresh replaces in between is counted together. */
  #faults = new Map<string, SchemaFaults>();
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: CatalogueParts) {
    this.#parts = parts;
  }

  readonly refresh = sharedRefresh(() => this.#readAll());

  async #readAll(): Promise<void> {
    const known = this.#declared;
    const declared = new Map<string, Declared>();
    for (const { environmentId, name, schema, mode } of await this.#parts.store.eventSchemaList()) {
      if (schema === null) continue;
      const id = idOf(environmentId, name);
      const before = known.get(id);
      declared.set(id, { key: { environmentId, name }, text: schema, mode, check: before?.text === schema ? before.check : null });
    }
    this.#declared = declared;
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.flush(), FLUSH_EVERY_MS).unref();
  }

  async stop(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    await this.flush();
  }

  /** The environment whose schemas apply: branch environments share those of `branch`. */
  scopeOf(environmentId: EnvironmentId): EnvironmentId {
    const { directory } = this.#parts;
    if (directory.environment(environmentId)?.kind !== "branch") return environmentId;
    return directory.environments().find(({ kind }) => kind === "shared")?.id ?? environmentId;
  }

  /** Why a schema cannot be used; null: it can. */
  schemaFault(schema: object): string | null {
    const compiled = compileSchema(schema);
    return "fault" in compiled ? compiled.fault : null;
  }

  /** The events in order, each with its errors if its schema warns; or a refusal that lists the faults. Builds no more errors than are reported. */
  checkAll<Event extends SentEvent>(
    environmentId: EnvironmentId,
    events: readonly Event[],
  ): readonly (Event & WithSchemaErrors)[] | Refusal {
    if (this.#declared.size === 0) return events;
    const scope = this.scopeOf(environmentId);
    const refused: Fault[] = [];
    let errorsLeft = STORED_ERRORS_MAX;
    const checked = events.map((event, index): Event & WithSchemaErrors => {
      const declared = this.#declaredFor(scope, event.name);
      if (!declared) return event;
      const errorsMax = { observe: 0, warn: Math.max(errorsLeft, 1), refuse: FAULTS_REPORTED_MAX - refused.length }[declared.mode];
      const errors = this.#errorsOf(declared, event.data, errorsMax);
      if (errors.length === 0) return event;
      this.#note(declared.key);
      if (declared.mode === "refuse" && errorsMax > 0)
        refused.push(...errors.map(({ path, message }) => ({ index, field: "data", path, message })));
      if (declared.mode !== "warn") return event;
      errorsLeft -= errors.length;
      return { ...event, schemaErrors: JSON.stringify(errors) };
    });
    const [first] = refused;
    if (!first) return checked;
    const place = events.length > 1 ? `events[${first.index}]: ` : "";
    const message = `${place}data${first.path ?? ""} ${first.message}, by the schema declared for "${events[first.index ?? 0]?.name}".`;
    return new Refusal("event_schema", message, refused);
  }

  /** How an event would be checked; null: no schema is declared for its name. Nothing is counted. */
  check(environmentId: EnvironmentId, { name, data }: Pick<SentEvent, "name" | "data">): SchemaCheck | null {
    const declared = this.#declaredFor(this.scopeOf(environmentId), name);
    if (!declared) return null;
    const errors = this.#errorsOf(declared, data, FAULTS_REPORTED_MAX);
    return { mode: declared.mode, valid: errors.length === 0, errors };
  }

  /** Adds the counts to the store. Never throws: counts that cannot be added now are added later. Calls made meanwhile share the next one. */
  readonly flush = sharedRefresh(() => this.#add());

  #declaredFor(scope: EnvironmentId, name: string): Declared | undefined {
    return this.#declared.get(idOf(scope, name));
  }

  /** Some errors if the data does not match, at most as many as asked for, but one. */
  #errorsOf(declared: Declared, data: string, errorsMax: number): SchemaFault[] {
    declared.check ??= this.#compile(declared);
    return declared.check.check(JSON.parse(data), errorsMax);
  }

  /** The schema was checked when it was declared: one that cannot be compiled was written by another release, and is ignored. */
  #compile({ key, text }: Declared): Checks {
    const compiled = compileSchema(JSON.parse(text));
    if ("check" in compiled) return compiled;
    this.#parts.log.error({ ...key, fault: compiled.fault }, "a declared schema cannot be used; events are not checked against it");
    return { check: () => [] };
  }

  #note(key: Declared["key"]): void {
    const id = idOf(key.environmentId, key.name);
    const noted = this.#faults.get(id) ?? { ...key, count: 0, lastAt: 0 };
    noted.count++;
    noted.lastAt = this.#parts.now();
    this.#faults.set(id, noted);
  }

  async #add(): Promise<void> {
    if (this.#faults.size === 0) return;
    const { store } = this.#parts;
    const faults = this.#faults;
    this.#faults = new Map();
    try {
      await writeByDatabase(
        store,
        [...faults.values()],
        (some) => store.eventSchemaFaultsAdd({ faults: some }),
        (left) => {
          for (const noted of left) this.#putBack(noted);
        },
      );
    } catch (error) {
      this.#parts.log.debug({ err: error }, "schema faults could not be written; this will be retried");
    }
  }

  #putBack(noted: SchemaFaults): void {
    const id = idOf(noted.environmentId, noted.name);
    const since = this.#faults.get(id);
    const [count, lastAt] = [noted.count + (since?.count ?? 0), Math.max(noted.lastAt, since?.lastAt ?? 0)];
    this.#faults.set(id, { ...noted, count, lastAt });
  }
}

interface WithSchemaErrors {
  schemaErrors?: string;
}

function idOf(environmentId: EventSchema["environmentId"], name: string): string {
  return `${environmentId} ${name}`;
}
