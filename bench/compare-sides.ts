/** The two sides of a comparison: starts the programs of both, and measures them in turn. */

import { join } from "node:path";
import type { Rounds } from "./compare-table.ts";
import { type Sdk, SIGNING_KEY, sync } from "./drive-runs.ts";
import { type Server, startApp, startInlet } from "./processes.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

export interface Pair<Item> {
  old: Item;
  new: Item;
}

/** A service and the app whose functions it runs. */
export interface Side {
  inlet: Server;
  app: Server;
}

const SIDES = ["old", "new"] as const;

/** Old and new take turns, and change places with every round: neither always comes second. */
export async function inTurn<Measured, Result>(
  rounds: number,
  sides: Pair<Measured>,
  measureSide: (side: Measured) => Promise<Result>,
  measureBare?: () => Promise<number>,
): Promise<Rounds<Result>> {
  const done: Rounds<Result> = { old: [], new: [], bare: [] };
  for (let round = 0; round < rounds; round++) {
    for (const which of round % 2 === 0 ? SIDES : SIDES.toReversed()) done[which].push(await measureSide(sides[which]));
    if (measureBare) done.bare.push(await measureBare());
  }
  return done;
}

type FlagsOf = (folder: string) => Promise<string[]>;

/** The store in the data folder needs no flags. */
export async function embedded(): Promise<string[]> {
  return [];
}

export async function withApps<Result>(
  programs: Pair<string>,
  flagsOf: FlagsOf,
  sdk: Sdk,
  work: (sides: Pair<Side>) => Promise<Result>,
): Promise<Result> {
  const flags = async (folder: string) => ["--signing-key", SIGNING_KEY, ...(await flagsOf(folder))];
  return withServers(programs, flags, async (servers) => {
    const apps: Server[] = [];
    const sideOf = async (inlet: Server): Promise<Side> => {
      const app = await startApp(sdk, inlet.url, SIGNING_KEY);
      apps.push(app);
      await sync(inlet, app);
      return { inlet, app };
    };
    try {
      return await work({ old: await sideOf(servers.old), new: await sideOf(servers.new) });
    } finally {
      for (const app of apps) await app.stop();
    }
  });
}

export async function withServers<Result>(
  programs: Pair<string>,
  flagsOf: FlagsOf,
  work: (servers: Pair<Server>) => Promise<Result>,
): Promise<Result> {
  return inTemporaryFolder(async (folder) => {
    const servers: Server[] = [];
    const startSide = async (which: keyof Pair<string>): Promise<Server> => {
      const dataDir = join(folder, which);
      const server = await startInlet(dataDir, await flagsOf(dataDir), programs[which]);
      servers.push(server);
      return server;
    };
    try {
      return await work({ old: await startSide("old"), new: await startSide("new") });
    } finally {
      for (const server of servers) await server.stop();
    }
  });
}
