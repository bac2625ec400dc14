/** The calls of the REST API that webhooks as code needs. What goes wrong is a CommandFault with the service's own sentence and code. */

import { CommandFault } from "./command-fault.ts";
import type { ServerWebhook } from "./compare/server-webhook.ts";

export type WebhookFields = Pick<ServerWebhook, "name" | "transform" | "eventNames" | "ips" | "enabled">;

/** An environment of null leaves the choice to the server: its default one. */
export interface RestClient {
  list(environment: string | null): Promise<ServerWebhook[]>;
  create(environment: string | null, fields: WebhookFields): Promise<ServerWebhook>;
  change(webhook: ServerWebhook, fields: Partial<WebhookFields>): Promise<ServerWebhook>;
  remove(webhook: ServerWebhook): Promise<void>;
}

const PAGE_LIMIT = 100;
const TIMEOUT_MS = 30_000;

interface Call {
  method: string;
  path: string;
  environment: string | null;
  body?: unknown;
}

interface Page {
  data: ServerWebhook[];
  page: { next: string | null };
}

export function createRestClient({ url, apiKey }: { url: string; apiKey: string | null }): RestClient {
  const base = url.replace(/\/+$/, "");
  const call = async <Answer>({ method, path, environment, body }: Call): Promise<Answer> => {
    const response = await reach(base, `${base}/v1${path}`, {
      method,
      // Followed, a POST would arrive as a GET.
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        accept: "application/json",
        ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }),
        ...(environment !== null && { "x-service-env": environment }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const answer = asJson(response.text);
    if (!response.ok) throw refusal(base, response.status, answer);
    if (answer === undefined) throw new CommandFault(`${base} answered with something that is not JSON. Is it an Inlet service?`);
    return answer as Answer;
  };
  const one = async (details: Call) => (await call<{ data: ServerWebhook }>(details)).data;
  const pathOf = ({ id }: ServerWebhook) => `/webhooks/${encodeURIComponent(id)}`;

  return {
    async list(environment) {
      const webhooks: ServerWebhook[] = [];
      let next: string | null = null;
      do {
        const cursor: string = next === null ? "" : `&cursor=${encodeURIComponent(next)}`;
        const page: Page = await call<Page>({ method: "GET", path: `/webhooks?limit=${PAGE_LIMIT}${cursor}`, environment });
        webhooks.push(...page.data);
        next = page.page.next;
      } while (next !== null);
      return webhooks;
    },
    create: (environment, fields) => one({ method: "POST", path: "/webhooks", environment, body: fields }),
    change: (webhook, fields) => one({ method: "PUT", path: pathOf(webhook), environment: webhook.environment, body: fields }),
    remove: async (webhook) => void (await call({ method: "DELETE", path: pathOf(webhook), environment: webhook.environment })),
  };
}

async function reach(base: string, url: string, init: RequestInit): Promise<{ ok: boolean; status: number; text: string }> {
  try {
    const response = await fetch(url, init);
    return { ok: response.ok, status: response.status, text: await response.text() };
  } catch (error) {
    throw new CommandFault(
      `The service at ${base} cannot be reached: ${reasonOf(error)}. Start it, or name it with --url or SERVICE_BASE_URL.`,
    );
  }
}

function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error & { cause?: Error & { code?: string } };
  if (name === "TimeoutError") return `no answer within ${TIMEOUT_MS / 1000} s`;
  if (cause?.code === "ECONNREFUSED") return "nothing listens there";
  if (cause?.code === "ENOTFOUND") return "there is no such host";
  return cause?.message || cause?.code || message;
}

interface Fault {
  field?: string;
  message?: string;
  line?: number;
  column?: number;
}

function refusal(base: string, status: number, answer: unknown): CommandFault {
  const { error, code, details = [] } = (answer ?? {}) as { error?: string; code?: string; details?: Fault[] };
  if (!error || !code) return new CommandFault(`${base} answered with status ${status}. Is it an Inlet service?`);
  // One fault is told by the sentence already, but not its place.
  const faults = details.length > 1 || details[0]?.line !== undefined ? details.map(written) : [];
  return new CommandFault([`${error} (${code})`, ...faults, ...advice(status)], code);
}

function written({ field, message, line, column }: Fault): string {
  return `${[field, line, column].filter((part) => part !== undefined).join(":")}: ${message}`;
}

function advice(status: number): string[] {
  return status === 401 ? ["The API key is taken from --api-key or SERVICE_API_KEY."] : [];
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
