/** The chat's web server: the page, a token for its subscription, the questions, and the functions. */

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { serve } from "@inlet/sdk/node";
import { functions, inlet } from "./chat.ts";

const handler = serve({ client: inlet, functions });
const page = readFileSync(new URL("page.html", import.meta.url));
/** A real app takes the chat from the user who is signed in. */
const CHAT = "1";

const server = createServer(async (request, response) => {
  const { url = "/", method } = request;
  if (url.startsWith("/api/inlet")) return handler(request, response);
  if (method === "GET" && url === "/token") {
    const token = await inlet.realtime.token({ channel: `chat:${CHAT}`, topics: ["tokens"] });
    return void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(token));
  }
  if (method === "POST" && url === "/questions") {
    const { question } = (await json(request)) as { question: string };
    await inlet.send({ name: "chat/question", data: { chat: CHAT, question } });
    return void response.writeHead(202).end();
  }
  if (url !== "/") return void response.writeHead(404).end();
  response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page);
});

server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
