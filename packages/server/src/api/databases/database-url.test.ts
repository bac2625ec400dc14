import assert from "node:assert/strict";
import { test } from "node:test";
import { databaseUrlFault, withOwnPassword } from "./database-url.ts";

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
    "socket:///hunter2?db=x",
    "file:///hunter2",
    "postgres://u:hunter2@h/x?sslrootcert=/etc/hunter2",
    "postgres://u:hunter2@h/x?sslmode=require&sslcert=/dev/zero&sslkey=/etc/hunter2",
    "postgres://u:hunter2@h/x?%73slkey=/etc/hunter2",
    "postgres://u@h/x?service=hunter2",
  ]) {
    const fault = databaseUrlFault(text);
    assert.ok(fault, text);
    assert.doesNotMatch(fault, /hunter2/);
  }
});

test("a URL without a password gets one, so that no other is looked for", () => {
  for (const url of ["postgres://u:p@h/x", "postgres://u@h/x?password=p"]) assert.equal(withOwnPassword(url), url);
  assert.equal(withOwnPassword("postgres://u@h/x"), "postgres://u@h/x?password=none");
  assert.equal(withOwnPassword("postgres:///x?host=/run&password="), "postgres:///x?host=%2Frun&password=none");
});
