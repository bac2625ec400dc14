import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { Principal } from "../access/principal.ts";
import { cutOffInvalid } from "./cut-off-streams.ts";

test("access is checked once at a time, however long the store takes, and what has lost it is cut", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const first = Promise.withResolvers<boolean>();
  let checks = 0;
  const principal = { isValid: () => (++checks === 1 ? first.promise : false) } as unknown as Principal;
  const cut = Promise.withResolvers<void>();
  const raw = Object.assign(new EventEmitter(), { headersSent: true, writableEnded: false, destroy: () => cut.resolve() });
  const watch = cutOffInvalid({ addHook: () => undefined } as unknown as FastifyInstance);
  watch(principal, { raw } as unknown as FastifyReply);
  for (let n = 0; n < 20; n++) t.mock.timers.tick(500);
  assert.equal(checks, 1);
  first.resolve(true);
  await new Promise(setImmediate);
  t.mock.timers.tick(500);
  await cut.promise;
  assert.equal(checks, 2);
});
