/** How the processes of a simulation are set up. */

import { type Config, readConfig } from "../../src/config/config.ts";
import { EVENT_KEY } from "./apps/own-app.ts";
import { SIGNING_KEY } from "./journal.ts";
import { CALLS_PER_APP } from "./limits.ts";

/** Followers of a channel that are away for longer miss messages. In real time, nobody is. */
export const STREAM_RETENTION_MS = 20_000;

/** Null: the default. */
interface Durations {
  callTimeoutMs: number;
  leaseMs: number | null;
  retryMs: number | null;
}

export function configOf({ callTimeoutMs, retryMs, leaseMs }: Durations): Config {
  const retries = retryMs === null ? [] : ["--retry-interval", `${retryMs}ms`];
  const leases = leaseMs === null ? [] : ["--lease", `${leaseMs}ms`];
  const flags = [
    ...retries,
    ...leases,
    "--call-timeout",
    `${callTimeoutMs}ms`,
    "--app-calls",
    String(CALLS_PER_APP),
    "--discover",
    "off",
    "--stream-retention",
    `${STREAM_RETENTION_MS}ms`,
  ];
  const keys = ["--event-key", EVENT_KEY, "--signing-key", SIGNING_KEY, "--api-key", "api-key"];
  return readConfig("start", [...flags, ...keys], {});
}
