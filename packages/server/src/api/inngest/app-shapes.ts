/** Apps and functions as version 2 of Inngest's REST API shows them. */

import { iso } from "../../observe/run-view.ts";
import type { App, StoredFunction } from "../../store/contract/index.ts";

export interface PeerApp {
  app: App;
  functionCount: number;
}

export interface PeerAppFunction {
  stored: StoredFunction;
  app: App;
  uuid: string;
  appUuid: string;
  /** As registered. */
  config: Readonly<Record<string, unknown>>;
}

export function secondApp({ app, functionCount }: PeerApp): object {
  const [language = "", version = ""] = app.sdk.replace(/^inngest-/, "").split(":");
  return {
    id: app.name,
    name: app.name,
    method: "SERVE",
    createdAt: iso(app.createdAt),
    isArchived: false,
    functionCount,
    latestSync: {
      status: app.error === null ? "success" : "error",
      syncedAt: iso(app.syncedAt),
      sdkLanguage: language,
      sdkVersion: version,
      framework: app.framework,
      url: app.url,
      error: app.error,
    },
  };
}

export function secondFunction({ stored, app, uuid, config }: PeerAppFunction): object {
  const { triggers, steps, name: _name, id: _id, ...flowControl } = config as Record<string, unknown> & { triggers?: unknown };
  const prefix = `${app.name}-`;
  return {
    id: uuid,
    name: stored.name,
    slug: stored.id.startsWith(prefix) ? stored.id.slice(prefix.length) : stored.id,
    isPaused: false,
    isArchived: false,
    app: { id: app.name },
    triggers: triggersOf(triggers),
    configuration: { ...flowControl, retries: { value: retriesOf(steps) } },
  };
}

function triggersOf(triggers: unknown): object[] {
  const given = (Array.isArray(triggers) ? triggers : []) as { event?: string; cron?: string; expression?: string; if?: string }[];
  return given.map(({ event, cron, expression, if: condition = expression }) => ({
    ...(cron === undefined ? { type: "EVENT", value: event } : { type: "CRON", value: cron }),
    ...(condition !== undefined && { if: condition }),
  }));
}

function retriesOf(steps: unknown): number {
  const [step] = Object.values((steps ?? {}) as Record<string, { retries?: { attempts?: number } }>);
  return step?.retries?.attempts ?? 4;
}
