/**
 * `verify`, `handshake`, `answer`, `mirror` and `reconcile` of a webhook as REST accepts and shows them. Secrets are accepted and never shown: a
 * response contains only the last four characters of secrets that are long enough.
 */

import {
  HANDSHAKE_PRESETS,
  type HandshakePreset,
  isOtherHandshakeSource,
  VERIFY_SCHEMES,
  type WebhookAnswer,
  type WebhookHandshake,
  type WebhookVerify,
} from "@inlet/protocol";
import { SECRETS_MAX, type Webhook, type WebhookChanges, type WebhookMirror, type WebhookSecrets } from "../../store/contract/index.ts";
import { invalid, RestRefusal } from "../rest-errors.ts";
import { closed } from "../rest-schemas.ts";
import { listOf, shape, TEXT_OR_NULL } from "../route-facts.ts";
import { HTTP_HEADER } from "../text-patterns.ts";
import {
  type GivenReconcile,
  RECONCILE_FIELDS,
  RECONCILE_SHOWN,
  readReconcile,
  reconcileView,
  SOURCE_UNITS_MAX,
} from "./reconcile-settings.ts";

type GivenVerify = Omit<WebhookVerify, "toleranceSeconds"> & { toleranceSeconds?: number };

/** The fields of a request body. */
export interface GivenSettings {
  verify?: (GivenVerify & { secrets?: string[] }) | null;
  handshake?: { preset?: HandshakePreset; source?: string; secrets?: string[] } | null;
  answer?: Partial<WebhookAnswer> | null;
  mirror?: { to: string[]; sample?: number } | null;
  reconcile?: GivenReconcile | null;
}

export interface SettingsParts {
  completeVerify(given: GivenVerify): WebhookVerify;
  /** Returns their fault, or null. */
  verifySettingFault(verify: WebhookVerify, secrets: readonly string[]): { field: string; message: string } | null;
  /** Returns the fault of the source of a transform, a handshake or a reconciliation, or null. */
  checkTransform(source: string, entry?: "transform" | "handshake" | "request" | "read"): Promise<SourceFault | null>;
  now: () => number;
}

interface SourceFault {
  message: string;
  line?: number;
  column?: number;
}

type Settings = Pick<WebhookChanges, "verify" | "handshake" | "answer" | "mirror" | "reconcile" | "secrets">;

const LAST_SHOWN = 4;
/** The last four characters of a shorter secret would reveal too much. */
const SHOWN_UNITS_MIN = 12;
const TOLERANCE_SECONDS_MAX = 604_800;
const SECRET_UNITS_MAX = 1_024;
const BODY_UNITS_MAX = 8_192;
const HEADER_NAME = { type: "string", pattern: HTTP_HEADER } as const;
const NO_CONTENT = 204;
/** Presets that return or compare a secret. */
const NEEDS_SECRET: ReadonlySet<string> = new Set(["meta", "x", "zoom"]);

const SECRETS = {
  type: "array",
  minItems: 1,
  maxItems: SECRETS_MAX,
  items: { type: "string", minLength: 1, maxLength: SECRET_UNITS_MAX },
  description: "Any one of them may match. Write-only: they are never shown. If absent, the current ones are kept.",
} as const;
const VERIFY_FIELDS = {
  scheme: { type: "string", enum: VERIFY_SCHEMES },
  toleranceSeconds: {
    type: "integer",
    minimum: 1,
    maximum: TOLERANCE_SECONDS_MAX,
    description: "How many seconds its timestamp may differ from the current time, in either direction; default 300.",
  },
  header: {
    ...HEADER_NAME,
    description: "`hmac`, `header`: the header with the signature or the secret. `stripe`: if not Stripe-Signature.",
  },
  algorithm: { type: "string", enum: ["sha1", "sha256", "sha512"] },
  prefix: { type: "string", maxLength: 64, description: "The prefix of the signature, such as `sha256=`." },
  encoding: { type: "string", enum: ["hex", "base64"] },
  signed: { type: "string", minLength: 1, maxLength: 512, description: "A template of {raw}, {timestamp}, {url} and {header:Name}." },
  timestampHeader: HEADER_NAME,
  user: { type: "string", maxLength: 256, description: "`basic`: the user name." },
} as const;
const SOURCE = { type: "string", minLength: 1, maxLength: SOURCE_UNITS_MAX, description: "JavaScript that defines `handshake`." } as const;
const PRESET = { type: "string", enum: HANDSHAKE_PRESETS } as const;
const ANSWER_FIELDS = {
  status: { type: "integer", enum: [200, 201, 202, NO_CONTENT] },
  contentType: { type: "string", enum: ["text/plain", "application/json", "application/xml", "text/xml"] },
  body: { type: "string", maxLength: BODY_UNITS_MAX },
} as const;
const MIRROR_FIELDS = {
  to: {
    type: "array",
    minItems: 1,
    maxItems: 20,
    items: { type: "string", minLength: 1, maxLength: 128 },
    description: "Names of branch environments; one may end in `*`.",
  },
  sample: { type: "number", exclusiveMinimum: 0, maximum: 1, description: "The fraction of the requests that is mirrored; default 1." },
} as const;

