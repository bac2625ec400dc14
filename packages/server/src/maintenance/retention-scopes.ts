/**
 * Retention times: the rule of an event type takes precedence over that of its environment, which takes precedence over the installation's.
 * Without specific rules, everything is one scope, which engines can remove in large pieces.
 */

import type { EnvironmentId } from "@inlet/protocol";
import type { Environment, EnvironmentRetention, EventTypeSettings } from "../store/contract/index.ts";

/** Of the installation; null: forever. */
export type InstallationRetention = EnvironmentRetention;

export interface RetentionScope {
  /** Absent: everything. */
  environmentId?: EnvironmentId;
  /** Events of this name only. */
  name?: string;
  keptMs: number;
}

export interface RetentionRules {
  installation: InstallationRetention;
  environments: readonly Environment[];
  types: readonly EventTypeSettings[];
}

/** Scopes of runs and requests: by environment, if any has its own rule. */
export function environmentScopes({ installation, environments }: RetentionRules, what: keyof EnvironmentRetention): RetentionScope[] {
  const usual = installation[what];
  if (environments.every(({ retention }) => retention[what] === null)) return usual === null ? [] : [{ keptMs: usual }];
  return environments.flatMap(({ id, retention }) => scope(retention[what] ?? usual, { environmentId: id }));
}

/**
 * Scopes of events. `namesOf` lists the names seen in an environment: if one has its own rule, each name is a scope, so that
 * events retained longer are not scanned again and again.
 */
export async function eventScopes(
  rules: RetentionRules,
  namesOf: (environmentId: EnvironmentId) => Promise<readonly string[]>,
): Promise<RetentionScope[]> {
  const ruled = rules.types.filter(({ retentionMs }) => retentionMs !== null);
  if (ruled.length === 0) return environmentScopes(rules, "eventsMs");
  const scopes: RetentionScope[] = [];
  for (const environment of rules.environments) {
    const usual = environment.retention.eventsMs ?? rules.installation.eventsMs;
    const own = new Map(typesOf(rules, environment, ruled).map(({ name, retentionMs }) => [name, retentionMs]));
    if (own.size === 0) scopes.push(...scope(usual, { environmentId: environment.id }));
    else
      for (const name of await namesOf(environment.id))
        scopes.push(...scope(own.get(name) ?? usual, { environmentId: environment.id, name }));
  }
  return scopes;
}

/** The longest retention time of all scopes; null: forever. Older data can be dropped as a whole. */
export function longestKept(rules: RetentionRules, what: keyof EnvironmentRetention): number | null {
  const { installation, environments, types } = rules;
  const kept = environments.map(({ retention }) => retention[what] ?? installation[what]);
  if (what === "eventsMs") kept.push(...types.flatMap(({ retentionMs }) => retentionMs ?? []));
  if (kept.length === 0) return installation[what];
  return kept.some((ms) => ms === null) ? null : Math.max(...(kept as number[]));
}

/** Those that end before the longest retention time. */
export function shorterScopes(scopes: readonly RetentionScope[], longestMs: number | null): RetentionScope[] {
  return scopes.filter(({ keptMs }) => longestMs === null || keptMs < longestMs);
}

/** Branch environments share the rules of the scope `branch`. */
function typesOf({ environments }: RetentionRules, { id, kind }: Environment, ruled: readonly EventTypeSettings[]): EventTypeSettings[] {
  const home = kind === "branch" ? environments.find((other) => other.kind === "shared")?.id : id;
  return ruled.filter(({ environmentId }) => environmentId === home);
}

function scope(keptMs: number | null, of: Omit<RetentionScope, "keptMs">): RetentionScope[] {
  return keptMs === null ? [] : [{ ...of, keptMs }];
}
