/** Functions whose requests the service makes. */

import type { Define } from "./published-sdk.ts";

export function gatewayFunctions(define: Define): unknown[] {
  return [
    define("fetcher", async ({ step, event }) => {
      const response = await step.fetch(event.data.url, { method: "PUT", headers: { "x-trace": "1" }, body: "sent" });
      return { status: response.status, echoed: await response.json() };
    }),
    define(
      "inferrer",
      async ({ step, event }) => {
        const model = step.ai.models.openai({ model: "small", apiKey: "sk-secret", baseUrl: event.data.url });
        const answer = await step.ai.infer("ask", { model, body: { messages: [{ role: "user", content: "hello" }] } });
        const wrapped = await step.ai.wrap("wrapped", async (text: string) => `${text} world`, "hello");
        return { answer, wrapped };
      },
      { retries: 1 },
    ),
  ];
}
