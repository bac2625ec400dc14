/** `/health`: the process serves. `/ready`: it can also keep what it accepts. */

import { Refusal } from "@inlet/protocol";
import type { FastifyInstance } from "fastify";
import { sendRefusal } from "./rest-errors.ts";

/** A probe writes to the disk, so strangers asking often must not make it write often. */
const PROBE_EVERY_MS = 1_000;

export interface HealthParts {
  probe(): Promise<void>;
  isDraining(): boolean;
  now: () => number;
}

export function registerHealthRoutes(app: FastifyInstance, { probe, isDraining, now }: HealthParts): void {
  let last: { at: number; outcome: Promise<boolean> } | null = null;

  function isWritable(): Promise<boolean> {
    if (!last || now() - last.at >= PROBE_EVERY_MS) {
      const outcome = probe().then(
        () => true,
        () => false,
      );
      last = { at: now(), outcome };
    }
    return last.outcome;
  }

  app.get("/health", async () => ({ status: 200, message: "OK" }));
  app.get("/ready", async (_request, reply) => {
    if (isDraining()) return sendRefusal(reply, new Refusal("overloaded", "The service is stopping."));
    if (!(await isWritable())) return sendRefusal(reply, new Refusal("store_unavailable", "The store cannot be written right now."));
    return { status: 200, message: "OK" };
  });
}