function orNull(schema: object, description: string) {
  return { description, anyOf: [{ type: "null" }, schema] } as const;
}

const ABOUT = {
  verify: "How requests are verified before the transform. Null: not at all.",
  handshake: "How the provider's check of the URL is answered: by a preset or by `source`. Null: not at all.",
  answer: "The response to an accepted request instead of the ids, or null.",
  mirror: "Branch environments that get a copy of accepted events, or null.",
  reconcile: "How the provider's own list is compared with the received requests: by a preset or by `source`. Null: not at all.",
} as const;

export const SETTINGS_FIELDS = {
  verify: orNull(closed({ ...VERIFY_FIELDS, secrets: SECRETS }, ["scheme"]), ABOUT.verify),
  handshake: orNull(closed({ preset: PRESET, source: SOURCE, secrets: SECRETS }), ABOUT.handshake),
  answer: orNull(closed(ANSWER_FIELDS), ABOUT.answer),
  mirror: orNull(closed(MIRROR_FIELDS, ["to"]), ABOUT.mirror),
  reconcile: orNull(RECONCILE_FIELDS, ABOUT.reconcile),
} as const;

const SECRETS_SHOWN = listOf(shape({ last4: { ...TEXT_OR_NULL, description: "Null where the secret has fewer than 12 characters." } }));

export const SETTINGS_SHOWN = {
  verify: orNull(
    shape(
      { ...VERIFY_FIELDS, secrets: SECRETS_SHOWN },
      { optional: Object.keys(VERIFY_FIELDS).filter((name) => name !== "scheme" && name !== "toleranceSeconds") },
    ),
    ABOUT.verify,
  ),
  handshake: orNull(
    shape({ preset: PRESET, source: SOURCE, secrets: SECRETS_SHOWN }, { optional: ["preset", "source", "secrets"] }),
    ABOUT.handshake,
  ),
  answer: orNull(shape(ANSWER_FIELDS), ABOUT.answer),
  mirror: orNull(shape(MIRROR_FIELDS), ABOUT.mirror),
  reconcile: orNull(shape({ ...RECONCILE_SHOWN.fields, secrets: SECRETS_SHOWN }, { optional: RECONCILE_SHOWN.optional }), ABOUT.reconcile),
  state: {
    type: "string",
    enum: ["ready", "waiting_for_secret"],
    description:
      "`waiting_for_secret`: `verify` has no secrets yet. Until they are set, requests are recorded and refused with `secret_missing`.",
  },
} as const;

export function settingsView({ verify, handshake, answer, mirror, reconcile, secrets }: Webhook) {
  return {
    verify: verify && { ...verify, secrets: secrets.verify.map(shown) },
    handshake: handshake && { ...handshake, ...(secrets.handshake && { secrets: secrets.handshake.map(shown) }) },
    answer,
    mirror,
    reconcile: reconcile && { ...reconcileView(reconcile), secrets: secrets.reconcile.map(shown) },
    state: verify && secrets.verify.length === 0 ? ("waiting_for_secret" as const) : ("ready" as const),
  };
}

/**
 * The changes of the given fields. Throws a RestRefusal that names the fault. A new webhook may wait for its secret, because some providers
 * show the secret only once they have the URL; a webhook in use may not, because it would refuse everything.
 */
