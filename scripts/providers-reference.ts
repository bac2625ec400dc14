/** docs/providers.md, generated from the catalogue of providers. */

import { CATEGORIES, PROVIDERS, type Provider } from "@inlet/server/transform";

const TITLES: Readonly<Record<Provider["category"], string>> = {
  payments: "Payments",
  code: "Code and operation",
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
requests and, where the provider signs with a shared secret, the \`verify\` and \`handshake\` of its webhook. Choose one in the dashboard, with
\`inlet webhooks new --provider <id>\`, or read them at \`GET /v1/transforms/providers\`. [Webhooks](webhooks.md) explains verification and handshakes.

Providers change their settings, limits and retry rules without notice, and not every fact here was checked against their current
documentation, which is linked. Where the two differ, trust the provider.

${CATEGORIES.map(section).join("\n\n")}
`;
}

function section(category: Provider["category"]): string {
  const members = PROVIDERS.filter((provider) => provider.category === category);
  return `## ${TITLES[category]}\n\n${members.map(entry).join("\n\n")}`;
}

function entry(provider: Provider): string {
  const { id, title, sends, setUp, signatureHeader, verify, secretFrom, handshake, note, retries, timeout, documentation } = provider;
  const shownHandshake = handshake && ("preset" in handshake ? `\`{"preset":"${handshake.preset}"}\`` : "a function of its own");
  const rows: [string, string | null][] = [
    ["id", `\`${id}\``],
    ["sends", sends],
    ["URL", setUp],
    ["verify", verify ? `\`${JSON.stringify(verify)}\`` : "no shared secret"],
    ["header", signatureHeader && `\`${signatureHeader}\``],
    ["secret", secretFrom],
    ["handshake", shownHandshake],
    ["note", note],
    ["timeout", timeout],
    ["retries", retries],
    ["documentation", documentation && `<${documentation}>`],
  ];
  const lines = rows
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `| ${name} | ${(value as string).replaceAll("|", "\\|")} |`);
  return `### ${title}\n\n| | |\n|---|---|\n${lines.join("\n")}`;
}
