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

/** In the place of a secret. */
export const MASK = "***";
const SECRET_NAME = /auth|token|secret|key|passw|passphrase|pwd|cookie|signature|credential|session|bearer/i;

/** Whether a header, or a field of a body, usually has a secret value. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** `detail` is JSON text of a request, complete or in its shown form. */
export function shownRequest(detail: string): ShownRequest {
  const { method, url, headers } = JSON.parse(detail) as GatewayRequest;
  const shown = Object.entries(headers).map(([name, value]) => [name, isSecretName(name) ? MASK : value]);
  return { method, url: shownUrl(url), headers: Object.fromEntries(shown) };
}

/** Whether a valid URL contains a user name or a password. */
export function hasCredentials(url: string): boolean {
  const { username, password } = new URL(url);
  return username !== "" || password !== "";
}

/** Without credentials and without the values of the query: some providers take their key there. */
export function shownUrl(url: string): string {
  const shown = new URL(url);
  shown.username = "";
  shown.password = "";
  for (const name of [...shown.searchParams.keys()]) shown.searchParams.set(name, MASK);
  return shown.href;
}
