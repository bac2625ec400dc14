/** `inlet functions limit`. */

import { CommandFault } from "../command-line/command-fault.ts";
import { type CommandResult, EXIT } from "../command-line/command-result.ts";
import type { Call } from "../command-line/command-row.ts";
import { createRestClient } from "../rest/rest-client.ts";
import type { LIMIT_FLAGS } from "./apps-flags.ts";

interface Rate {
  limit: number;
  period: string;
}

interface Limits {
  concurrency: number | null;
  throttle: Rate | null;
  rateLimit: Rate | null;
}

const NONE = "none";
const RATE = /^(\d+)\/(\S+)$/;

export async function limitFunction({ options, names }: Call<typeof LIMIT_FLAGS>): Promise<CommandResult> {
  const { concurrency, throttle, rateLimit } = options;
  const body = {
    ...(concurrency !== null && { concurrency: readNumber(concurrency) }),
    ...(throttle !== null && { throttle: readRate("--throttle", throttle) }),
    ...(rateLimit !== null && { rateLimit: readRate("--rate-limit", rateLimit) }),
  };
  if (Object.keys(body).length === 0)
    throw new CommandFault("Name at least one of --concurrency, --throttle and --rate-limit.", "usage", EXIT.usage);
  const path = `/functions/${encodeURIComponent(names[0] ?? "")}/limits`;
  const shown = await createRestClient(options).data<{ id: string; limits: Limits }>({ method: "PUT", path, body });
  return { exitCode: EXIT.ok, text: `${shown.id}: ${limitsText(shown.limits)}`, json: shown };
}

function readNumber(given: string): number | null {
  if (given === NONE) return null;
  if (!/^\d+$/.test(given)) throw new CommandFault(`--concurrency takes a number or ${NONE}, not "${given}".`, "usage", EXIT.usage);
  return Number(given);
}

function readRate(flag: string, given: string): Rate | null {
  if (given === NONE) return null;
  const [, limit, period] = RATE.exec(given) ?? [];
  if (limit === undefined || period === undefined)
    throw new CommandFault(`${flag} takes a number and a period, such as 10/1m, or ${NONE}, not "${given}".`, "usage", EXIT.usage);
  return { limit: Number(limit), period };
}

function limitsText({ concurrency, throttle, rateLimit }: Limits): string {
  const parts = [
    ...(concurrency === null ? [] : [`${concurrency} at a time`]),
    ...(throttle ? [`throttled to ${throttle.limit} in ${throttle.period}`] : []),
    ...(rateLimit ? [`at most ${rateLimit.limit} in ${rateLimit.period}`] : []),
  ];
  return parts.length === 0 ? "limited as its app registered it." : `${parts.join(", ")}.`;
}
