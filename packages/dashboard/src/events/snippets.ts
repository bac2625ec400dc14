/** An event as a curl command or as SDK code, ready to paste. */

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

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
