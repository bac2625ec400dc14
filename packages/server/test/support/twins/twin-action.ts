/** One request to twin services, and what the responses make known: ids that later requests may name. */

import type { Random } from "../attacks/attack-plan.ts";
import type { Answer } from "../service.ts";
import type { TwinRequest, Twins } from "./twin-services.ts";

export const KINDS = ["event", "run", "webhook", "token", "request", "key", "alertRule", "approval", "job"] as const;
export type Kind = (typeof KINDS)[number];

export interface TwinAction extends TwinRequest {
  /** What the responses add to what is known. */
  learn?: (answers: readonly [Answer, Answer], known: Known) => void;
}

const UNKNOWN_ID = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const UNKNOWN_SHARE = 0.03;

/** The ids of both services that were seen in responses, by what they are of. */
export class Known {
  readonly #twins = new Map<Kind, Twins[]>();

  add(kind: Kind, twins: Twins): void {
    const list = this.#twins.get(kind) ?? [];
    this.#twins.set(kind, list);
    if (!list.some(([one]) => one === twins[0])) list.push(twins);
  }

  /** Of what something was seen. */
  kinds(): Iterable<Kind> {
    return this.#twins.keys();
  }

  first(kind: Kind): Twins {
    return this.#twins.get(kind)?.[0] ?? [UNKNOWN_ID, UNKNOWN_ID];
  }

  /** Sometimes, and if there is none, an id that nothing has. */
  pick(random: Random, kind: Kind): Twins {
    const list = this.#twins.get(kind);
    return list === undefined || random.next() < UNKNOWN_SHARE ? [UNKNOWN_ID, UNKNOWN_ID] : random.pick(list);
  }
}

/** Adds the ids of a list. */
export function learnList(kind: Kind): NonNullable<TwinAction["learn"]> {
  return ([one, other], known) => {
    for (const [n, item] of ((one.body?.data as { id: string }[]) ?? []).entries()) known.add(kind, [item.id, other.body.data[n].id]);
  };
}

/** Adds the id of what was created. */
export function learnOne(kind: Kind): NonNullable<TwinAction["learn"]> {
  return ([one, other], known) => {
    if (one.status === 201 || one.status === 202) known.add(kind, [one.body.data.id, other.body.data.id]);
  };
}
