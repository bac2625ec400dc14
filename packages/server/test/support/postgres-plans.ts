/** What PostgreSQL does for statements: for tests of what is read, and how. */

import { Client } from "pg";
import { inDatabase } from "./postgres.ts";

export interface PlanNode {
  "Node Type": string;
  "Relation Name"?: string;
  "Actual Loops"?: number;
  "Actual Rows"?: number;
  "Rows Removed by Filter"?: number;
  "Index Name"?: string;
  "Index Cond"?: string;
  Plans?: PlanNode[];
}

export interface SeenPlan {
  text: string;
  /** Those that were done: a partition that is passed over is in the plan too. */
  nodes: PlanNode[];
}

/** From the next connection on, PostgreSQL tells its clients the plan of every statement, those inside functions too. */
export async function explainEverything(url: string): Promise<void> {
  await inDatabase(url, async (client) => {
    const database = new URL(url).pathname.slice(1);
    const settings = ["log_min_duration = 0", "log_analyze = on", "log_format = json", "log_nested_statements = on"];
    await client.query(`ALTER DATABASE ${database} SET session_preload_libraries = 'auto_explain'`);
    for (const setting of settings) await client.query(`ALTER DATABASE ${database} SET auto_explain.${setting}`);
    await client.query(`ALTER DATABASE ${database} SET client_min_messages = log`);
  });
}

/** The plans of all statements while `act` runs, of connections that it makes. */
export async function plansWhile(act: () => Promise<unknown>): Promise<SeenPlan[]> {
  const seen: SeenPlan[] = [];
  const { connect } = Client.prototype;
  const listen = (client: Client) =>
    client.on("notice", ({ message }) => {
      const json = message?.slice(message.indexOf("{"));
      if (!json?.startsWith("{")) return;
      const { "Query Text": text, Plan: plan } = JSON.parse(json) as { "Query Text": string; Plan: PlanNode };
      seen.push({ text, nodes: nodesOf(plan) });
    });
  Client.prototype.connect = function (this: Client, ...given: unknown[]) {
    listen(this);
    return (connect as (...given: unknown[]) => unknown).apply(this, given);
  } as typeof connect;
  try {
    await act();
    return seen;
  } finally {
    Client.prototype.connect = connect;
  }
}

function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)].filter((node) => node["Actual Loops"] !== 0);
}
