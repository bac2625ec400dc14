/** The text of the reference pages that are made from the code. */

import { ERRORS, type ErrorKind } from "@inlet/protocol";
import { settingsMarkdown } from "@inlet/server";
import { cliMarkdown } from "../packages/cli/src/command-line/reference.ts";
import { GROUPS, ROWS } from "../packages/cli/src/commands.ts";
import { restReference } from "./rest-reference.ts";

const MADE = "<!-- Made from the code by `npm run docs`; change it there. -->";

const configuration = `${MADE}

# Configuration

Every setting is a flag of \`inlet dev\` and \`inlet start\` and a variable; the flag wins. A flag that takes a list may be
given several times. Durations are written \`250ms\`, \`30s\`, \`5m\`, \`24h\` or \`7d\`; sizes \`512kb\`, \`4mb\` or \`1gb\`, in
steps of 1024.

${settingsMarkdown()}
`;

const errors = `${MADE}

# Errors

Every error of the service has one shape:

\`\`\`json
{ "error": "a sentence a person understands", "code": "a stable code", "status": 400 }
\`\`\`

\`details\` is added where single fields are at fault: \`[{ "index": 1, "field": "name", "message": "…" }]\`, with \`index\` where
the request carried several events. A *retryable* error may pass when the same request is sent again, after the seconds in
\`Retry-After\`; a *terminal* one will not. What the HTTP parser itself refuses (a malformed request, 408, 431) is answered
without a body.

| code | status | | meaning |
|---|---|---|---|
${(Object.entries(ERRORS) as [string, ErrorKind][]).map(([code, { status, retry, meaning }]) => `| \`${code}\` | ${status} | ${retry} | ${meaning} |`).join("\n")}
`;

export const REFERENCES: Readonly<Record<string, string>> = {
  "configuration.md": configuration,
  "errors.md": errors,
  "rest-api.md": await restReference(MADE),
  "cli.md": `${MADE}\n\n${cliMarkdown(ROWS, GROUPS)}`,
};
