/** Every command of `inlet`, in the order people read about them. */

import { APPS_ROWS } from "./apps/apps-rows.ts";
import type { CommandGroup, CommandRow } from "./command-line/command-row.ts";
import { COMPLETION } from "./completion/completion-row.ts";
import { DOCTOR } from "./doctor/doctor-row.ts";
import { ENVIRONMENTS_ROWS } from "./environments/environments-rows.ts";
import { EVENTS_ROWS } from "./events/events-rows.ts";
import { KEYS_ROWS } from "./keys/keys-rows.ts";
import { LISTEN } from "./listen/listen-row.ts";
import { MIGRATE_STORE } from "./migrate-store/migrate-store-row.ts";
import { RUNS_ROWS } from "./runs/runs-rows.ts";
import { SEND } from "./send/send-row.ts";
import { SERVICE_ROWS } from "./service/service-rows.ts";
import { WEBHOOKS_ROWS } from "./webhooks/webhooks-rows.ts";

export const GROUPS: readonly CommandGroup[] = [
  { word: "events", sentence: "Finds events, and watches them come in." },
  { word: "runs", sentence: "Runs of functions: finds, watches, cancels and repeats them." },
  { word: "apps", sentence: "Apps whose functions the service calls: lists, syncs and removes them." },
  { word: "functions", sentence: "Functions that apps have registered." },
  { word: "env", sentence: "Environments: lists, creates and archives them." },
  { word: "keys", sentence: "Event, API and signing keys: lists, creates and revokes them." },
  { word: "webhooks", sentence: "Keeps webhooks as files: a folder with a transform, settings and fixtures for each." },
];

export const ROWS: readonly CommandRow[] = [
  ...SERVICE_ROWS,
  SEND,
  ...EVENTS_ROWS,
  ...RUNS_ROWS,
  ...APPS_ROWS,
  ...ENVIRONMENTS_ROWS,
  ...KEYS_ROWS,
  ...WEBHOOKS_ROWS,
  LISTEN,
  DOCTOR,
  MIGRATE_STORE,
  COMPLETION,
];
