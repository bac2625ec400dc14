/**
 * The page of an approval: plain HTML without a script, for a phone too, light or dark as the reader's system is. Everything that comes
 * from outside is escaped, and nothing is made a link.
 */

import { createHash } from "node:crypto";
import { type ErrorCode, jsonEntries } from "@inlet/protocol";
import type { Approval, ApprovalStatus } from "../../store/contract/index.ts";
import { COMMENT_UNITS_MAX } from "../../store/contract/index.ts";
import { escapeHtml } from "../docs/escape-html.ts";

const STYLE = `
:root { color-scheme: light dark; --text: light-dark(#1a1d21, #e6e8eb); --soft: light-dark(#5b6470, #9aa4b1); --line: light-dark(#d5dae0, #3a424d);
  --page: light-dark(#f4f6f8, #14171b); --card: light-dark(#ffffff, #1d2127); --yes: light-dark(#176639, #1d7a45); --no: light-dark(#a3221d, #b53a33); }
* { box-sizing: border-box; }
body { margin: 0; padding: 1rem; background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 40rem; margin: 0 auto; padding: 1.25rem; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; }
h1 { margin: 0 0 1rem; font-size: 1.25rem; white-space: pre-wrap; overflow-wrap: anywhere; }
p, dl { color: var(--soft); overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin: 0 0 1rem; }
dd { margin: 0; color: var(--text); }
pre { max-height: 24rem; overflow: auto; padding: .75rem; border: 1px solid var(--line); border-radius: .375rem; white-space: pre-wrap; overflow-wrap: anywhere; }
label { display: block; margin-bottom: .25rem; }
textarea { width: 100%; min-height: 4rem; padding: .5rem; font: inherit; color: inherit; background: var(--page); border: 1px solid var(--line); border-radius: .375rem; }
.buttons { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1rem; }
button { flex: 1 1 8rem; min-height: 3rem; padding: .5rem 1rem; font: inherit; font-weight: 600; color: #fff; border: 0; border-radius: .375rem; }
.yes { background: var(--yes); }
.no { background: var(--no); }
button:focus-visible, textarea:focus-visible { outline: 3px solid var(--soft); outline-offset: 2px; }
code { font-size: .875rem; }
`;

/**
 * The page loads nothing, sends only to itself, is never shown in another, and tells no other site its address. With `no-referrer`, browsers
 * would not say where its form comes from: a dev server would refuse the decision.
 */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  "referrer-policy": "same-origin",
  "x-robots-tag": "noindex, nofollow",
};

/** Indenting deeper data would make it many times as long. */
const INDENTED_DEPTH_MAX = 20;

/** Who asks. */
export interface Asker {
  app: string;
  function: string;
  environment: string;
}

export function questionPage(approval: Approval, asker: Asker | null, environment: string): string {
  const { prompt, data } = approval;
  const shown = data === "null" ? "" : `<pre>${escapeHtml(indented(data))}</pre>`;
  return page(
    prompt,
    `<h1>${escapeHtml(prompt)}</h1>
${facts(approval, asker, environment)}
${shown}
<form method="post">
<label for="comment">Comment (optional)</label>
<textarea id="comment" name="comment" maxlength="${COMMENT_UNITS_MAX}"></textarea>
<div class="buttons">
<button class="yes" name="decision" value="approved">Approve</button>
<button class="no" name="decision" value="rejected">Reject</button>
</div>
</form>
<p>The function continues with your decision. It can be made once.</p>`,
  );
}

/** Nothing has been decided yet. */
export function confirmPage({ prompt }: Approval, comment: string): string {
  return page(
    "Reject?",
    `<h1>Reject? ${escapeHtml(prompt)}</h1>
<form method="post">
<input type="hidden" name="confirm" value="yes">
<input type="hidden" name="comment" value="${escapeHtml(comment)}">
<div class="buttons"><button class="no" name="decision" value="rejected">Yes, reject</button></div>
</form>
<p>Nothing has been decided yet. To decide otherwise, go back.</p>`,
  );
}

const ENDED: Readonly<Record<ApprovalStatus, string>> = {
  open: "This approval is open.",
  approved: "This was approved.",
  rejected: "This was rejected.",
  expired: "The time to decide is over.",
  cancelled: "The run that asked has ended. No decision is needed any more.",
};

export function decidedPage(decision: "approved" | "rejected"): string {
  return page(
    `Thank you: ${decision}`,
    `<h1>Thank you: ${decision}</h1>\n<p>Your decision is stored, and the function continues with it.</p>`,
  );
}

/** What was asked is not shown any more. `code`: the refused decision's error. */
export function endedPage(status: ApprovalStatus, by: string | null, code: ErrorCode | null): string {
  const who = by === null ? "" : ` Decided by: ${escapeHtml(by)}.`;
  const refused = code === null ? "" : `\n<p>Your decision was not stored. <code>${code}</code></p>`;
  return page(ENDED[status], `<h1>${ENDED[status]}</h1>\n<p>This link no longer works.${who}</p>${refused}`);
}

export function errorPage(title: string, text: string, code: ErrorCode): string {
  return page(title, `<h1>${escapeHtml(title)}</h1>\n<p>${escapeHtml(text)} <code>${code}</code></p>`);
}

function facts({ run, signal, expiresAt }: Approval, asker: Asker | null, environment: string): string {
  const rows = [
    ...(asker ? [`Function</dt><dd>${escapeHtml(asker.function)}`, `App</dt><dd>${escapeHtml(asker.app)}`] : []),
    ...(run ? [`Run</dt><dd>${run.id}`] : []),
    ...(signal === null ? [] : [`Signal</dt><dd>${escapeHtml(signal)}`]),
    `Environment</dt><dd>${escapeHtml(environment)}`,
    `Open until</dt><dd>${new Date(expiresAt).toISOString().slice(0, 16).replace("T", " ")} UTC`,
  ];
  return `<dl>${rows.map((row) => `<dt>${row}</dd>`).join("")}</dl>`;
}

/** Numbers and members are shown as they were written, because the run has them so; parsed, they could be others. Strings without escapes, down to a depth. */
function indented(json: string, depth = 0): string {
  if (depth > INDENTED_DEPTH_MAX) return json;
  if (json.startsWith('"')) return JSON.stringify(JSON.parse(json));
  if (!/^[{[]/.test(json)) return json;
  const margin = "  ".repeat(depth);
  const inner = `${margin}  `;
  const lines = jsonEntries(json).map(({ key, start, end }) => {
    const value = indented(json.slice(start, end), depth + 1);
    return key === null ? `${inner}${value}` : `${inner}${JSON.stringify(key)}: ${value}`;
  });
  const [open, close] = json.startsWith("{") ? ["{", "}"] : ["[", "]"];
  return lines.length === 0 ? `${open}${close}` : `${open}\n${lines.join(",\n")}\n${margin}${close}`;
}

function page(title: string, main: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>${escapeHtml(title.slice(0, 100))}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${main}
</main>
</body>
</html>
`;
}
