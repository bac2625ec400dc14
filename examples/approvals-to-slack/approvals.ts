/** A function that asks a person, and one that posts the link of every question to Slack and by email. */

import { Inlet } from "@inlet/sdk";

export const inlet = new Inlet({ id: "approvals" });

const refund = inlet.createFunction({ id: "refund" }, { event: "shop/refund.requested" }, async ({ event, step }) => {
  const { refundId, amount } = event.data as { refundId: string; amount: number };
  const prompt = `Refund ${amount} for ${refundId}?`;
  const answer = await step.waitForApproval("approval", { prompt, data: event.data, timeout: "3d", confirmReject: true });
  if (answer === null) return "nobody decided in time";
  return answer.comment === null ? `${answer.decision} by ${answer.by}` : `${answer.decision} by ${answer.by}: ${answer.comment}`;
});

interface Question {
  url: string;
  prompt: string;
  expiresAt: string;
}

const postLink = inlet.createFunction(
  { id: "post-link", name: "Post the link" },
  { event: "inlet/approval.requested" },
  async ({ event, step }) => {
    const { url, prompt, expiresAt } = event.data as unknown as Question;
    const text = `${prompt}\nDecide until ${expiresAt}: ${url}`;
    await Promise.all([
      step.run("slack", () => post(process.env.SLACK_WEBHOOK_URL, { text })),
      step.run("mail", () => post(process.env.MAIL_API_URL, { to: process.env.MAIL_TO, subject: prompt, text })),
    ]);
  },
);

/** Throws when the message was not taken, so that the step is retried. */
async function post(url: string | undefined, message: { text: string; to?: string | undefined; subject?: string }): Promise<void> {
  if (!url) return console.log(message.text);
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(message),
    signal: AbortSignal.timeout(10_000),
  });
  if (!response.ok) throw new Error(`${new URL(url).host} answered with status ${response.status}`);
}

export const functions = [refund, postLink];
