/** Every command of `inlet`, in the order people read about them. */

import type { CommandGroup, CommandRow } from "./command-line/command-row.ts";
import { SEND } from "./send/send-row.ts";
import { SERVICE_ROWS } from "./service/service-rows.ts";
import { WEBHOOKS_ROWS } from "./webhooks/webhooks-rows.ts";

export const GROUPS: readonly CommandGroup[] = [
  { word: "webhooks", sentence: "Keeps webhooks as files: a folder with a transform, settings and fixtures for each." },
];

export const ROWS: readonly CommandRow[] = [...SERVICE_ROWS, SEND, ...WEBHOOKS_ROWS];
