/** The presets of reconciliation: what each has to be told to ask its provider's API. Each also needs a secret. */

/** What the provider's API needs to know. */
export interface ReconcileOption {
  isRequired: boolean;
  isList: boolean;
  /** It names the host that is sent the secrets: with another one they have to be given again. */
  isAddress?: true;
  /** As a regular expression. */
  pattern: string;
  description: string;
}

function text(pattern: string, description: string): ReconcileOption {
  return { isRequired: true, isList: false, pattern, description };
}

function address(pattern: string, description: string): ReconcileOption {
  return { ...text(pattern, description), isAddress: true };
}

function optionalList(pattern: string, description: string): ReconcileOption {
  return { isRequired: false, isList: true, pattern, description };
}

const EVENT_TYPE = "^[A-Za-z0-9_.:/-]{1,128}$";
const EVENTS = optionalList(EVENT_TYPE, "The event types that the webhook is sent; default all.");
const HOOK = text("^[A-Za-z0-9_-]{1,64}$", "The id of the hook, as text.");
const CLIENT = text("^[A-Za-z0-9_-]{1,128}$", "The client id of the application whose secret is given.");

export const RECONCILE_PRESETS = {
  stripe: { events: EVENTS },
  github: { repository: text("^(?!\\.\\.?/)[A-Za-z0-9._-]+/(?!\\.\\.?$)[A-Za-z0-9._-]+$", "The repository as `owner/name`."), hook: HOOK },
  shopify: {
    shop: address("^[A-Za-z0-9][A-Za-z0-9-]*\\.myshopify\\.com$", "The shop's domain, `….myshopify.com`."),
    resources: optionalList("^[a-z_]{1,64}$", "What is listed, such as `orders` or `products`; default `orders`."),
  },
  square: { events: EVENTS },
  workos: { events: { ...EVENTS, isRequired: true, description: "The event types that are listed." } },
  paypal: { clientId: CLIENT },
  "coinbase-commerce": { events: EVENTS },
  polar: { endpoint: text("^[A-Za-z0-9-]{1,64}$", "The id of the endpoint.") },
  gitlab: {
    project: text(
      "^[A-Za-z0-9_.][A-Za-z0-9_./-]{0,254}$",
      "The project's path, such as `acme/shop`, or its id; for the hook of a group `groups/` and the group's.",
    ),
    hook: HOOK,
  },
  mailgun: {
    domain: text("^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$", "The sending domain."),
    events: { ...EVENTS, description: "The kinds of events that the webhook is sent; default all that webhooks can be sent." },
  },
  resend: { hook: HOOK },
  tally: { hook: HOOK },
  trello: {
    model: text(
      "^(boards|cards|lists|members|organizations)/[A-Za-z0-9]{1,64}$",
      "What the webhook watches, as `boards/` and its id; `cards/`, `lists/`, `members/` and `organizations/` likewise.",
    ),
    appKey: text("^[A-Za-z0-9]{1,128}$", "The API key of the Power-Up that the token is for: it is not secret."),
    events: { ...EVENTS, description: "The action types that are listed, such as `updateCard`; default all." },
  },
  bigcommerce: { store: text("^[a-z0-9]{1,32}$", "The store hash, as in the address of the API."), events: EVENTS },
  woocommerce: {
    site: address(
      "^https://[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?(/[A-Za-z0-9._~-]+)*$",
      "The address of the shop, such as `https://shop.example.com`.",
    ),
    consumerKey: text("^[A-Za-z0-9_]{1,128}$", "The consumer key, `ck_…`, whose secret is given."),
    topics: optionalList("^order\\.(created|updated)$", "The topics of its webhooks: `order.created`, `order.updated`; default both."),
  },
  auth0: {
    domain: address("^[A-Za-z0-9][A-Za-z0-9-]*(\\.[a-z0-9-]+)?\\.auth0\\.com$", "The tenant's domain, `….auth0.com`."),
    clientId: CLIENT,
    events: { ...EVENTS, description: "The types of log events that the stream sends, such as `s`; default all." },
  },
} as const satisfies Record<string, Record<string, ReconcileOption>>;
export type ReconcilePreset = keyof typeof RECONCILE_PRESETS;

const PRESETS: Readonly<Record<string, Readonly<Record<string, ReconcileOption>>>> = RECONCILE_PRESETS;

interface ReconcileSettings {
  preset?: string;
  source?: string;
  options: Readonly<Record<string, unknown>>;
}

/** Who is given the secrets: the same text for the same code and host. */
export function reconcileRecipient({ preset, source, options }: ReconcileSettings): string {
  const known = preset === undefined ? {} : (PRESETS[preset] ?? {});
  const addresses = Object.keys(known).filter((name) => known[name]?.isAddress);
  return JSON.stringify([preset, source, options.baseUrl, ...addresses.map((name) => options[name])]);
}

/** The defaults of `every` and `lookBack`. */
export const RECONCILE_DEFAULTS = { every: "15m", lookBack: "72h" } as const;

/** For how many days the jobs of passes that came by themselves are kept. */
export const SCHEDULED_JOB_DAYS = 7;
