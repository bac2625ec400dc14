/** How requests of webhooks are verified, and how a provider's check of the URL is answered. */

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

/** An option of a preset of reconciliation: what the provider's API needs to know. */
export interface ReconcileOption {
  isRequired: boolean;
  isList: boolean;
  /** As a regular expression. */
  pattern: string;
  description: string;
}

const REPOSITORY: ReconcileOption = {
  isRequired: true,
  isList: false,
  pattern: "^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$",
  description: "The repository as `owner/name`.",
};

/** How a preset's list is asked for: which options it takes. Each needs a secret: a key of the provider's API. */
export const RECONCILE_PRESETS = {
  stripe: {},
  github: {
    repository: REPOSITORY,
    hook: { isRequired: true, isList: false, pattern: "^[A-Za-z0-9_-]{1,64}$", description: "The id of the hook, as text." },
  },
  shopify: {
    shop: {
      isRequired: true,
      isList: false,
      pattern: "^[A-Za-z0-9][A-Za-z0-9-]*\\.myshopify\\.com$",
      description: "The shop's domain, `….myshopify.com`.",
    },
    resources: {
      isRequired: false,
      isList: true,
      pattern: "^[a-z_]{1,64}$",
      description: "What is listed, such as `orders` or `products`; default `orders`.",
    },
  },
  square: {},
  workos: {
    events: { isRequired: true, isList: true, pattern: "^[a-z0-9_.]{1,128}$", description: "The event types that are listed." },
  },
} as const satisfies Record<string, Record<string, ReconcileOption>>;
export type ReconcilePreset = keyof typeof RECONCILE_PRESETS;

/** The defaults of `every` and `lookBack`. */
export const RECONCILE_DEFAULTS = { every: "15m", lookBack: "72h" } as const;
