/** The flags of all commands that call a service. */

import type { Flags } from "./command-row.ts";

const ENVIRONMENT_NAME = /^[A-Za-z0-9._/-]{1,128}$/;

export function isEnvironmentName(name: string): boolean {
  return ENVIRONMENT_NAME.test(name);
}

export function urlFault(text: string): string | null {
  const url = URL.parse(text);
  if (!/^https?:$/.test(url?.protocol ?? "")) return `"${text}" is not a URL such as http://localhost:8288`;
  // The fetch standard refuses such a URL. It is not repeated, since it contains a password.
  return url?.username || url?.password ? "the URL must not contain a user name or password" : null;
}

export const CONNECTION_FLAGS = {
  url: {
    type: "string",
    placeholder: "url",
    variable: "INLET_BASE_URL",
    fallback: "http://localhost:8288",
    fault: urlFault,
    sentence: "URL of the service.",
  },
  "api-key": {
    type: "string",
    placeholder: "key",
    variable: "INLET_API_KEY",
    secret: true,
    // Sent in a header.
    fault: (key: string) => (/^[\x21-\x7e]+$/.test(key) ? null : "the API key contains invalid characters"),
    sentence: "API key; not needed for a dev server.",
  },
  env: {
    type: "string",
    placeholder: "name",
    variable: "INLET_ENV",
    fault: (name: string) => (isEnvironmentName(name) ? null : `"${name}" is not a valid environment name`),
    sentence: 'Environment; default: the server\'s default environment. "branch": the scope shared by all branches.',
  },
  json: { type: "boolean", sentence: "Print JSON instead of text." },
} as const satisfies Flags;
