/**
 * Selects the branch environments that get a copy of a webhook's event. The choice is a function of the event, so that a request that a
 * provider repeats is treated like the first. A copy is marked in its source, and is not counted as traffic.
 */

import { createHash } from "node:crypto";
import { nameMatches } from "@inlet/protocol";
import type { Environment, Webhook } from "../store/contract/index.ts";

/** A pattern may match many branches, and each costs a write. */
const TARGETS_MAX = 20;

export function mirrorTargets(webhook: Webhook, environments: readonly Environment[], eventKey: string): Environment[] {
  const { mirror } = webhook;
  if (!mirror || share(`${webhook.id} ${eventKey}`) >= mirror.sample) return [];
  const isTarget = ({ kind, archivedAt, name }: Environment) =>
    kind === "branch" && archivedAt === null && mirror.to.some((pattern) => nameMatches(pattern, name));
  return environments.filter(isTarget).slice(0, TARGETS_MAX);
}

/** From 0 to 1; the same text always gives the same number. */
function share(text: string): number {
  return createHash("sha256").update(text).digest().readUInt32BE(0) / 2 ** 32;
}
