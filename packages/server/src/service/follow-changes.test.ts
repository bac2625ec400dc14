import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import type { StoreTopic } from "../store/contract/index.ts";
import { ChangeFollower } from "./follow-changes.ts";

const log = pino({ enabled: false });

/** A store whose changes the test announces. */
function announced() {
  const listeners = new Set<(topic: StoreTopic) => void>();
  const storeWatch = (listener: (topic: StoreTopic) => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  return { store: { storeWatch }, announce: (topic: StoreTopic) => listeners.forEach((listener) => void listener(topic)) };
}

test("what another node changes is read again, each topic for itself, until the end", () => {
  const { store, announce } = announced();
  const read: StoreTopic[] = [];
  const changes = new ChangeFollower(store, log);
  for (const topic of ["directory", "registry"] as const) changes.follow(topic, { refresh: async () => void read.push(topic) });
  announce("registry");
  announce("directory");
  announce("catalogue");
  changes.stop();
  announce("registry");
  assert.deepEqual(read, ["registry", "directory"]);
});

test("a failed read harms nobody", () => {
  const { store, announce } = announced();
  const changes = new ChangeFollower(store, log);
  changes.follow("directory", { refresh: () => Promise.reject(new Error("the store is away")) });
  announce("directory");
  changes.stop();
});