export async function readSettings(
  parts: SettingsParts,
  given: GivenSettings,
  current: Pick<Webhook, "verify" | "handshake" | "reconcile" | "secrets">,
  { isNew }: { isNew: boolean },
): Promise<Settings> {
  const { verify: _, handshake: __, answer, mirror, reconcile } = given;
  const secrets: { -readonly [Name in "verify" | "handshake" | "reconcile"]?: WebhookSecrets[Name] } = {};
  if (given.verify?.secrets) secrets.verify = given.verify.secrets;
  if (given.handshake?.secrets) secrets.handshake = given.handshake.secrets;
  if (reconcile?.secrets) secrets.reconcile = reconcile.secrets;
  const settings: Settings = {
    ...(given.verify !== undefined && { verify: readVerify(parts, given.verify) }),
    ...(given.handshake !== undefined && { handshake: await readHandshake(parts, given.handshake) }),
    ...(answer !== undefined && { answer: readAnswer(answer) }),
    ...(mirror !== undefined && { mirror: readMirror(mirror) }),
    ...(reconcile !== undefined && { reconcile: reconcile && (await readReconcile(parts, reconcile, current)) }),
    secrets,
  };
  checkSecrets(parts, given, settings, current, isNew || (current.verify !== null && current.secrets.verify.length === 0));
  return settings;
}

function readVerify(parts: SettingsParts, given: NonNullable<GivenSettings["verify"]> | null): WebhookVerify | null {
  if (!given) return null;
  const { secrets: _, ...verify } = given;
  return parts.completeVerify(verify);
}

async function readHandshake(parts: SettingsParts, given: GivenSettings["handshake"]): Promise<WebhookHandshake | null> {
  if (!given) return null;
  const { preset, source } = given;
  if ((preset === undefined) === (source === undefined)) throw invalid("handshake", "must have either preset or source");
  if (preset !== undefined) return { preset };
  const fault = await parts.checkTransform(source as string, "handshake");
  if (!fault) return { source: source as string };
  throw new RestRefusal("request_invalid", `The handshake cannot be used: ${fault.message}.`, [{ field: "handshake.source", ...fault }]);
}

function readAnswer(given: Partial<WebhookAnswer> | null): WebhookAnswer | null {
  if (!given) return null;
  const { status = 200, contentType = "text/plain", body = "" } = given;
  if (status === NO_CONTENT && body !== "") throw invalid("answer.body", "must be empty when the status is 204");
  if (Buffer.byteLength(body) > BODY_UNITS_MAX) throw invalid("answer.body", `must have at most ${BODY_UNITS_MAX} bytes`);
  return { status, contentType, body };
}

function readMirror(given: GivenSettings["mirror"]): WebhookMirror | null {
  if (!given) return null;
  const wrong = given.to.find((name) => !/^[A-Za-z0-9._/-]*\*?$/.test(name));
  if (wrong !== undefined) throw invalid("mirror.to", `"${wrong}" is not the name of an environment, nor one that ends in *`);
  return { to: given.to, sample: given.sample ?? 1 };
}

/** Checks that the resulting secrets are valid for the scheme, and present if required. */
function checkSecrets(
  parts: SettingsParts,
  given: GivenSettings,
  settings: Settings,
  current: Pick<Webhook, "verify" | "handshake" | "secrets">,
  mayWait: boolean,
): void {
  const verify = settings.verify === undefined ? current.verify : settings.verify;
  const handshake = settings.handshake === undefined ? current.handshake : settings.handshake;
  const known = verify ? (settings.secrets?.verify ?? current.secrets.verify) : [];
  const preset = handshake && "preset" in handshake ? handshake.preset : null;
  if (verify && given.verify) {
    const fault = parts.verifySettingFault(verify, known);
    if (fault) throw invalid(`verify.${fault.field}`, fault.message);
    // Asana sends its secret.
    if (known.length === 0 && preset !== "asana" && !mayWait) throw invalid("verify.secrets", "is required");
  }
  if (isOtherHandshakeSource(settings.handshake, current.handshake) && current.secrets.handshake && !given.handshake?.secrets)
    throw invalid("handshake.secrets", "must be given again, because the source changed: stored secrets are not given to new code");
  const forHandshake = settings.secrets?.handshake ?? current.secrets.handshake ?? known;
  if (preset && given.handshake && NEEDS_SECRET.has(preset) && forHandshake.length === 0 && !(verify && mayWait)) {
    throw invalid("handshake.secrets", `is required by the preset ${preset}, unless verify has secrets`);
  }
}

function shown(secret: string): { last4: string | null } {
  return { last4: secret.length < SHOWN_UNITS_MIN ? null : secret.slice(-LAST_SHOWN) };
}
