/** Lists the apps that registered with a signing key of every environment, in all environments that the API key can see. */

import type { App } from "../apps/apps-commands.ts";
import { CommandFault } from "../command-line/command-fault.ts";
import { type Connection, createRestClient } from "../rest/rest-client.ts";
import { type Finding, note } from "./finding.ts";

const MOVE = 'To move it, create a key with "inlet keys create NAME --kind signing --env';

export async function checkSigningKeys(connection: Connection): Promise<Finding[]> {
  const list = async <Item>(env: string | null, path: string) =>
    (await createRestClient({ ...connection, env }).list<Item>({ path })).items;
  try {
    const environments = await list<{ name: string; kind: string }>(null, "/environments");
    const found: Finding[] = [];
    for (const { name, kind } of environments) {
      for (const { name: app, signingKey } of await list<App>(name, "/apps")) {
        if (signingKey?.environment !== null) continue;
        const scope = kind === "branch" ? "branch" : name;
        const text = `uses the signing key ${signingKey.name} (${signingKey.id}), which is valid in every environment. ${MOVE} ${scope}", and deploy the app with it.`;
        found.push(note(`app ${app} of ${name}`, text));
      }
    }
    return found;
  } catch (error) {
    // What the API key cannot see was reported with the other checks.
    if (!(error instanceof CommandFault)) throw error;
    return [];
  }
}
