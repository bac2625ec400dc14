/** How requests of webhooks are verified, and how a provider's check of the URL is answered. */

export * from "./reconcile-presets.ts";

// biome-ignore format: one line is easier to read
export const VERIFY_SCHEMES = ["standard-webhooks", "stripe", "github", "shopify", "slack", "twilio", "linear", "hmac", "basic", "header"] as const;
export type VerifyScheme = (typeof VERIFY_SCHEMES)[number];

/** How requests are verified before the transform. The secrets are stored separately. */
export interface WebhookVerify {
  scheme: VerifyScheme;
  toleranceSeconds: number;
  /** `hmac`, `header` and, where the provider uses another name, `stripe`. */
  header?: string;
  algorithm?: "sha1" | "sha256" | "sha512";
  prefix?: string;
  encoding?: "hex" | "base64";
  /** What is signed: a template of `{raw}`, `{timestamp}`, `{url}` and `{header:Name}`. */
  signed?: string;
  timestampHeader?: string;
  /** `basic` only. */
  user?: string;
}

export const HANDSHAKE_PRESETS = ["slack", "meta", "microsoft-graph", "x", "dropbox", "zoom", "okta", "asana"] as const;
export type HandshakePreset = (typeof HANDSHAKE_PRESETS)[number];

/** How a provider's check of the URL is answered. */
export type WebhookHandshake = { preset: HandshakePreset } | { source: string };

/** The response to an accepted request, instead of the ids. */
export interface WebhookAnswer {
  status: number;
  contentType: string;
  body: string;
}

/** The change brings code that the webhook does not have: it may not be given the stored secrets. */
export function isOtherHandshakeSource(changed: WebhookHandshake | null | undefined, current: WebhookHandshake | null): boolean {
  if (!changed || !("source" in changed)) return false;
  return !(current && "source" in current && current.source === changed.source);
}
