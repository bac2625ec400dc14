/** docs/reference/providers.md, generated from the catalogue of providers. */

import { RECONCILE_PRESETS, type ReconcileOption, type ReconcilePreset } from "@inlet/protocol";
import { CATEGORIES, FACTS, PROVIDERS, type Provider } from "@inlet/providers";

const TITLES: Readonly<Record<Provider["category"], string>> = {
  payments: "Payments",
  code: "Code and operations",
  chat: "Messages and meetings",
  commerce: "Commerce",
  mail: "Mail",
  identity: "Identity",
  crm: "Customers",
  storage: "Storage",
  calendars: "Calendars",
  forms: "Forms",
  work: "Tasks and pages",
  any: "Everything else",
};

export function providersMarkdown(generated: string): string {
  return `${generated}

# Providers

The catalogue of providers that Inlet knows: ${PROVIDERS.length} entries. Each has a starter transform, sample
requests and, where the provider has a shared secret, the \`verify\` and \`handshake\` of its webhook; where it insists on a response, its
\`answer\`. Choose one in the dashboard or with
\`inlet webhooks new --provider <id>\`; \`GET /v1/transforms/providers\` lists them. [Webhooks](../how-to/webhooks.md) explains verification and handshakes,
[Reconciliation](../how-to/reconciliation.md) the presets that ask a provider's API for what was never delivered.

Each entry names the public pages that its facts were checked against: the provider's own documentation or SDK where that could be
read, otherwise another page that states the fact. "Not checked" lists facts for which no page was found. "Not documented" means that none of
the pages states the fact. Providers change their settings, limits and retry rules without notice: where the two differ, trust the provider.

${CATEGORIES.map(section).join("\n\n")}
`;
}

function section(category: Provider["category"]): string {
  const members = PROVIDERS.filter((provider) => provider.category === category);
  return `## ${TITLES[category]}\n\n${members.map(entry).join("\n\n")}`;
}

function entry(provider: Provider): string {
  const { id, title, sends, setUp, signatureHeader, verify, secretFrom, handshake, answer, note, retries, timeout, documentation } =
    provider;
  const shownHandshake = handshake && ("preset" in handshake ? `\`{"preset":"${handshake.preset}"}\`` : "a custom function");
  const rows: [string, string | null][] = [
    ["id", `\`${id}\``],
    ["sends", sends],
    ["URL", setUp],
    ["verify", verify ? `\`${JSON.stringify(verify)}\`` : secretFrom === null ? "no shared secret" : "by the handshake"],
    ["header", signatureHeader && `\`${signatureHeader}\``],
    ["secret", secretFrom],
    ["handshake", shownHandshake],
    ["answer", answer ? `\`${JSON.stringify(answer)}\`` : null],
    ["note", note],
    ["timeout", timeout ?? "not documented"],
    ["retries", retries ?? "not documented"],
    ["reconcile", reconciliation(provider)],
    ["documentation", documentation && `<${documentation}>`],
    ["checked", checked(provider)],
    ["not checked", unchecked(provider)],
  ];
  const lines = rows
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `| ${name} | ${(value as string).replaceAll("|", "\\|")} |`);
  return `### ${title}\n\n| | |\n|---|---|\n${lines.join("\n")}`;
}

const NAMES = {
  verify: "verification",
  handshake: "handshake",
  setUp: "URL",
  retries: "retries",
  timeout: "timeout",
  reconcile: "reconciliation",
} as const;

function reconciliation({ reconcile, notReconciled, source }: Provider): string {
  if (reconcile) return `\`{"preset":"${reconcile}"${optionsOf(reconcile)}}\``;
  if (notReconciled === undefined) return "by a `source` of your own";
  return `not offered. ${notReconciled} See <${source.reconcile}>`;
}

/** What the preset has to be told, besides a secret. */
function optionsOf(preset: ReconcilePreset): string {
  const options: Readonly<Record<string, ReconcileOption>> = RECONCILE_PRESETS[preset];
  const required = Object.entries(options).filter(([, { isRequired }]) => isRequired);
  return required.map(([name, { isList }]) => `,"${name}":${isList ? '["…"]' : '"…"'}`).join("");
}

/** Facts that the same page confirms are named together. */
function checked({ source, reconcile }: Provider): string | null {
  const pages = Map.groupBy(
    FACTS.filter((fact) => source[fact] !== undefined && (fact !== "reconcile" || reconcile !== undefined)),
    (fact) => source[fact] as string,
  );
  const texts = [...pages].map(([page, facts]) => `${facts.map((fact) => NAMES[fact]).join(", ")}: <${page}>`);
  return texts.length === 0 ? null : texts.join("; ");
}

/** What an entry states without a page. */
function unchecked({ source, handshake }: Provider): string | null {
  const stated = FACTS.filter((fact) => fact === "verify" || fact === "setUp" || (fact === "handshake" && handshake !== null));
  const names = stated.filter((fact) => source[fact] === undefined).map((fact) => NAMES[fact]);
  return names.length === 0 ? null : names.join(", ");
}
