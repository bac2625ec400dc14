/** An app with functions, in the wire protocol of SDKs and no more: it registers when asked, and answers calls as a test says. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { onEnd } from "../../../server/test/support/on-end.ts";

export interface SmallApp {
  url: string;
  calls(): number;
  stop(): void;
}

/** What a call is answered with: a status and a body, by the short id of the function. */
export type Answers = Readonly<Record<string, (steps: Record<string, unknown>) => { status: number; body: unknown }>>;

/** A function for each response, triggered by `app/<its id>`; a failed run of `ordered` holds its key. A service that checks keys wants the `bearer` of a signing key. */
export async function startSmallApp(t: TestContext, service: string, answers: Answers, bearer?: string): Promise<SmallApp> {
  let calls = 0;
  const server = createServer(async (request, response) => {
    const body = await textOf(request);
    if (request.method === "PUT") return register({ service, url, ids: Object.keys(answers), bearer }, request, response);
    calls++;
    const id = new URL(request.url ?? "", url).searchParams.get("fnId")?.replace("small-", "") ?? "";
    const { status, body: answer } = answers[id]?.((JSON.parse(body) as { steps: Record<string, unknown> }).steps) ?? {
      status: 404,
      body: {},
    };
    response.writeHead(status, { "content-type": "application/json", "x-inngest-sdk": "js:v3.0.0", "x-inngest-no-retry": "true" });
    response.end(JSON.stringify(answer));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  onEnd(t, stop);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/inlet`;
  return { url, calls: () => calls, stop };
}

interface Registration {
  service: string;
  url: string;
  ids: string[];
  bearer: string | undefined;
}

async function register({ service, url, ids, bearer }: Registration, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const functions = ids.map((id) => ({
    id: `small-${id}`,
    name: id,
    triggers: [{ event: `app/${id}` }],
    ...(id === "ordered" && { ordering: { key: "event.data.key", onFailure: "hold" } }),
    steps: {
      step: { id: "step", name: id, runtime: { type: "http", url: `${url}?fnId=small-${id}&stepId=step` }, retries: { attempts: 0 } },
    },
  }));
  const deployId = new URL(request.url ?? "", url).searchParams.get("deployId");
  const answer = await fetch(`${service}/fn/register${deployId ? `?deployId=${deployId}` : ""}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-inngest-sdk": "js:v3.0.0", ...(bearer && { authorization: `Bearer ${bearer}` }) },
    body: JSON.stringify({ url, deployType: "ping", framework: "node", appName: "small", sdk: "js:v3.0.0", v: "0.1", functions }),
  });
  response.writeHead(answer.status, { "content-type": "application/json", "x-inngest-sdk": "js:v3.0.0" }).end(await answer.text());
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text;
}
