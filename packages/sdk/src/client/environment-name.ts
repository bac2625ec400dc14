/** The environment that requests to the service name. One that may have been meant for another program is dropped when the key has none of that name. */

import { HEADER } from "../wire/headers.ts";

interface Warner {
  warn(text: string): void;
}

const REFUSALS: ReadonlySet<unknown> = new Set(["environment_forbidden", "environment_not_found"]);

export class EnvironmentName {
  #name: string | undefined;
  readonly #isCertain: boolean;
  readonly #logger: Warner;

  constructor(name: string | undefined, { isCertain, logger }: { isCertain: boolean; logger: Warner }) {
    this.#name = name;
    this.#isCertain = isCertain;
    this.#logger = logger;
  }

  get name(): string | undefined {
    return this.#name;
  }

  /** Makes a request with the headers that name the environment; without them once more if the service does not accept an uncertain name. */
  async ask<Received extends { status: number; text: string }>(
    request: (headers: Readonly<Record<string, string>>) => Promise<Received>,
  ): Promise<Received> {
    const name = this.#name;
    const response = await request(this.#headers());
    if (this.#isCertain || name === undefined || !isRefusal(response)) return response;
    // Of requests at the same time, the first that is refused says so.
    if (this.#name !== undefined)
      this.#logger.warn(`inlet: SERVICE_ENV is "${name}", which is no environment of this key; it is ignored. Use INLET_ENV or env`);
    this.#name = undefined;
    return request({});
  }

  /** An app that registers under a new name creates a branch environment; an uncertain name must not. */
  #headers(): Record<string, string> {
    if (this.#name === undefined) return {};
    return { [HEADER.environment]: this.#name, ...(this.#isCertain ? {} : { [HEADER.environmentExists]: "true" }) };
  }
}

function isRefusal({ status, text }: { status: number; text: string }): boolean {
  if (status !== 403 && status !== 404) return false;
  try {
    return REFUSALS.has((JSON.parse(text) as { code?: unknown } | null)?.code);
  } catch {
    return false;
  }
}
