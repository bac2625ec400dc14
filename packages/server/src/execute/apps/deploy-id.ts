/**
 * The id of a sync. SDKs return it with the registration that follows, to any node: so it carries where the app was asked to register,
 * and which environments the caller may use. It is not signed: who can register at all may also leave it out.
 */

/** What a caller asks for: an app in `home`, unless the app itself names another environment that the caller may use. */
export interface SyncScope {
  /** The name of an environment. */
  home: string;
  /** Those the caller is restricted to; null: all. */
  environments: readonly string[] | null;
}

export function writeDeployId(id: string, { home, environments }: SyncScope): string {
  return `${id}.${Buffer.from(JSON.stringify([home, environments])).toString("base64url")}`;
}

/** Null if this is no id of a sync. */
export function readDeployId(text: string): SyncScope | null {
  try {
    const [home, environments]: unknown[] = JSON.parse(Buffer.from(text.slice(text.indexOf(".") + 1), "base64url").toString());
    if (typeof home !== "string" || (environments !== null && !isNames(environments))) return null;
    return { home, environments };
  } catch {
    return null;
  }
}

function isNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}
