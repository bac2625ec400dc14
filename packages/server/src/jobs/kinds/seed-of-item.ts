/** The seed of the id of an event that an item of a job makes: work on the item that is repeated after a crash makes the same event. */

import { createHash } from "node:crypto";
import type { Job } from "../../store/contract/index.ts";

const ENTROPY_BYTES = 10;

export function seedOfItem({ id, createdAt }: Pick<Job, "id" | "createdAt">, item: string): string {
  const entropy = createHash("sha256").update(`${id} ${item}`).digest().subarray(0, ENTROPY_BYTES);
  return `${createdAt},${entropy.toString("base64")}`;
}
