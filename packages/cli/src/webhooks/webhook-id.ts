/** The webhook that an operand means. */

import { CommandFault } from "../command-line/command-fault.ts";
import type { RestClient } from "../rest/rest-client.ts";

/** A webhook may be named instead of given by its id. */
export async function webhookId(rest: RestClient, given: string): Promise<string> {
  if (given.startsWith("wh_")) return given;
  const { items } = await rest.list<{ id: string; name: string }>({ path: "/webhooks" });
  const found = items.filter(({ name }) => name.toLowerCase() === given.toLowerCase());
  const [only] = found;
  if (only && found.length === 1) return only.id;
  if (only) throw new CommandFault(`${found.length} webhooks are named "${given}". Use an id: ${found.map(({ id }) => id).join(", ")}.`);
  throw new CommandFault(`The environment has no webhook "${given}". "inlet webhooks list" shows the webhooks there are.`);
}
