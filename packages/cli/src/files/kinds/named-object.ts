/**
 * Kinds of objects that have a name within an environment, or within the installation, and whose fields are all set by files: a field that
 * a file leaves out has its default. If the server has several objects of one name, the definition holds for each of them.
 */

import { isDeepStrictEqual } from "node:util";
import type { FieldChange, Match, Matching, ObjectKind, Step } from "../../plan/object-kind.ts";
import { textDifference } from "../../plan/step-lines.ts";
import { type Definition, type Fields, NOUNS, type Section, type SectionPlace } from "../format/definition.ts";

/** An object of the server. */
export interface ServerObject {
  environment: string | null;
  name: string;
  /** Null for objects that are known by their name. */
  id: string | null;
  fields: Fields;
}

export interface NamedKind {
  section: Section;
  /** Every field that is compared, with its default. */
  defaults: Fields;
  /** Values as both sides are compared. */
  comparable?(field: string, value: unknown, side: Definition | ServerObject): unknown;
  check?(step: NamedStep): void;
  /** Lines to print below the step. */
  create(mine: Definition, fields: Fields): Promise<string[]>;
  change(mine: Definition, theirs: ServerObject, fields: Fields): Promise<void>;
  remove(theirs: ServerObject): Promise<void>;
}

type NamedStep = Step<Definition, ServerObject>;

/** For settings of what exists by itself: setting all fields creates and changes them, setting the defaults removes them. */
export function setAsWhole(
  defaults: Fields,
  set: (environment: string | null, name: string, fields: Fields) => Promise<unknown>,
): Pick<NamedKind, "defaults" | "create" | "change" | "remove"> {
  return {
    defaults,
    async create({ environment, name }, fields) {
      await set(environment, name, fields);
      return [];
    },
    async change({ environment, name }, _, fields) {
      await set(environment, name, fields);
    },
    async remove({ environment, name }) {
      await set(environment, name, defaults);
    },
  };
}

export function matchNamed(
  objects: readonly Definition[],
  places: readonly SectionPlace[],
  onServer: readonly ServerObject[],
): Matching<Definition, ServerObject> {
  const isOf = (definition: Definition) => (other: ServerObject) =>
    other.name === definition.name && other.environment === definition.environment;
  const matches = objects.flatMap((mine): Match<Definition, ServerObject>[] => {
    const found = onServer.filter(isOf(mine));
    return found.length === 0 ? [{ mine, theirs: null }] : found.map((theirs) => ({ mine, theirs }));
  });
  const isSpokenOf = ({ environment }: ServerObject) => places.some((place) => place.environment === environment);
  const unlisted = onServer.filter((theirs) => isSpokenOf(theirs) && !objects.some((mine) => isOf(mine)(theirs)));
  return { matches, unlisted, faults: [] };
}

export function namedKind(kind: NamedKind): ObjectKind<Definition, ServerObject> {
  const whole = ({ fields }: Definition): Fields => ({ ...kind.defaults, ...fields });
  const comparable = kind.comparable ?? ((_: string, value: unknown) => value);
  const nameOf = ({ environment, name }: Definition | ServerObject) =>
    `${NOUNS[kind.section]} "${name}"${environment === null ? "" : ` in ${environment}`}`;
  const identity = ({ environment, name }: Definition | ServerObject) => ({ kind: NOUNS[kind.section], environment, name });
  const changes = (mine: Definition, theirs: ServerObject): FieldChange[] =>
    Object.keys(kind.defaults).flatMap((field) => {
      const [inFolder, onServer] = [whole(mine)[field], theirs.fields[field]];
      const isSame = isDeepStrictEqual(comparable(field, inFolder, mine), comparable(field, onServer, theirs));
      return isSame ? [] : [{ field, onServer, inFolder }];
    });
  return {
    changes,
    ...describedBy(nameOf, identity),
    where: (step) => (step.action === "delete" ? nameOf(step.theirs) : step.mine.at),
    check: (step) => kind.check?.(step),
    async take(step) {
      return { step, lines: await take(kind, step, whole), notes: [], json: {} };
    },
  };
}

async function take(kind: NamedKind, step: NamedStep, whole: (mine: Definition) => Fields): Promise<string[]> {
  if (step.action === "create") return kind.create(step.mine, whole(step.mine));
  if (step.action === "change") await kind.change(step.mine, step.theirs, whole(step.mine));
  else await kind.remove(step.theirs);
  return [];
}

/** How steps are shown, by what an object is called and how JSON identifies it. */
export function describedBy<Theirs>(
  nameOf: (object: Definition | Theirs) => string,
  identity: (object: Definition | Theirs) => object,
): Pick<ObjectKind<Definition, Theirs>, "heading" | "details" | "json" | "unchangedJson" | "unlistedName" | "unlistedJson"> {
  const objectOf = (step: Step<Definition, Theirs>) => (step.action === "delete" ? step.theirs : step.mine);
  return {
    heading: (step) => nameOf(objectOf(step)),
    details(step) {
      if (step.action === "delete") return [];
      return step.action === "change" ? step.changes.flatMap(changeLines) : fieldLines(step.mine.fields);
    },
    json: (step) => ({ action: step.action, ...identity(objectOf(step)), fields: step.action === "change" ? step.changes : [] }),
    unchangedJson: identity,
    unlistedName: nameOf,
    unlistedJson: identity,
  };
}

function changeLines({ field, onServer, inFolder }: FieldChange): string[] {
  if (field !== "schema") return [`${field}: ${written(onServer)} -> ${written(inFolder)}`];
  return textDifference(field, pretty(onServer), pretty(inFolder));
}

function fieldLines(fields: Fields): string[] {
  return Object.entries(fields).map(([field, value]) => `${field}: ${field === "schema" ? sizeOf(value) : written(value)}`);
}

function written(value: unknown): string {
  return value === null || value === undefined ? "none" : JSON.stringify(value);
}

function pretty(value: unknown): string {
  return value === null || value === undefined ? "none" : JSON.stringify(value, null, 2);
}

function sizeOf(value: unknown): string {
  const lines = pretty(value).split("\n").length;
  return lines === 1 ? pretty(value) : `${lines} lines`;
}
