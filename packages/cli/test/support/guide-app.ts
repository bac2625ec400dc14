/** Runs the app of a guide, in a process of its own, as `node app.ts` runs it; on any free port. */

import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { onEnd } from "../../../server/test/support/on-end.ts";
import { BARE_ENVIRONMENT } from "../../../server/test/support/process.ts";

const NODE_MODULES = fileURLToPath(new URL("../../../../node_modules", import.meta.url));
const LISTEN = ".listen(3000)";
const LISTEN_ANYWHERE = '.listen(0, "127.0.0.1", function () { console.log("port " + this.address().port); })';

/** The address of the app, which knows its service by the variables. */
export async function startGuideApp(t: TestContext, folder: string, code: string, variables: Record<string, string>): Promise<string> {
  if (!code.includes(LISTEN)) throw new Error("the app does not listen on port 3000");
  mkdirSync(folder, { recursive: true });
  symlinkSync(NODE_MODULES, join(folder, "node_modules"), "junction");
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(join(folder, "app.ts"), code.replace(LISTEN, LISTEN_ANYWHERE));
  const child = spawn(process.execPath, ["app.ts"], { cwd: folder, env: { ...BARE_ENVIRONMENT, ...variables } });
  onEnd(t, () => child.kill("SIGKILL"));
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (printed += chunk));
  const port = await new Promise<string>((resolve, reject) => {
    child.stdout.on("data", () => {
      const [, found] = /^port (\d+)$/m.exec(printed) ?? [];
      if (found) resolve(found);
    });
    child.once("exit", () => reject(new Error(`the app ended: ${printed}`)));
  });
  return `http://127.0.0.1:${port}/`;
}
