/** Opens a database for this node: its connections, the schema of this program, the node's registration, and the secrets. */

import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { StoreRefused, StoreUnavailable } from "../../contract/index.ts";
import { openKeyHash } from "../../secrets/postgres/key-hash.ts";
import { openSecretBox } from "../../secrets/postgres/reseal.ts";
import type { StoreHashes } from "../../secrets/rows/key-hash.ts";
import type { SecretBox } from "../../secrets/rows/secret-box.ts";
import { type Database, type DatabaseOptions, PostgresDatabase } from "../database.ts";
import { migrate, SCHEMA_FOLDER, schemaKnown } from "../schema/migrate.ts";
import { Heartbeat } from "./nodes.ts";
import { Notifications } from "./notifications.ts";

export interface NodeOptions extends Pick<DatabaseOptions, "url" | "timeoutMs" | "onFault" | "onRecovery" | "now"> {
  /** The name of this node; absent: a new one. */
  node?: string;
  connectionsMax?: number;
  /** How often this node polls for what no notification announced. */
  pollIntervalMs?: number;
  /** The URL for LISTEN, if it differs: a transaction-pooling proxy does not support it. "off": no LISTEN. */
  listenUrl?: string;
  /** The keys that encrypt secrets: the first encrypts, all decrypt. Without one, a key is stored in the database. */
  encryptionKeys?: readonly string[];
  /** Version of this program, shown to people. */
  version?: string;
  /** The database is that of --database-url: one that was added to an installation is refused. */
  isDirectory?: boolean;
  /** The schema that this program knows; set only to test two releases side by side. */
  schemaFolder?: URL;
}

export const CONNECTIONS_MAX = 10;

export interface OpenNode {
  node: string;
  database: Database;
  notifications: Notifications;
  heartbeat: Heartbeat;
  box: SecretBox;
  hashes: StoreHashes;
  close(): Promise<void>;
}

/** Throws StoreRefused if the database must not be used, or cannot be reached. */
export async function openNode(options: NodeOptions): Promise<OpenNode> {
  const { connectionsMax = CONNECTIONS_MAX, pollIntervalMs = 5_000, listenUrl = options.url } = options;
  const { version = "unknown", schemaFolder = SCHEMA_FOLDER, encryptionKeys = [] } = options;
  const database = new PostgresDatabase({ ...options, connectionsMax, listenUrl: listenUrl === "off" ? null : listenUrl });
  const node = options.node ?? `${hostname().replace(/\s/g, "-")}-${process.pid}-${randomBytes(4).toString("hex")}`;
  const notifications = new Notifications(database, node, pollIntervalMs);
  const heartbeat = new Heartbeat(database, { node, version, schemaKnown: schemaKnown(schemaFolder) });
  async function close(): Promise<void> {
    await notifications.stop();
    await heartbeat.stop();
    await database.stop();
  }
  try {
    await migrate(database, schemaFolder);
    await heartbeat.start(options.isDirectory ?? false);
    const [secrets] = await Promise.all([openSecrets(database, encryptionKeys), database.readClock(), notifications.start()]);
    return { node, database, notifications, heartbeat, ...secrets, close };
  } catch (error) {
    await close();
    if (!(error instanceof StoreUnavailable)) throw error;
    throw new StoreRefused(`the database cannot be used: ${error.message}. See --database-url.`, error);
  }
}

async function openSecrets(database: Database, encryptionKeys: readonly string[]): Promise<Pick<OpenNode, "box" | "hashes">> {
  const box = await openSecretBox(database, encryptionKeys);
  return { box, hashes: await openKeyHash(database, box) };
}
