/** The command table of `inlet`. */

import { APPROVALS_ROWS } from "./approvals/approvals-rows.ts";
import { APPS_ROWS } from "./apps/apps-rows.ts";
import { BACKUP_ROWS } from "./backup/backup-rows.ts";
import type { CommandGroup, CommandRow } from "./command-line/command-row.ts";
import { COMPLETION } from "./completion/completion-row.ts";
import { DATABASES_ROWS } from "./databases/databases-rows.ts";
import { DOCTOR } from "./doctor/doctor-row.ts";
import { ENVIRONMENTS_ROWS } from "./environments/environments-rows.ts";
import { EVENTS_ROWS } from "./events/events-rows.ts";
import { FILES_ROWS } from "./files/files-rows.ts";
import { JOBS_ROWS } from "./jobs/jobs-rows.ts";
import { KEYS_ROWS } from "./keys/keys-rows.ts";
import { LISTEN } from "./listen/listen-row.ts";
import { MCP } from "./mcp/mcp-row.ts";
import { MIGRATE_STORE } from "./migrate-store/migrate-store-row.ts";
import { RUNS_ROWS } from "./runs/runs-rows.ts";
import { SEND } from "./send/send-row.ts";
import { SERVICE_ROWS } from "./service/service-rows.ts";
import { TYPES_ROWS } from "./types/types-rows.ts";
import { VERSION } from "./version/version-row.ts";
import { WEBHOOKS_ROWS } from "./webhooks/webhooks-rows.ts";

export const GROUPS: readonly CommandGroup[] = [
  { word: "events", sentence: "List, show and follow events." },
  { word: "runs", sentence: "List, show, watch, cancel, rerun and release runs." },
  { word: "approvals", sentence: "List and decide approvals that runs wait for." },
  { word: "jobs", sentence: "List, show, watch and cancel jobs. A job processes many runs, events or requests." },
  { word: "apps", sentence: "List, sync, check and remove apps." },
  { word: "functions", sentence: "List, pause, resume and limit functions." },
  { word: "env", sentence: "List, create, move and archive environments, and set their quotas." },
  { word: "databases", sentence: "List and add the databases that hold environments." },
  { word: "keys", sentence: "List, create and revoke event, API and signing keys." },
  { word: "webhooks", sentence: "Manage webhooks as files: a folder with a transform, settings and fixtures for each." },
];

export const ROWS: readonly CommandRow[] = [
  ...SERVICE_ROWS,
  SEND,
  ...EVENTS_ROWS,
  ...RUNS_ROWS,
  ...APPROVALS_ROWS,
  ...JOBS_ROWS,
  ...APPS_ROWS,
  ...ENVIRONMENTS_ROWS,
  ...DATABASES_ROWS,
  ...KEYS_ROWS,
  ...WEBHOOKS_ROWS,
  ...FILES_ROWS,
  ...TYPES_ROWS,
  LISTEN,
  MCP,
  DOCTOR,
  ...BACKUP_ROWS,
  MIGRATE_STORE,
  COMPLETION,
  VERSION,
];
