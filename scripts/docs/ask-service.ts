/** Starts a service for the time of a question. References are generated from what it answers. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { readConfig } from "../../packages/server/src/config/config.ts";
import { startService } from "../../packages/server/src/service.ts";

const API_KEY = "for-the-references";

export async function askService<Answer>(flags: string[], ask: (url: string, apiKey: string) => Promise<Answer>): Promise<Answer> {
  const folder = mkdtempSync(join(tmpdir(), "inlet-docs-"));
  const own = ["--port", "0", "--host", "127.0.0.1", "--data-dir", folder, "--api-key", API_KEY];
  const service = await startService(readConfig("start", [...own, ...flags], {}), { log: pino({ level: "silent" }) });
  try {
    return await ask(service.url, API_KEY);
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true });
  }
}
