import assert from "node:assert/strict";
import { test } from "node:test";
import type { SessionId } from "@inlet/protocol";
import { pino } from "pino";
import type { Session } from "../store/contract/index.ts";
import { expireSessions } from "./expire-sessions.ts";

function sessionOf(id: string, group: string | null): Session {
  const person = { issuer: "https://id.example", subject: id, name: id, claims: { groups: [group ?? ""] } };
  const times = { createdAt: 0, lastSeenAt: 0, expiresAt: 100 };
  return { id: id as SessionId, hash: id, keyId: null, ...times, ip: "127.0.0.1", userAgent: null, ...(group !== null && { person }) };
}

test("sessions of people who have no role any more are removed, other sessions stay", async () => {
  const sessions = new Map(
    [sessionOf("jane", "ops"), sessionOf("joe", "staff"), sessionOf("link", null)].map((session) => [session.id, session]),
  );
  const sweepers = expireSessions({
    store: {
      sessionList: async () => [...sessions.values()],
      sessionDelete: async ({ id }) => {
        const session = sessions.get(id) ?? null;
        sessions.delete(id);
        return session;
      },
      sessionExpireMany: async () => 0,
    },
    hasRole: ({ claims }) => claims.groups?.includes("ops") === true,
    now: () => 1,
    log: pino({ level: "silent" }),
  });
  for (const sweeper of sweepers) await sweeper.sweep();
  assert.deepEqual([...sessions.keys()], ["jane", "link"]);
});
