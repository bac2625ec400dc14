/** Where the machine stands changes nothing about schedules: the tests of crons.test.ts hold in every time zone. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const CRONS_TEST = fileURLToPath(new URL("./crons.test.ts", import.meta.url));
/** West and east of UTC, half an hour off, and beyond the date line; the first two change their clocks. */
const ZONES = ["America/New_York", "Europe/Berlin", "Asia/Kolkata", "Pacific/Kiritimati"];

for (const zone of ZONES) {
  test(`a machine in ${zone}`, async () => {
    // A test that knows it is part of another one reports to that one.
    const { NODE_TEST_CONTEXT: _, ...variables } = process.env;
    const options = { env: { ...variables, TZ: zone }, timeout: 60_000 };
    const { stdout } = await promisify(execFile)(process.execPath, ["--test-reporter=tap", CRONS_TEST], options);
    assert.match(stdout, /^# pass [1-9]/m);
    assert.match(stdout, /^# fail 0$/m);
  });
}
