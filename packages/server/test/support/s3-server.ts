/** An S3 server from npm that checks signatures, with one bucket, in a folder and on a port of its own. */

import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

interface S3rver {
  run(): Promise<{ port: number }>;
  close(): Promise<void>;
}

export const BUCKET = "kept-here";

/** Returns the variables that lead to it. */
export async function startS3(t: TestContext): Promise<Record<string, string>> {
  const directory = await mkdtemp(join(tmpdir(), "inlet-s3-"));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const Server = createRequire(import.meta.url)("@20minutes/s3rver") as new (options: object) => S3rver;
  const server = new Server({ port: 0, address: "127.0.0.1", silent: true, directory, configureBuckets: [{ name: BUCKET }] });
  const { port } = await server.run();
  t.after(() => server.close());
  return { AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${port}`, AWS_ACCESS_KEY_ID: "S3RVER", AWS_SECRET_ACCESS_KEY: "S3RVER" };
}
