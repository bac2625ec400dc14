/** The pages about PostgreSQL: their hosts are databases of a server from npm, and their replica is a standby of it. */

import assert from "node:assert/strict";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { FollowedPage, Following } from "./follow-page.ts";

export const DATABASE_PAGES: readonly FollowedPage[] = [
  {
    page: "docs/explanation/scaling.md",
    service: "none",
    async open(following) {
      const { database } = await openPostgres(following);
      const [first, second] = [await database(), await database()];
      following.replaced["postgres://inlet:secret@db.internal:5432/inlet"] = first;
      for (const host of ["pgbouncer:6432", "db:5432"]) following.replaced[`postgres://inlet@${host}/inlet`] = second;
    },
    before: {
      // What was stored without PostgreSQL moves into a database of its own.
      async "inlet migrate-store"(following) {
        await following.type("inlet start --discover off");
        await following.rest("POST", "/environments", { name: "staging", kind: "custom" });
        await following.endService();
        const { database } = await openPostgres(following);
        following.replaced["postgres://inlet:secret@db.internal:5432/inlet"] = await database();
      },
    },
  },
  {
    page: "docs/how-to/several-databases.md",
    service: "none",
    async open(following) {
      const { database } = await openPostgres(following);
      following.replaced["postgres://inlet:secret@db-eu.internal:5432/inlet"] = await database();
      following.variables.INLET_DATABASE_URL = await database();
      await following.type("inlet start --discover off");
    },
    before: { "inlet env move": async ({ type }) => void (await type("inlet env move payments --to directory")) },
    // The command before it has added the database.
    expected: { "curl -X POST localhost:8288/v1/databases": { codes: [22], output: /database_(?:exists|taken)/ } },
    async check({ rest }) {
      const databases: { name: string; environments: string[] }[] = await rest("GET", "/databases");
      assert.deepEqual(databases.find(({ name }) => name === "eu")?.environments, ["payments"]);
    },
  },
  {
    page: "docs/how-to/read-replica.md",
    service: "none",
    async open(following) {
      const { server, database } = await openPostgres(following);
      const { startStandby } = await import("../../../packages/server/test/support/postgres-standby.ts");
      const url = await database();
      const standby = await startStandby(server);
      following.atEnd.push(standby.remove);
      following.replaced["postgres://inlet:secret@db.internal:5432/inlet"] = url;
      following.replaced["postgres://inlet:secret@db-read.internal:5432/inlet"] = addressOf(standby.url, new URL(url).pathname);
    },
    check: async ({ type }) => assert.match(await type("inlet doctor --url http://localhost:8288"), /replica/),
  },
  {
    page: "docs/how-to/archive.md",
    service: "none",
    async open(following) {
      const { cwd, replaced, variables } = following;
      const { database } = await openPostgres(following);
      const { BUCKET, startS3 } = await import("../../../packages/server/test/support/s3-server.ts");
      const storage = await startS3({ after: (end: () => unknown) => void following.atEnd.push(end) } as unknown as TestContext);
      replaced["postgres://inlet@localhost/inlet"] = await database();
      replaced["/var/lib/inlet-archive"] = join(cwd, "archive");
      replaced["s3://bucket/"] = `s3://${BUCKET}/`;
      replaced["AWS_ACCESS_KEY_ID=…"] = `AWS_ACCESS_KEY_ID=${storage.AWS_ACCESS_KEY_ID}`;
      replaced["AWS_SECRET_ACCESS_KEY=…"] = `AWS_SECRET_ACCESS_KEY=${storage.AWS_SECRET_ACCESS_KEY}`;
      replaced["https://minio.example.com"] = storage.AWS_ENDPOINT_URL_S3 ?? "";
      variables.INLET_DISCOVER = "off";
    },
  },
];

/** A server that is removed when the page has been followed, and new databases on it. */
async function openPostgres({ atEnd }: Following) {
  const { inDatabase, startPostgres } = await import("../../../packages/server/test/support/postgres-server.ts");
  const server = await startPostgres({ fsync: false });
  atEnd.push(server.remove);
  let made = 0;
  const database = async () => {
    const name = `inlet_${made++}`;
    await inDatabase(server.url, (client) => client.query(`CREATE DATABASE ${name}`));
    return addressOf(server.url, `/${name}`);
  };
  return { server, database };
}

function addressOf(server: string, pathname: string): string {
  const address = new URL(server);
  address.pathname = pathname;
  return address.href;
}
