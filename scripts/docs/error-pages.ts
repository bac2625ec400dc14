/** The table of errors in docs/reference/errors.md, and the page of each code in docs/errors/, generated from the catalogue of errors. */

import { ERRORS, type ErrorCode } from "@inlet/protocol";
import { ERROR_ADVICE } from "./error-advice.ts";

const CODES = Object.keys(ERRORS) as ErrorCode[];

const RETRY = {
  terminal: "no: the same request is refused again",
  retryable: "yes: the same request can succeed later, after the seconds in `Retry-After`",
} as const;

export function errorTable(): string {
  const rows = CODES.map((code) => {
    const { status, retry, meaning } = ERRORS[code];
    return `| [\`${code}\`](../errors/${code}.md) | ${status} | ${retry} | ${meaning} |`;
  });
  return ["| code | status | retry | meaning |", "|---|---|---|---|", ...rows].join("\n");
}

/** File names below docs/, with the text of each page. */
export function errorPages(generated: string): Record<string, string> {
  return Object.fromEntries(CODES.map((code) => [`errors/${code}.md`, errorPage(generated, code)]));
}

function errorPage(generated: string, code: ErrorCode): string {
  const { status, retry, meaning } = ERRORS[code];
  return `${generated}

# ${code}

${meaning}

| status | retry |
|---|---|
| ${status} | ${RETRY[retry]} |

## What to do

${ERROR_ADVICE[code]}

[All errors](../reference/errors.md)
`;
}
