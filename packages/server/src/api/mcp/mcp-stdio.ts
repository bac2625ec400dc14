/**
 * The Model Context Protocol over standard streams, for `inlet mcp`: passes on what a client asks to the `/mcp` of a service. The SDK speaks
 * the client's revision of the protocol; everything else is decided by the service.
 */

import { PassThrough, type Readable, type Writable } from "node:stream";
import { type CallToolResult, type JSONRPCMessage, ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { INSTRUCTIONS } from "./instructions.ts";

export interface McpStdioParts {
  input: Readable;
  output: Writable;
  version: string;
  /** Sends the body of a request to `/mcp`. Throws if the service cannot be reached. */
  post(body: string): Promise<{ status: number; text: string }>;
  onError(error: Error): void;
}

interface Reply {
  result?: object;
  error?: { code: number; message: string };
}

/** Ends with the input once everything asked was answered, by the signal, or when the client breaks the protocol. */
export async function serveMcpStdio(parts: McpStdioParts, stop: AbortSignal): Promise<void> {
  const { input, output, onError } = parts;
  // The SDK answers nothing after the end of its input. A script writes its requests, closes its side and reads: it gets every response.
  const held = input.pipe(new PassThrough(), { end: false });
  const transport = new StdioServerTransport(held, output);
  const requests = followRequests(transport);
  const ended = new Promise<void>((resolve) => {
    input.once("end", () => {
      // The last line need not end in a line break.
      held.write("\n", () => setImmediate(() => requests.answered().then(resolve)));
    });
    for (const event of ["close", "error"]) input.once(event, () => input.readableEnded || resolve());
    stop.addEventListener("abort", () => resolve(), { once: true });
    requests.closed.then(resolve);
  });
  const handle = serveStdio(() => bridge(parts), { transport, onerror: onError });
  await ended;
  await handle.close();
}

interface OpenRequests {
  /** Each request read so far has its response, or was cancelled. */
  answered(): Promise<void>;
  /** The SDK has closed the transport by itself. */
  closed: Promise<void>;
}

function followRequests(transport: StdioServerTransport): OpenRequests {
  const open = new Set<unknown>();
  const answered = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  let isAsked = false;
  const done = (id: unknown) => {
    open.delete(id);
    if (isAsked && open.size === 0) answered.resolve();
  };
  let receive: StdioServerTransport["onmessage"];
  Object.defineProperty(transport, "onmessage", {
    set: (given: typeof receive) => (receive = given),
    get: () => (message: JSONRPCMessage) => {
      // A subscription has no response while it lasts.
      if ("method" in message && "id" in message && !message.method.startsWith("subscriptions/")) open.add(message.id);
      if ("method" in message && message.method === "notifications/cancelled") done(message.params?.requestId);
      receive?.(message);
    },
  });
  const [send, close] = [transport.send.bind(transport), transport.close.bind(transport)];
  transport.send = async (message) => {
    await send(message).finally(() => !("method" in message) && done(message.id));
  };
  transport.close = async () => {
    await close();
    closed.resolve();
  };
  return {
    closed: closed.promise,
    answered() {
      isAsked = true;
      done(null);
      return answered.promise;
    },
  };
}

function bridge(parts: McpStdioParts): Server {
  const server = new Server(
    { name: "inlet", title: "Inlet", version: parts.version },
    { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler("tools/list", async () => (await passOn(parts, "tools/list", {})) as never);
  server.setRequestHandler("tools/call", ({ params: { name, arguments: args } }) => callTool(parts, { name, arguments: args ?? {} }));
  server.setRequestHandler("resources/list", async () => (await passOn(parts, "resources/list", {})) as never);
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [] }));
  server.setRequestHandler("resources/read", async ({ params: { uri } }) => (await passOn(parts, "resources/read", { uri })) as never);
  return server;
}

/** A refusal of the service, such as that of a wrong key, is shown to the model as any other refused call. */
async function callTool(parts: McpStdioParts, params: object): Promise<CallToolResult> {
  const { status, text } = await post(parts, "tools/call", params);
  const refused = status >= 400 ? refusalIn(text) : null;
  return refused ? { content: [{ type: "text", text }], isError: true } : (resultOf(status, text) as CallToolResult);
}

async function passOn(parts: McpStdioParts, method: string, params: object): Promise<object> {
  const { status, text } = await post(parts, method, params);
  return resultOf(status, text);
}

/** Without the envelope of newer revisions: any version of the service understands it. */
async function post(parts: McpStdioParts, method: string, params: object): Promise<{ status: number; text: string }> {
  try {
    return await parts.post(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
  } catch (error) {
    throw new ProtocolError(ProtocolErrorCode.InternalError, (error as Error).message);
  }
}

function resultOf(status: number, text: string): object {
  const refused = refusalIn(text);
  if (refused) throw new ProtocolError(ProtocolErrorCode.InternalError, `${refused.error} (${refused.code})`);
  const { result, error } = replyIn(text);
  if (result) return result;
  if (error) throw new ProtocolError(error.code, error.message);
  throw new ProtocolError(
    ProtocolErrorCode.InternalError,
    `The service answered with status ${status}. Check that it is an Inlet service.`,
  );
}

/** A reply is JSON, or a stream of one message. */
function replyIn(text: string): Reply {
  // Lines end with \n only: JSON may hold other characters that regular expressions take for the end of a line.
  const data = text.split("\n").find((line) => line.startsWith("data: "));
  try {
    return JSON.parse(data?.slice("data: ".length) ?? text) as Reply;
  } catch {
    return {};
  }
}

/** The error object of the REST API. */
function refusalIn(text: string): { error: string; code: string } | null {
  const { error, code } = replyIn(text) as { error?: unknown; code?: unknown };
  return typeof error === "string" && typeof code === "string" ? { error, code } : null;
}
