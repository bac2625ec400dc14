/** Cuts a failing scenario down: whatever can be left out or made simpler while the same kind of fault is still found, is. */

import { DEED_KINDS } from "./people.ts";
import { type Code, codeNodes, QUIET_NETWORK, type Scenario, type SimFunction } from "./scenario.ts";

export interface ShrinkOptions {
  /** The kinds of faults that a scenario shows. */
  kindsOf(scenario: Scenario): Promise<Set<string>>;
  triesMax: number;
}

/** Numbers and ids differ from one scenario to the next; what is left names the kind. */
export function kindOf(fault: string): string {
  return fault
    .replace(/^at \d+ ms: /, "")
    .replace(/run 0\w{25} of \S+ for event \d+:?/g, "run")
    .replace(/^(own|v3|v4)-f\d+: /, "")
    .split(/[:(]/)[0]
    ?.replace(/\S*\d\S*/g, "#")
    .trim() as string;
}

export async function shrink(scenario: Scenario, kind: string, { kindsOf, triesMax }: ShrinkOptions): Promise<Scenario> {
  let best = scenario;
  let tries = 0;
  const attempt = async (candidate: Scenario): Promise<boolean> => {
    if (++tries > triesMax || !(await kindsOf(candidate)).has(kind)) return false;
    best = candidate;
    return true;
  };
  for (let before: Scenario | null = null; before !== best && tries < triesMax; ) {
    before = best;
    for (const list of [...DEED_KINDS, "functions", "outages", "refusals"] as const) {
      const items = (): readonly unknown[] => best[list] ?? [];
      await dropMany((left) => ({ ...best, [list]: left }), items, attempt);
    }
    for (const name of ["lost", "cut", "hang", "twice"] as const) {
      if (best.network[name] > 0) await attempt({ ...best, network: { ...best.network, [name]: 0 } });
    }
    if (best.network.latencyMs !== QUIET_NETWORK.latencyMs)
      await attempt({ ...best, network: { ...best.network, latencyMs: QUIET_NETWORK.latencyMs } });
    if (best.jumble > 0) await attempt({ ...best, jumble: 0 });
    for (let index = 0; index < best.functions.length; index++) await simplify(() => best, index, attempt);
  }
  return best;
}

/** Halves first, then quarters, down to one by one. */
async function dropMany<Item>(
  without: (items: readonly Item[]) => Scenario,
  items: () => readonly Item[],
  attempt: (candidate: Scenario) => Promise<boolean>,
): Promise<void> {
  for (let size = Math.ceil(items().length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < items().length; ) {
      const left = [...items().slice(0, from), ...items().slice(from + size)];
      if (!(await attempt(without(left)))) from += size;
    }
  }
}

async function simplify(scenario: () => Scenario, index: number, attempt: (candidate: Scenario) => Promise<boolean>): Promise<void> {
  const replaced = (fn: SimFunction) => ({ ...scenario(), functions: scenario().functions.map((old, at) => (at === index ? fn : old)) });
  const current = () => scenario().functions[index] as SimFunction;
  if (Object.keys(current().flow).length > 0) await attempt(replaced({ ...current(), flow: {} }));
  for (const name of Object.keys(current().flow)) {
    const { [name as keyof SimFunction["flow"]]: _, ...flow } = current().flow;
    await attempt(replaced({ ...current(), flow }));
  }
  if (current().onFailure) await attempt(replaced({ ...current(), onFailure: false }));
  if (current().cancelOn) await attempt(replaced({ ...current(), cancelOn: null }));
  if (current().sdk !== "own") await attempt(replaced({ ...current(), sdk: "own" }));
  for (let place = 0; place < codeNodes(current().code).length; place++) {
    for (const simpler of simplerThan(codeNodes(current().code)[place] as Code)) {
      if (await attempt(replaced({ ...current(), code: replaceAt(current().code, { left: place }, simpler) }))) break;
    }
  }
}

function simplerThan(code: Code): Code[] {
  const shorter = (parts: readonly Code[]) => parts.map((_, out) => parts.filter((_part, at) => at !== out));
  switch (code.kind) {
    case "sequence":
      return [
        ...(code.parts.length === 1 ? code.parts : []),
        ...shorter(code.parts)
          .filter((parts) => parts.length > 0)
          .map((parts) => ({ ...code, parts })),
      ];
    case "all":
    case "race":
      return [
        ...code.parts,
        ...shorter(code.parts)
          .filter((parts) => parts.length > 1)
          .map((parts) => ({ ...code, parts })),
      ];
    case "loop":
      return [code.part];
    case "try":
      return [code.part, code.otherwise];
    case "fetch":
      return code.fails > 0 || code.tookMs > 0 ? [{ ...code, fails: 0, tookMs: 0 }] : [];
    case "run":
      return [
        ...(code.fails > 0 ? [{ ...code, fails: 0, error: "plain" } as const] : []),
        ...(code.tookMs > 0 ? [{ ...code, tookMs: 0 }] : []),
      ];
    default:
      return [];
  }
}

/** The node at that place, counted as `codeNodes` does, replaced. */
function replaceAt(code: Code, counter: { left: number }, by: Code): Code {
  if (counter.left-- === 0) return by;
  const inside = (part: Code) => (counter.left < 0 ? part : replaceAt(part, counter, by));
  switch (code.kind) {
    case "sequence":
    case "all":
    case "race":
      return { ...code, parts: code.parts.map(inside) };
    case "loop":
      return { ...code, part: inside(code.part) };
    case "try": {
      const part = inside(code.part);
      return { ...code, part, otherwise: inside(code.otherwise) };
    }
    default:
      return code;
  }
}
