/** A standby of a PostgreSQL server of these tests: a copy of its data folder that follows it by streaming replication. */

import { randomBytes } from "node:crypto";
import { appendFile, chown, copyFile, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inDatabase, newPlace, type PostgresServer, serve } from "./postgres-server.ts";

/** Folders whose contents belong to the running server: the standby gets them from the stream, or makes them itself. */
const EMPTY = new Set(["pg_wal", "pg_replslot", "pg_stat_tmp", "pg_notify", "pg_dynshmem", "pg_subtrans", "pg_serial", "pg_snapshots"]);
const LEFT_OUT = new Set(["postmaster.pid", "postmaster.opts", "pg_internal.init"]);

/** The packages for tests have no pg_basebackup: this does what it does. */
export async function startStandby(primary: PostgresServer): Promise<PostgresServer> {
  const place = await newPlace();
  const slot = `standby_${randomBytes(4).toString("hex")}`;
  const owner = place.user.uid === undefined ? null : { uid: place.user.uid, gid: place.user.gid ?? place.user.uid };
  await inDatabase(primary.url, async (client) => {
    await client.query("SELECT pg_create_physical_replication_slot($1, true)", [slot]);
    await client.query("SELECT pg_backup_start($1, true)", [slot]);
    await copyFolder(primary.data, place.data, owner);
    const { rows } = await client.query<{ labelfile: string }>("SELECT labelfile FROM pg_backup_stop(false)");
    const { hostname, port, username } = new URL(primary.url);
    await writeFile(join(place.data, "backup_label"), rows[0]?.labelfile ?? "");
    await writeFile(join(place.data, "standby.signal"), "");
    const settings = [
      `primary_conninfo = 'host=${hostname} port=${port} user=${username}'`,
      `primary_slot_name = '${slot}'`,
      "hot_standby = on",
      "wal_retrieve_retry_interval = 100ms",
      // What stands in the way of the replay is cancelled at once.
      "max_standby_streaming_delay = 0",
    ];
    await appendFile(join(place.data, "postgresql.auto.conf"), `${settings.join("\n")}\n`);
    for (const name of ["backup_label", "standby.signal"]) if (owner) await chown(join(place.data, name), owner.uid, owner.gid);
  });
  return serve(place, false);
}

async function copyFolder(from: string, to: string, owner: { uid: number; gid: number } | null): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  if (owner) await chown(to, owner.uid, owner.gid);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (LEFT_OUT.has(entry.name)) continue;
    if (entry.isDirectory() && EMPTY.has(entry.name)) await makeEmpty(target, owner);
    else if (entry.isDirectory()) await copyFolder(source, target, owner);
    else await copyIfThere(source, target, owner);
  }
}

async function makeEmpty(folder: string, owner: { uid: number; gid: number } | null): Promise<void> {
  await mkdir(folder, { mode: 0o700 });
  if (owner) await chown(folder, owner.uid, owner.gid);
}

/** A running server removes files at any time; what it removed is made up for by the log. */
async function copyIfThere(source: string, target: string, owner: { uid: number; gid: number } | null): Promise<void> {
  try {
    await copyFile(source, target);
    if (owner) await chown(target, owner.uid, owner.gid);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
