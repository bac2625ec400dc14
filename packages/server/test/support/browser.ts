/** A browser, as far as signing in is concerned: keeps the session cookie and says where a request comes from. */

import type { Answer } from "./service.ts";
import { call } from "./service.ts";

export interface Browser {
  /** The session cookie as it was set, with its attributes. */
  setCookie(): string | null;
  signIn(credentials: { apiKey: string } | { loginToken: string }, headers?: Record<string, string>): Promise<Answer>;
  /** A call from the dashboard's own page unless headers say otherwise. */
  rest(method: string, path: string, options?: { body?: unknown; headers?: Record<string, string> }): Promise<Answer>;
  cookie(): string;
}

export function openBrowser(url: string): Browser {
  let set: string | null = null;
  const cookie = () => set?.split(";")[0] ?? "";
  const rest: Browser["rest"] = async (method, path, { body, headers = {} } = {}) => {
    const answer = await call(`${url}/v1${path}`, {
      method,
      headers: {
        "sec-fetch-site": "same-origin",
        ...(set && { cookie: `theme=dark; ${cookie()}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    set = answer.headers.get("set-cookie") ?? set;
    return answer;
  };
  return {
    setCookie: () => set,
    cookie,
    rest,
    signIn: (credentials, headers = {}) => rest("POST", "/session", { body: credentials, headers }),
  };
}
