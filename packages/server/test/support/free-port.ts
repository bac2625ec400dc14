/**
 * A port that nobody listens at, for whoever has to know its port before it listens, or listens there again. It is below the range from
 * which systems choose ports (32768 and up on Linux, 49152 on others): no connection and no listener that asks for any port takes it
 * meanwhile. Nor does another process of the same run of tests: it is reserved by a folder of its name until this process ends.
 */

import { randomInt } from "node:crypto";
import { mkdirSync, rmdirSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const LOWEST = 15_000;
const HIGHEST = 32_000;

const reserved = new Set<string>();
process.once("exit", () => reserved.forEach(removeFolder));

export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST);
    if (isReserved(port) && (await isFree(port))) return port;
  }
}

/** False if another process, or this one, has it. */
function isReserved(port: number): boolean {
  const folder = join(tmpdir(), `inlet-port-${port}`);
  try {
    mkdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
  reserved.add(folder);
  return true;
}

/** The run of tests removes all of its folders when it ends, perhaps before this process does. */
function removeFolder(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // It is gone.
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
