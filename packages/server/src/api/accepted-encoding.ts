/** The content encodings that a client accepts. */

import type { FastifyRequest } from "fastify";

export type Encoding = "br" | "gzip";

/** The first of these that the client accepts. An encoding must be named: `*` names none. */
export function acceptedEncoding({ headers }: Pick<FastifyRequest, "headers">): Encoding | null {
  const accepted = String(headers["accept-encoding"] ?? "")
    .split(",")
    // No regular expression: one that skips spaces takes quadratic time for a header of many.
    .map((part) => part.split(";").map((text) => text.trim()))
    .filter(([, weight]) => Number(weight?.replace(/^q=/, "") ?? 1) > 0)
    .map(([name]) => name);
  return (["br", "gzip"] as const).find((name) => accepted.includes(name)) ?? null;
}
