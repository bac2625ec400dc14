/** Discovers apps on this machine, at the usual ports and paths of frameworks, so that a developer need not configure anything. */

import { connect } from "node:net";

/** The description of `--discover` lists both. */
export const PORTS = [...range(3000, 3010), 4000, 4321, 5000, 5173, 8000, 8080, 8081, 8787, 8888, ...range(8910, 8915)];
export const PATHS = ["/api/inlet", "/api/inngest", "/x/inngest", "/.netlify/functions/inngest", "/.redwood/functions/inngest"];
/** How long a port and an app may take to respond. Whatever responds later is found by the next search. */
const TIMEOUTS = { connectMs: 200, askMs: 1_000 };
const SDK_HEADERS = ["x-service-sdk", "x-inngest-sdk"];

/** What is known of a URL: an app that answered when it was last asked, one that did not, or null. */
export type KnownAs = (url: string) => "answers" | "fails" | null;

/** The URLs of apps found, except for known ones and the service itself. */
export async function findLocalApps(
  knownAs: KnownAs,
  ownPort: number,
  ports: readonly number[] = PORTS,
  { connectMs, askMs } = TIMEOUTS,
): Promise<string[]> {
  const open = await Promise.all(
    ports.filter((port) => port !== ownPort).map(async (port) => ((await isOpen(port, connectMs)) ? [port] : [])),
  );
  const found = await Promise.all(open.flat().map((port) => findAt(port, knownAs, askMs)));
  return found.flat();
}

/** The first path at which an SDK responds. A known app that answers is not disturbed; in place of one that is gone, another may serve. */
async function findAt(port: number, knownAs: KnownAs, askMs: number): Promise<string[]> {
  const urls = PATHS.map((path) => `http://localhost:${port}${path}`);
  if (urls.some((url) => knownAs(url) === "answers")) return [];
  for (const url of urls) if (knownAs(url) === null && (await isServed(url, askMs))) return [url];
  return [];
}

function isOpen(port: number, timeout: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "localhost", timeout });
    const settle = (open: boolean) => {
      socket.destroy();
      resolve(open);
    };
    socket.once("connect", () => settle(true));
    socket.once("timeout", () => settle(false));
    socket.once("error", () => settle(false));
  });
}

async function isServed(url: string, timeoutMs: number): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs), redirect: "manual" });
    await response.body?.cancel();
    return SDK_HEADERS.some((name) => response.headers.has(name));
  } catch {
    return false;
  }
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}
