/** What functions need of the service. */

import type { EnvironmentId, EventIdGenerator } from "@inlet/protocol";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import type { DedupWindow } from "../deduplicate/dedup-window.ts";
import type { AppCaller } from "../execute/call/call-app.ts";
import type { Signing } from "../execute/call/function-request.ts";
import type { Clock } from "../execute/clock.ts";
import type { Activity } from "../observe/activity.ts";
import type { LiveLog } from "../observe/live-log.ts";
import type { Metrics } from "../observe/metrics/metrics.ts";
import type { Tracing } from "../observe/telemetry/tracing.ts";
import type { Usage } from "../observe/usage.ts";
import type { Directory } from "../receive/senders/directory.ts";
import type { Store } from "../store/contract/index.ts";

export interface FunctionsParts {
  config: Config;
  store: Store;
  directory: Directory;
  dedupWindow: DedupWindow;
  eventIds: EventIdGenerator;
  defaultEnvironment: string;
  signing(environmentId: EnvironmentId): Signing;
  liveLog: LiveLog | null;
  activity: Activity;
  usage: Pick<Usage, "note">;
  metrics: Metrics | null;
  /** Null: traces are not exported. */
  tracing: Tracing | null;
  caller: Pick<AppCaller, "call" | "fetch" | "stop">;
  log: Logger;
  clock: Clock;
}
