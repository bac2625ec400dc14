/** The current retention rules: read from the store for every sweep, so that a change on any node takes effect. */

import type { EnvironmentId } from "@inlet/protocol";
import { type EnvironmentStore, type EventTypeStore, reachableOnly, type Store } from "../store/contract/index.ts";
import {
  environmentScopes,
  eventScopes,
  type InstallationRetention,
  longestKept,
  type RetentionRules,
  type RetentionScope,
  shorterScopes,
} from "./retention-scopes.ts";

const NAMES_PER_PAGE = 1_000;

export interface RetentionRulesParts {
  store: Pick<EnvironmentStore, "environmentList"> &
    Pick<EventTypeStore, "eventTypeSettingsList" | "eventTypeList"> &
    Pick<Store, "storeDatabases" | "storeDatabaseOf">;
  installation: InstallationRetention;
  now(): number;
  /** Rows that every retention has passed leave with their partition, which is archived: only shorter rules remove single rows. */
  isArchived?: boolean;
}

export interface KeptScopes {
  events(): Promise<RetentionScope[]>;
  runs(): Promise<RetentionScope[]>;
  approvals(): Promise<RetentionScope[]>;
  requests(): Promise<RetentionScope[]>;
  longest(): Promise<Record<"events" | "runs" | "requests", number | null>>;
}

export function createKeptScopes({ store, installation, now, isArchived = false }: RetentionRulesParts): KeptScopes {
  async function rules(): Promise<RetentionRules> {
    const [environments, types] = await Promise.all([store.environmentList(), store.eventTypeSettingsList()]);
    return { installation, environments, types };
  }
  /** What can be removed now: nothing in a database that is away. */
  const reachable = (known: RetentionRules): RetentionRules => ({ ...known, environments: reachableOnly(store, known.environments) });
  async function namesOf(environmentId: EnvironmentId): Promise<string[]> {
    const names: string[] = [];
    let after: number | null = null;
    do {
      const page: Awaited<ReturnType<EventTypeStore["eventTypeList"]>> = await store.eventTypeList({
        environmentId,
        limit: NAMES_PER_PAGE,
        since: now(),
        ...(after !== null && { after }),
      });
      names.push(...page.types.map(({ name }) => name));
      after = page.next;
    } while (after !== null);
    return names;
  }
  const removed = (known: RetentionRules, what: "eventsMs" | "runsMs", scopes: RetentionScope[]) =>
    isArchived ? shorterScopes(scopes, longestKept(known, what)) : scopes;
  return {
    async events() {
      const known = await rules();
      return removed(known, "eventsMs", await eventScopes(reachable(known), namesOf));
    },
    async runs() {
      const known = await rules();
      return removed(known, "runsMs", environmentScopes(reachable(known), "runsMs"));
    },
    // They have no partitions.
    approvals: async () => environmentScopes(reachable(await rules()), "runsMs"),
    requests: async () => environmentScopes(reachable(await rules()), "requestsMs"),
    async longest() {
      const known = await rules();
      const of = (what: Parameters<typeof longestKept>[1]) => longestKept(known, what);
      return { events: of("eventsMs"), runs: of("runsMs"), requests: of("requestsMs") };
    },
  };
}
