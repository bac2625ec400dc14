import assert from "node:assert/strict";
import { test } from "node:test";
import { databaseUrlFault } from "./database-url.ts";

test("URLs of PostgreSQL are told from other texts, which are not repeated", () => {
  for (const url of [
    "postgres://inlet:p%40ss@db.example:5432/inlet?sslmode=require",
    "postgresql://db.example/inlet",
    "postgres://u@[::1]:5433/x",
    "postgres:///inlet?host=/var/run/postgresql",
  ])
    assert.equal(databaseUrlFault(url), null, url);
  for (const text of [
    "",
    "hunter2",
    "mysql://u:hunter2@h/x",
    "http://u:hunter2@h/x",
    "postgres:hunter2",
    "postgres://",
    "postgres:///x",
    "postgres://u:hunter2#@h/x",
    "postgres://u:hunter2%@h/x",
    "postgres://u:hunter2@h:99999/x",
    "u:hunter2@h/x",
  ]) {
    const fault = databaseUrlFault(text);
    assert.ok(fault, text);
    assert.doesNotMatch(fault, /hunter2/);
  }
});
