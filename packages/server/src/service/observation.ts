/** What watches the service: counts, histories, metrics, traces and the live log. */

import type { Logger } from "pino";
import packageFile from "../../package.json" with { type: "json" };
import { Activity } from "../observe/activity.ts";
import { createEventTypeCounter } from "../observe/event-type-counter.ts";
import { createLiveLog, type LiveLog } from "../observe/live-log.ts";
import { Metrics } from "../observe/metrics/metrics.ts";
import { QueueHistory } from "../observe/queue-history.ts";
import { RefusalLog } from "../observe/refusal-log.ts";
import type { Telemetry } from "../observe/telemetry/open-telemetry.ts";
import type { TelemetrySettings } from "../observe/telemetry/telemetry-settings.ts";
import { Traffic } from "../observe/traffic.ts";
import { Usage } from "../observe/usage.ts";
import type { Directory } from "../receive/senders/directory.ts";
import type { Environment, Store } from "../store/contract/index.ts";
import type { Functions } from "./functions.ts";

export interface ObservationParts {
  store: Store;
  directory: Directory;
  /** Created after what observes them. */
  functions: () => Pick<Functions, "functionId" | "waitingSince" | "functionsWaitingSince">;
  /** The environment that the live log need not name. */
  defaultEnvironment: string;
  /** The OTLP export; null: none. */
  exported: TelemetrySettings | null;
  /** Prints a line of the live log; absent: there is none. */
  showLine?: ((line: string) => void) | undefined;
  log: Logger;
  now: () => number;
}

export interface Observation {
  refusals: RefusalLog;
  traffic: Traffic;
  activity: Activity;
  usage: Usage;
  eventTypeCounter: ReturnType<typeof createEventTypeCounter>;
  metrics: Metrics;
  telemetry: Telemetry | null;
  queueHistory: QueueHistory;
  liveLog: LiveLog | null;
}

export async function openObservation(parts: ObservationParts): Promise<Observation> {
  const { store, directory, functions, defaultEnvironment, exported, showLine, log, now } = parts;
  const environmentName = (id: Environment["id"]) => directory.environment(id)?.name;
  const metrics = new Metrics({
    store,
    environmentName: (id) => environmentName(id) ?? String(id),
    environments: () => directory.environments().filter(({ kind }) => kind !== "shared"),
    functionId: (no) => functions().functionId(no),
    waitingSince: () => functions().functionsWaitingSince(),
    now,
  });
  const environmentShown = (id: Environment["id"]) => shownUnless(defaultEnvironment, environmentName(id));
  return {
    refusals: new RefusalLog(log),
    traffic: new Traffic({ store, log, now }),
    activity: new Activity({ store, log, now }),
    usage: new Usage({ store, log, now }),
    eventTypeCounter: createEventTypeCounter({ store, log }),
    metrics,
    telemetry: exported && (await loadTelemetry(exported, metrics, log)),
    queueHistory: new QueueHistory({ views: store.storeViews, waitingSince: () => functions().waitingSince(), log, now }),
    liveLog: showLine ? createLiveLog({ environmentShown, write: showLine, now }) : null,
  };
}

/** The packages are loaded only if something is exported. */
async function loadTelemetry(settings: TelemetrySettings, metrics: Metrics, log: Logger): Promise<Telemetry> {
  const { openTelemetry } = await import("../observe/telemetry/open-telemetry.ts");
  return openTelemetry(settings, { metrics, version: packageFile.version, log });
}

function shownUnless(usual: string, name: string | undefined): string | null {
  return name === undefined || name === usual ? null : name;
}
