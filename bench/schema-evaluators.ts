/** What a check of one event takes: our evaluator, which counts its work, and ajv, which compiles a schema to JavaScript and counts nothing. In turn. */

import { Ajv2020 } from "ajv/dist/2020.js";
import { compileSchema } from "../packages/server/src/catalogue/compile-schema.ts";
import { BODIES, FIELDS_SCHEMA } from "./events.ts";
import { median, type Row } from "./report.ts";

const TURN_MS = 200;
/** The largest event, with a pattern of many sets of states, applied to each of its characters as often as is accepted. */
const COSTLY_CHARACTERS = 512 * 1024;
const COSTLY_PATTERN = "[ab]*a[ab]{9}[cd]";

export function benchEvaluators(rounds: number): Row[] {
  const { data } = JSON.parse((BODIES["event-20-fields"] as () => string)()) as { data: unknown };
  const compiled = compileSchema(FIELDS_SCHEMA);
  if ("fault" in compiled) throw new Error(compiled.fault);
  const other = new Ajv2020({ strict: false, validateFormats: false }).compile(FIELDS_SCHEMA);
  const ours = () => compiled.check(data).length === 0;
  const theirs = () => other(data);
  const measured = Array.from({ length: rounds + 1 }, () => ({ ours: perSecond(ours), theirs: perSecond(theirs) })).slice(1);
  const what = "check of an event of 20 fields";
  return [
    { what: `${what}: our evaluator`, value: median(measured.map((one) => one.ours)), unit: "checks/s" },
    { what: `${what}: ajv`, value: median(measured.map((one) => one.theirs)), unit: "checks/s" },
    { what: `${what}: ours against ajv`, value: median(measured.map((one) => one.ours / one.theirs)), unit: "×" },
    { what: "the costliest patterns that are accepted, on 512 KiB", value: costliestMs(), unit: "ms" },
  ];
}

function perSecond(check: () => boolean): number {
  const began = performance.now();
  let checks = 0;
  while (performance.now() - began < TURN_MS) {
    for (let n = 0; n < 1_000; n++) if (!check()) throw new Error("the event does not match");
    checks += 1_000;
  }
  return (checks * 1_000) / (performance.now() - began);
}

function costliestMs(): number {
  let costly = compileSchema({ pattern: COSTLY_PATTERN });
  for (let patterns = 2; ; patterns++) {
    const allOf = Array.from({ length: patterns }, (_, n) => ({ pattern: `${COSTLY_PATTERN}${"e".repeat(n)}` }));
    const more = compileSchema({ properties: { a: { not: { anyOf: allOf } } } });
    if ("fault" in more) break;
    costly = more;
  }
  if ("fault" in costly) throw new Error(costly.fault);
  const text = Array.from({ length: COSTLY_CHARACTERS }, () => (Math.random() < 0.5 ? "a" : "b")).join("");
  const began = performance.now();
  costly.check({ a: text }, 0);
  return performance.now() - began;
}
