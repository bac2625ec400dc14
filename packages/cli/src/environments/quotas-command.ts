/** `inlet env quotas`. */

import { QUOTAS, type Quota } from "@inlet/protocol";
import { CommandFault } from "../command-line/command-fault.ts";
import { type CommandResult, EXIT } from "../command-line/command-result.ts";
import type { Call } from "../command-line/command-row.ts";
import { tableText } from "../command-line/write-table.ts";
import { createRestClient } from "../rest/rest-client.ts";
import type { QUOTAS_FLAGS } from "./environments-flags.ts";

interface UsedEnvironment {
  name: string;
  quotas: Record<Quota, number | null>;
  usage: Record<Quota, number>;
}

const NONE = "none";

export async function environmentQuotas({ options, names, io }: Call<typeof QUOTAS_FLAGS>): Promise<CommandResult> {
  const given = QUOTAS.flatMap((quota) => (options[quota] === null ? [] : [[quota, readQuota(quota, options[quota])] as const]));
  const rest = createRestClient({ ...options, env: null });
  const path = `/environments/${encodeURIComponent(names[0] ?? "")}`;
  const change = { method: "PUT", path, body: { quotas: Object.fromEntries(given) } } as const;
  const { name, quotas, usage } = await rest.data<UsedEnvironment>(given.length === 0 ? { path } : change);
  const rows = QUOTAS.map((quota) => [quota, String(usage[quota]), String(quotas[quota] ?? NONE), shareText(usage[quota], quotas[quota])]);
  const table = { headings: ["QUOTA", "USED", "LIMIT", "SHARE"], rows, empty: "" };
  return { exitCode: EXIT.ok, text: tableText(table, io.out.isTTY ? io.out.columns : undefined), json: { name, quotas, usage } };
}

function readQuota(quota: Quota, given: string): number | null {
  if (given === NONE) return null;
  const flag = quota.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  if (!/^[1-9]\d*$/.test(given))
    throw new CommandFault(`--${flag} takes a positive number or ${NONE}, not "${given}".`, "usage", EXIT.usage);
  return Number(given);
}

function shareText(used: number, limit: number | null): string {
  return limit === null ? "" : `${Math.floor((used / limit) * 100)} %`;
}
