/** An event as a curl command, as SDK code or as a test, ready to paste. */

import { formatJson, type JsonText } from "../api/json-text.ts";
import { SHARED } from "../shell/environment-names.ts";

export interface SendTarget {
  env: string;
  isDev: boolean;
  /** Whether it is the default environment, which needs no header. */
  isDefault: boolean;
}

export function curlCommand(event: JsonText, { env, isDev, isDefault }: SendTarget): string {
  const key = isDev ? "dev" : "$SERVICE_EVENT_KEY";
  const header = isDefault || env === SHARED ? "" : ` \\\n  -H 'x-service-env: ${env}'`;
  return `curl -X POST "${location.origin}/e/${key}"${header} \\\n  -H 'content-type: application/json' \\\n  -d ${shellQuoted(formatJson(event))}`;
}

const SDK_SETUP = `${["import { Inlet }", 'from "@inlet/sdk";'].join(" ")}

const inlet = new Inlet({ id: "my-app" }); // reads the event key from SERVICE_EVENT_KEY
`;

export function sdkCode(event: JsonText): string {
  return `${SDK_SETUP}\nawait inlet.send(${formatJson(event)});\n`;
}

const FIXTURE_SETUP = [
  'import assert from "node:assert/strict";',
  'import { test } from "node:test";',
  `${["import { runFunction }", 'from "@inlet/sdk/testing";'].join(" ")}`,
  'import { fn } from "./my-function.ts"; // the function under test',
].join("\n");

/** A test that runs a function with this event. */
export function fixtureCode(event: JsonText, name: string): string {
  const title = JSON.stringify(`it handles ${name}`);
  return `${FIXTURE_SETUP}

const event = ${formatJson(event)};

test(${title}, async () => {
  const { error } = await runFunction(fn, { event });
  assert.equal(error, undefined);
});
`;
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
