import assert from "node:assert/strict";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { pino } from "pino";
import { logLine } from "./log-lines.ts";

function lineOf(write: (log: ReturnType<typeof pino>) => void): string {
  let line = "";
  write(pino({ base: null }, { write: (record) => (line = logLine(record)) }));
  return stripVTControlCharacters(line).replace(/^[\d:.]{12}/, "<time>");
}

test("a line has the time, the level, the message and what it is about", () => {
  const line = lineOf((log) => log.warn({ url: "http://localhost:3000", fault: "no response" }, "an app could not be synced"));
  assert.equal(line, "<time>  warning    an app could not be synced: url http://localhost:3000, fault no response\n");
  assert.equal(
    lineOf((log) => log.info("stopping")),
    "<time>  info       stopping\n",
  );
});

test("of an error its message is shown, without its stack", () => {
  const line = lineOf((log) => log.error({ err: new Error("out of reach") }, "a job failed"));
  assert.equal(line, "<time>  error      a job failed: out of reach\n");
});

test("nothing in it draws on the terminal", () => {
  assert.ok(
    !lineOf((log) => log.warn({ name: "\u001b[2J\nx" }, "odd"))
      .slice(0, -1)
      .includes("\n"),
  );
});
