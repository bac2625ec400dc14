/**
 * Requests that the service makes for a function (`step.fetch`, `step.ai.infer`): as stored while the step is open, and as
 * shown, without secrets. Once the step has ended, only the shown form is stored.
 */

export interface GatewayRequest {
  method: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string | null;
  /** Its step races others: when it has ended, the function is called at once. */
  races?: boolean;
}

export interface ShownRequest {
  method: string;
  /** Without the values of its query. */
  url: string;
  headers: Readonly<Record<string, string>>;
}

const MASKED = "***";
const SECRET_HEADER = /auth|token|secret|key|password|cookie|signature|credential/i;

export function isSecretHeader(name: string): boolean {
  return SECRET_HEADER.test(name);
}

/** `detail` is JSON text of a request, complete or in its shown form. */
export function shownRequest(detail: string): ShownRequest {
  const { method, url, headers } = JSON.parse(detail) as GatewayRequest;
  const shown = Object.entries(headers).map(([name, value]) => [name, isSecretHeader(name) ? MASKED : value]);
  return { method, url: withoutValues(url), headers: Object.fromEntries(shown) };
}

/** Some providers take their key in the query. */
function withoutValues(url: string): string {
  const shown = new URL(url);
  shown.username = "";
  shown.password = "";
  for (const name of [...shown.searchParams.keys()]) shown.searchParams.set(name, MASKED);
  return shown.href;
}

/** The texts of a request that must not appear in records. */
export function secretsOf({ url, headers }: Pick<GatewayRequest, "url" | "headers">): string[] {
  const inHeaders = Object.entries(headers).flatMap(([name, value]) => (isSecretHeader(name) ? [value] : []));
  const { searchParams, password } = new URL(url);
  return [...inHeaders, ...searchParams.values(), password].filter((text) => text !== "");
}

/** `text` is JSON, or any other text, that may contain these, escaped or not. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const written = secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]);
  return written.reduce((shown, secret) => shown.replaceAll(secret, MASKED), text);
}
