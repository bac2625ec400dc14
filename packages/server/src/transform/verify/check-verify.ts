/** Validates the settings of a verification and fills in defaults: the rules that a JSON schema cannot express. */

import type { VerifyScheme, WebhookVerify } from "@inlet/protocol";
import { templateFault } from "./signed-template.ts";
import { secretFault } from "./verify-request.ts";

export type GivenVerify = Omit<WebhookVerify, "toleranceSeconds"> & { toleranceSeconds?: number };

export interface VerifySettingFault {
  field: string;
  message: string;
}

const TOLERANCE_SECONDS_DEFAULT = 300;

type OwnField = Exclude<keyof WebhookVerify, "scheme" | "toleranceSeconds">;

/** The fields of each scheme in addition to the common ones; `true` if required. */
const FIELDS: Readonly<Partial<Record<VerifyScheme, Partial<Record<OwnField, boolean>>>>> = {
  hmac: { header: true, algorithm: false, prefix: false, encoding: false, signed: false, timestampHeader: false },
  basic: { user: true },
  header: { header: true },
  stripe: { header: false },
};
const HMAC_DEFAULTS = { algorithm: "sha256", prefix: "", encoding: "hex", signed: "{raw}" } as const;

export function completeVerify({ scheme, toleranceSeconds = TOLERANCE_SECONDS_DEFAULT, ...given }: GivenVerify): WebhookVerify {
  return { scheme, toleranceSeconds, ...(scheme === "hmac" && HMAC_DEFAULTS), ...given };
}

/** Null if they are valid. Messages never contain a secret. */
export function verifySettingFault(verify: WebhookVerify, secrets: readonly string[]): VerifySettingFault | null {
  const own = FIELDS[verify.scheme] ?? {};
  const { scheme: _, toleranceSeconds: __, ...given } = verify;
  const strange = Object.keys(given).find((name) => !(name in own));
  if (strange !== undefined) return { field: strange, message: `does not belong to the scheme ${verify.scheme}` };
  const needed = Object.entries(own).find(([name, isNeeded]) => isNeeded && !(name in given));
  if (needed) return { field: needed[0], message: `is required by the scheme ${verify.scheme}` };
  if (verify.user?.includes(":")) return { field: "user", message: "must not contain a colon" };
  const template = verify.signed === undefined ? null : templateFault(verify.signed, verify.timestampHeader !== undefined);
  if (template !== null) return { field: "signed", message: template };
  const secret = secrets.map((text) => secretFault(verify, text)).find((fault) => fault !== null);
  return secret == null ? null : { field: "secrets", message: `holds a secret that ${secret}` };
}
