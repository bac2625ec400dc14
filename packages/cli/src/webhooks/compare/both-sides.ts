/** Reads the folder, and the server's webhooks in the same environments. */

import { CommandFault } from "../../command-line/command-fault.ts";
import type { Entry } from "../folder/entry.ts";
import type { WebhooksClient } from "../webhooks-client.ts";
import type { ServerList } from "./server-webhook.ts";

/** An entry without an environment belongs to the one of the command. */
export function inEnvironment(entries: readonly Entry[], { env }: { env: string | null }): Entry[] {
  return entries.map((entry) => ({ ...entry, environment: entry.environment ?? env }));
}

/** One request per environment. */
export async function readServer(client: WebhooksClient, environments: readonly (string | null)[]): Promise<ServerList[]> {
  const lists: ServerList[] = [];
  for (const environment of new Set(environments)) lists.push({ environment, webhooks: await client.list(environment) });
  return lists;
}

/** An empty folder is more likely a mistake than a request to delete everything. */
export function refuseToPruneAll(entries: readonly Entry[], { prune, dir }: { prune: boolean; dir: string }): void {
  if (prune && entries.length === 0) throw new CommandFault(`${dir} has no webhooks: --prune would delete every webhook of the server.`);
}
