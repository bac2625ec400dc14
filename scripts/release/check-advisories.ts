/**
 * Asks the configured registry for published advisories about everything that a release depends on at run time. A registry that cannot be
 * asked is no response: the release then stops as well.
 */

import { ROOT } from "./pack-packages.ts";
import { run } from "./run.ts";

interface Audit {
  message?: string;
  error?: { summary?: string };
  vulnerabilities?: Record<string, { severity: string; via: readonly (string | { title?: string; url?: string })[] }>;
}

/** Sentences; none if there is no known advisory. */
export async function findAdvisories(env: NodeJS.ProcessEnv = process.env): Promise<string[]> {
  // 1: there are advisories, or the registry gave no response.
  const { out, all } = await run("npm", ["audit", "--omit=dev", "--json"], {
    cwd: ROOT,
    env: { ...env, npm_config_audit: "true" },
    codes: [0, 1],
  });
  return readAudit(out, all);
}

function readAudit(out: string, all: string): string[] {
  const audit = parsed(out);
  if (!audit?.vulnerabilities) return [`the registry was not able to tell: ${audit?.error?.summary || audit?.message || all.trim()}`];
  return Object.entries(audit.vulnerabilities).map(([name, { severity, via }]) => {
    const reasons = via.map((reason) => (typeof reason === "string" ? `by ${reason}` : `${reason.title} ${reason.url}`));
    return `${name} (${severity}): ${reasons.join("; ")}`;
  });
}

function parsed(text: string): Audit | null {
  try {
    return JSON.parse(text) as Audit;
  } catch {
    return null;
  }
}
