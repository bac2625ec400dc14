/** The archive that `--archive` names. What reads and writes it is loaded only if it is set. */

import type { Logger } from "pino";
import type { Archive } from "../archive/archive.ts";
import type { StorageVariables } from "../archive/targets/open-target.ts";
import type { Config } from "../config/config.ts";
import { compileWhere } from "../fan-out/where.ts";
import type { Store } from "../store/contract/index.ts";
import { StartRefused } from "./start-refused.ts";

export interface OpenArchiveParts {
  config: Pick<Config, "archive" | "databaseUrl">;
  store: Store;
  variables: StorageVariables;
  log: Logger;
  now(): number;
  stopping: AbortSignal;
}

/** Null: nothing is archived. */
export async function openArchive({ config, store, variables, now, ...parts }: OpenArchiveParts): Promise<Archive | null> {
  if (config.archive === null) return null;
  if (config.databaseUrl === null)
    throw new StartRefused("--archive needs --database-url: only PostgreSQL has partitions, which are archived before they are dropped");
  const [{ openTarget }, { DecoderProcess }, { ArchiveLease }, { Archive }] = await Promise.all([
    import("../archive/targets/open-target.ts"),
    import("../archive/files/decoder-process.ts"),
    import("../archive/archive-lease.ts"),
    import("../archive/archive.ts"),
  ]);
  try {
    const target = openTarget(config.archive, variables);
    const lease = new ArchiveLease({ store, now });
    return new Archive({ ...parts, target, decoder: new DecoderProcess(), lease, store, compileWhere });
  } catch (error) {
    throw new StartRefused((error as Error).message, error);
  }
}
