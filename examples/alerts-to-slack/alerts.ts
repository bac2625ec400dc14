/** Posts raised and resolved alerts to a channel. Alerts are events, so this is a function like any other: it is retried, and its runs can be seen. */

import { Inlet } from "@inlet/sdk";

export const inlet = new Inlet({ id: "alerts" });

interface Alert {
  rule: { id: string; name: string; kind: string; function: string | null; threshold: number; windowSeconds: number };
  value: number;
  environment: string;
  since: string;
}

const toSlack = inlet.createFunction(
  { id: "to-slack", name: "Alert to Slack" },
  [{ event: "inlet/alert.raised" }, { event: "inlet/alert.resolved" }],
  async ({ event, step }) => {
    const text = messageOf(event.name, event.data as unknown as Alert);
    await step.run("post", () => post(text));
    return text;
  },
);

function messageOf(name: string, { rule, value, environment, since }: Alert): string {
  const whose = rule.function === null ? "" : ` (${rule.function})`;
  if (name === "inlet/alert.resolved") return `Resolved in ${environment}: ${rule.name}${whose}, raised since ${since}`;
  return `Raised in ${environment}: ${rule.name}${whose}, measured ${value}, threshold ${rule.threshold}`;
}

/** Throws when the message was not taken, so that the step is retried. */
async function post(text: string): Promise<void> {
  const url = process.env.SLACK_WEBHOOK_URL;
  if (!url) return console.log(text);
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ text }),
    signal: AbortSignal.timeout(10_000),
  });
  if (!response.ok) throw new Error(`Slack answered with status ${response.status}`);
}

export const functions = [toSlack];
