/** An event as a command or as code, ready to paste. */

import { formatJson, type JsonText } from "../api/json-text.ts";
import { SHARED } from "../shell/environment-names.ts";

export interface SendingPlace {
  env: string;
  isDev: boolean;
  /** The environment a key of this service reaches without being told. */
  isDefault: boolean;
}

export function curlCommand(event: JsonText, { env, isDev, isDefault }: SendingPlace): string {
  const key = isDev ? "dev" : "$SERVICE_EVENT_KEY";
  const header = isDefault || env === SHARED ? "" : ` \\\n  -H 'x-service-env: ${env}'`;
  return `curl -X POST "${location.origin}/e/${key}"${header} \\\n  -H 'content-type: application/json' \\\n  -d ${shellQuoted(formatJson(event))}`;
}

const SDK_BEGINNING = `${["import { Inlet }", 'from "@inlet/sdk";'].join(" ")}

const inlet = new Inlet({ id: "my-app" }); // the key comes from SERVICE_EVENT_KEY
`;

export function sdkCode(event: JsonText): string {
  return `${SDK_BEGINNING}\nawait inlet.send(${formatJson(event)});\n`;
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
