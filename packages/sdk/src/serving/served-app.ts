/** What one endpoint serves: a client and its functions, by the names that the service uses. */

import type { Client } from "../client/client.ts";
import type { Settings } from "../client/settings.ts";
import { failureFunction, fullId, type InletFunction } from "../functions/inlet-function.ts";

export interface ServeOptions {
  client: Client;
  // biome-ignore lint/suspicious/noExplicitAny: functions of any result and data
  functions: readonly InletFunction<any, any>[];
  /** The path at which the service reaches this endpoint, if it differs from that of the request. */
  servePath?: string | undefined;
  /** Scheme and host at which the service reaches this endpoint, such as https://shop.example. */
  serveOrigin?: string | undefined;
}

export interface ServedApp {
  client: Client;
  settings: Settings;
  functions: readonly InletFunction[];
  /** By full id; an onFailure counts as a function. */
  byId: ReadonlyMap<string, InletFunction>;
  framework: string;
  servePath: string | undefined;
  serveOrigin: string | undefined;
}

export function createServedApp({ client, functions, servePath, serveOrigin }: ServeOptions, framework: string): ServedApp {
  const byId = new Map<string, InletFunction>();
  for (const [at, fn] of functions.entries()) {
    if (typeof fn?.handler !== "function")
      throw new TypeError(
        `functions[${at}] is not a function of createFunction: it is ${fn === undefined ? "undefined. Is it exported?" : typeof fn}`,
      );
    for (const each of [fn, failureFunction(fn)]) {
      if (!each) continue;
      // The serving app determines the name, even if the function was created with another client.
      const id = fullId({ id: each.id, client });
      if (byId.has(id)) throw new TypeError(`Two functions have the id "${each.id}"`);
      byId.set(id, each);
    }
  }
  if (serveOrigin !== undefined && !URL.canParse(serveOrigin)) throw new TypeError(`serveOrigin is not an address: "${serveOrigin}"`);
  return { client, settings: client.settings, functions, byId, framework, servePath, serveOrigin };
}
