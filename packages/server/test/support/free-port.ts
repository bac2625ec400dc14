/**
 * A port that nobody listens at, for whoever has to know its port before it listens, or listens there again. It is below the range from
 * which systems choose ports (32768 and up on Linux, 49152 on others): no connection and no listener that asks for any port takes it
 * meanwhile.
 */

import { randomInt } from "node:crypto";
import { createServer } from "node:net";

const LOWEST = 15_000;
const HIGHEST = 32_000;

export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
