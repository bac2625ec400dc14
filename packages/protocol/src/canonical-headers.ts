/**
 * Headers as a transform sees them: names in canonical form, one text per name.
 * Built from the raw list, because Node's own object drops repetitions of some headers. Any name is allowed, including `__proto__`.
 */

export type CanonicalHeaders = Record<string, string>;

/** Takes alternating names and values, as in `request.rawHeaders`. The values of a repeated header are joined with a comma and a space. */
export function canonicalHeaders(rawHeaders: readonly string[]): CanonicalHeaders {
  const headers: CanonicalHeaders = Object.create(null);
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = canonicalName(rawHeaders[i] as string);
    const value = rawHeaders[i + 1] as string;
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before}, ${value}`;
  }
  return headers;
}

/** `x-example-event` becomes `X-Example-Event`. */
export function canonicalName(name: string): string {
  return name.toLowerCase().replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
}
