/** Apps and senders choose names, payloads, errors and answers. None of their control characters reaches the terminal. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test as testOnce } from "node:test";
import { test } from "../../server/test/support/both-stores.ts";
import { onEnd } from "../../server/test/support/on-end.ts";
import { runOf } from "./support/run-of.ts";
import { startSmallApp } from "./support/small-app.ts";
import { EVENT_KEY, startDev, startServer, workingFolder } from "./support/working-folder.ts";

/** Clears the screen, sets the title, moves up: with ESC, and with the single characters of C1. */
const EVIL = "\u001b[2J\u001b]0;owned\u0007\u009b2J\u009d0;owned\u009c\u0008\r\u007f";
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are matched on purpose
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

testOnce("the output, the error and the calls of runs are shown without control characters", async (t) => {
  const url = await startDev(t);
  const app = await startSmallApp(t, url, {
    good: () => ({ status: 200, body: { [EVIL]: [EVIL] } }),
    text: () => ({ status: 200, body: EVIL }),
    bad: () => ({ status: 500, body: { name: EVIL, message: `first\n${EVIL}`, stack: `${EVIL}\n  at ${EVIL}` } }),
    step: () => ({ status: 206, body: [{ id: "a".repeat(40), op: "Sleep", name: "1h", displayName: EVIL, opts: {} }] }),
  });
  const place = workingFolder(t, { INLET_BASE_URL: url });
  await place.inlet(["apps", "sync", app.url]);
  const states = { good: "completed", text: "completed", bad: "failed", step: "sleeping" };
  await place.inlet(
    ["send"],
    Object.keys(states)
      .map((id) => JSON.stringify({ name: `app/${id}`, data: {} }))
      .join("\n"),
  );
  for (const [id, status] of Object.entries(states)) {
    const run = await runOf(place, `small-${id}`, status);
    const commands = [
      ["runs", "get", run],
      ["runs", "get", run, "--json"],
      ["runs", "list", "--function", `small-${id}`],
      ...(status === "sleeping" ? [] : [["runs", "watch", run]]),
    ];
    for (const argv of commands) {
      const { stdout, stderr } = await place.inlet(argv);
      assert.notEqual(stdout, "", `${argv}: ${stderr}`);
      if (argv[1] === "get") assert.match(stdout, /owned/, "the rest of it is shown");
      for (const text of [stdout, stderr]) assert.doesNotMatch(text, CONTROLS, JSON.stringify([argv, text]));
    }
  }
  const { output } = JSON.parse((await place.inlet(["runs", "get", await runOf(place, "small-text", "completed"), "--json"])).stdout);
  assert.equal(output, EVIL, "a script gets the value itself");
});

test("events, runs and apps with control characters in everything are shown without them", async (t) => {
  const server = await startServer(t);
  const place = workingFolder(t, server.variables);
  const evil = createServer((_request, response) => {
    const body = JSON.stringify({ message: EVIL, error: EVIL }).replace(/\\u00(9.)/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(`00${hex}`, 16)),
    );
    response.writeHead(500, { "content-type": "text/plain" }).end(`${EVIL} ${body}`);
  });
  await new Promise<void>((resolve) => evil.listen(0, "127.0.0.1", resolve));
  onEnd(t, () => void evil.close().closeAllConnections());
  const app = `http://127.0.0.1:${(evil.address() as AddressInfo).port}/api/inlet`;

  // JSON escapes ESC and the others of C0, but not those of C1.
  const sent = await fetch(`${server.url}/e/${EVENT_KEY}`, {
    method: "POST",
    body: JSON.stringify({ name: "shop/order", id: EVIL, data: { EVIL } }),
  });
  const { ids } = (await sent.json()) as { ids: string[] };
  const [id = ""] = ids;
  const commands = [
    ["events", "list"],
    ["events", "get", id],
    ["events", "get", id, "--json"],
    ["events", "list", "--json"],
    ["runs", "get", EVIL],
    ["apps", "sync", app],
    ["doctor", "--app", app],
    ["doctor", "--app", app, "--json"],
    ["events", "get", EVIL],
    [EVIL],
    ["keys", "create", "--kind", "api", EVIL],
  ];
  for (const argv of commands) {
    const { stdout, stderr } = await place.inlet(argv.map((word) => word.replaceAll("\u0000", "")));
    assert.ok(stdout + stderr !== "", argv.join(" "));
    for (const text of [stdout, stderr]) assert.doesNotMatch(text, CONTROLS, JSON.stringify([argv, text]));
  }
  const shown = JSON.parse((await place.inlet(["events", "get", id, "--json"])).stdout);
  assert.equal((shown.data ?? shown).data?.EVIL ?? shown.data.EVIL, EVIL, "a script gets the value itself");
  const tail = place.start("events", "tail", "--since", "1h");
  await tail.printed(/owned/);
  assert.doesNotMatch(tail.stdout() + tail.stderr(), CONTROLS);
});
