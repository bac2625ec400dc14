/** A function whose step answers a question token by token. Each token is a realtime message, stored before the next is made. */

import { setTimeout as pause } from "node:timers/promises";
import { Inlet } from "@inlet/sdk";

export const inlet = new Inlet({ id: "chat-stream" });

const TOKEN_MS = Number(process.env.TOKEN_MS ?? 60);

/** Stands for a language model. */
async function* answerTo(question: string): AsyncGenerator<string> {
  const words = `You asked: ${question} Here is a long answer, one word at a time, so that there is time to reload the page in the middle of it.`;
  for (const word of words.split(" ")) {
    await pause(TOKEN_MS);
    yield `${word} `;
  }
}

const answer = inlet.createFunction({ id: "answer" }, { event: "chat/question" }, async ({ event, step }) => {
  const { chat, question } = event.data as { chat: string; question: string };
  await step.run("answer", async () => {
    for await (const token of answerTo(question)) await inlet.realtime.publish({ channel: `chat:${chat}`, topic: "tokens" }, token);
  });
  await step.realtime.publish("end", { channel: `chat:${chat}`, topic: "tokens" }, null);
});

export const functions = [answer];
