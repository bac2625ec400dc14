/** A real OpenID Connect provider on a socket of its own, and a browser without pages that signs in there. */

import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { Provider } from "oidc-provider";
import { onEnd } from "./on-end.ts";

/** Everybody's email is verified, except for logins that begin with `un`, which claim the email of the rest of their name. */
function emailOf(login: string): object {
  const [, prefix = "", name = ""] = /^(un)?(.*)$/.exec(login) ?? [];
  return { email: `${name}@example.com`, ...(prefix === "" && { email_verified: true }) };
}

/** `groups` by login name. Returns the issuer; to a browser, `localhost` is another site than 127.0.0.1. */
export async function startProvider(
  t: TestContext,
  redirectUri: string,
  groups: Record<string, string[]>,
  host = "127.0.0.1",
): Promise<string> {
  let handle: RequestListener = () => undefined;
  const server = createServer((request, response) => handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onEnd(t, () => void server.close().closeAllConnections());
  const issuer = `http://${host}:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: "inlet",
        client_secret: "a-secret-of-inlet",
        redirect_uris: [redirectUri],
        grant_types: ["authorization_code"],
        response_types: ["code"],
        token_endpoint_auth_method: "client_secret_post",
      },
    ],
    claims: { openid: ["sub"], profile: ["groups"], email: ["email", "email_verified"] },
    pkce: { required: () => true },
    cookies: { keys: ["only for tests"] },
    findAccount: async (_context: unknown, id: string) => ({
      accountId: id,
      claims: async () => ({ sub: id, ...emailOf(id), groups: groups[id] ?? [] }),
    }),
  });
  handle = provider.callback();
  return issuer;
}

/**
 * Follows redirects with cookies, fills in the provider's forms, and returns the last response with the cookies of `home`. `tamper` changes
 * the URL and the cookies with which the browser comes back.
 */
export async function browse(
  start: string,
  login: string,
  tamper?: (url: URL, cookies: Map<string, string>) => void,
): Promise<{ status: number; text: string; cookie: string }> {
  const jars = new Map<string, Map<string, string>>();
  const jarOf = (url: string) => {
    const { origin } = new URL(url);
    if (!jars.has(origin)) jars.set(origin, new Map());
    return jars.get(origin) as Map<string, string>;
  };
  const cookiesOf = (url: string) => [...jarOf(url)].map(([name, value]) => `${name}=${value}`).join("; ");
  let [url, form]: [string, string | null] = [start, null];
  for (let hops = 0; hops < 15; hops++) {
    const response: Response = await fetch(url, {
      redirect: "manual",
      headers: { cookie: cookiesOf(url), ...(form !== null && { "content-type": "application/x-www-form-urlencoded" }) },
      ...(form !== null && { method: "POST", body: form }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      jarOf(url).set(name, value);
    }
    const text = await response.text();
    const location = response.headers.get("location");
    if (location !== null) {
      const next = new URL(location, url);
      if (next.pathname === "/oidc/callback") tamper?.(next, jarOf(next.href));
      [url, form] = [next.href, null];
    } else if (url.includes("/interaction/")) {
      const prompt = /name="prompt" value="(\w+)"/.exec(text)?.[1] ?? assert.fail(text.slice(0, 2_000));
      const action = /action="([^"]+)"/.exec(text)?.[1] ?? url;
      [url, form] = [new URL(action, url).href, new URLSearchParams({ prompt, login, password: "any" }).toString()];
    } else return { status: response.status, text, cookie: cookiesOf(start) };
  }
  return assert.fail(`too many redirects, the last to ${url}`);
}
