/**
 * Environments in files: what a file names is set, and what it leaves out stays as it is, since an environment is also where other objects
 * are. Within `retention` and `quotas`, what is left out is null. An environment is never deleted; `archived: true` archives it.
 */

import { isDeepStrictEqual } from "node:util";
import type { FieldChange, Matching, ObjectKind } from "../../plan/object-kind.ts";
import type { RestClient } from "../../rest/rest-client.ts";
import type { Definition, Fields } from "../format/definition.ts";
import { ENVIRONMENT_SETTINGS } from "../format/file-schema.ts";
import { durationOf } from "./event-types.ts";
import { describedBy } from "./named-object.ts";
import type { NewKey, NewKeys } from "./new-keys.ts";

export interface ServerEnvironment {
  name: string;
  kind: "default" | "custom" | "branch";
  archivedAt: string | null;
  bodyLimitBytes: number | null;
  retention: Fields;
  quotas?: Fields;
  database?: string;
}

const SETTINGS = ["bodyLimitBytes", "retention", "quotas"] as const;
const DETAILED = { retention: ENVIRONMENT_SETTINGS.retention.properties, quotas: ENVIRONMENT_SETTINGS.quotas.properties } as const;

export function matchEnvironments(
  objects: readonly Definition[],
  onServer: readonly ServerEnvironment[],
): Matching<Definition, ServerEnvironment> {
  const matches = objects.map((mine) => ({ mine, theirs: onServer.find(({ name }) => name === mine.name) ?? null }));
  const faults = matches.flatMap(({ mine, theirs }) => {
    const { kind, database } = mine.fields;
    const { name, at } = mine;
    const isOther = (wanted: unknown, actual: unknown) => theirs !== null && wanted !== undefined && wanted !== actual;
    return [
      ...(isOther(kind, theirs?.kind) ? [`${at}: "${name}" is a ${theirs?.kind} environment; its kind cannot be changed`] : []),
      ...(isOther(database, theirs?.database)
        ? [`${at}: "${name}" is on the database ${theirs?.database}; to move it, run "inlet env move ${name} --to ${database}"`]
        : []),
    ];
  });
  return { matches, unlisted: [], faults };
}

export function environmentKind(rest: RestClient, newKeys: NewKeys): ObjectKind<Definition, ServerEnvironment> {
  return {
    changes,
    ...describedBy<ServerEnvironment>(
      ({ name }) => `environment ${name}`,
      ({ name }) => ({ kind: "environment", environment: name, name }),
    ),
    where: (step) => (step.action === "delete" ? step.theirs.name : step.mine.at),
    check(step) {
      if (step.action === "create" && kindOf(step.mine) === "custom")
        newKeys.check(`${step.mine.at}: "${step.mine.name}" is created with an event key and a signing key`);
    },
    async take(step) {
      const done = { step, lines: [] as string[], notes: [], json: {} };
      if (step.action === "create") return { ...done, lines: await create(rest, newKeys, step.mine) };
      if (step.action === "change") await change(rest, step.mine, step.changes);
      return done;
    },
  };
}

/** Whole, with what the file leaves out within it. */
function settingOf({ fields }: Definition, field: (typeof SETTINGS)[number]): unknown {
  const value = fields[field];
  if (field === "bodyLimitBytes" || value === undefined) return value;
  return { ...Object.fromEntries(Object.keys(DETAILED[field]).map((name) => [name, null])), ...(value as Fields) };
}

function changes(mine: Definition, theirs: ServerEnvironment): FieldChange[] {
  const named = SETTINGS.flatMap((field) => {
    const [inFolder, onServer] = [settingOf(mine, field), theirs[field]];
    if (inFolder === undefined || isDeepStrictEqual(comparable(inFolder), comparable(onServer))) return [];
    return [{ field, onServer, inFolder }];
  });
  const [archived, isArchived] = [mine.fields.archived === true, theirs.archivedAt !== null];
  return archived === isArchived ? named : [...named, { field: "archived", onServer: isArchived, inFolder: archived }];
}

function comparable(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, durationOf(item)]));
}

/** Its keys are written down before anything else can fail. */
async function create(rest: RestClient, newKeys: NewKeys, mine: Definition): Promise<string[]> {
  const { name, fields } = mine;
  const atFirst = (["bodyLimitBytes", "database"] as const).filter((field) => field in fields);
  const body = { name, kind: kindOf(mine), ...Object.fromEntries(atFirst.map((field) => [field, fields[field]])) };
  const { keys = [] } = await rest.data<{ keys?: NewKey[] }>({ method: "POST", path: "/environments", body });
  const lines = newKeys.write(keys);
  const more = (["retention", "quotas"] as const).filter((field) => field in fields);
  const settings = more.map((field) => ({ field, onServer: null, inFolder: settingOf(mine, field) }));
  await change(rest, mine, [...settings, ...(fields.archived === true ? [{ field: "archived", onServer: false, inFolder: true }] : [])]);
  return lines;
}

async function change(rest: RestClient, { name }: Definition, changes: readonly FieldChange[]): Promise<void> {
  const path = `/environments/${encodeURIComponent(name)}`;
  const settings = changes.filter(({ field }) => field !== "archived");
  const archived = changes.find(({ field }) => field === "archived");
  const body = Object.fromEntries(settings.map(({ field, inFolder }) => [field, inFolder]));
  if (settings.length > 0) await rest.call({ method: "PUT", path, body });
  if (archived) await rest.call({ method: "POST", path: `${path}/${archived.inFolder ? "archive" : "unarchive"}` });
}

function kindOf({ fields }: Definition): string {
  return (fields.kind as string | undefined) ?? "custom";
}
