/** The presets by their names: the options of each are in the protocol, and the page that each rests on in the catalogue of providers. */

import type { ReconcilePreset } from "@inlet/protocol";
import type { PageReader } from "../page-reader.ts";
import { auth0 } from "./auth0.ts";
import { bigcommerce } from "./bigcommerce.ts";
import { coinbaseCommerce } from "./coinbase-commerce.ts";
import { github } from "./github.ts";
import { gitlab } from "./gitlab.ts";
import { mailgun } from "./mailgun.ts";
import { paypal } from "./paypal.ts";
import { polar } from "./polar.ts";
import type { Preset, PresetOptions } from "./preset.ts";
import { resend } from "./resend.ts";
import { shopify } from "./shopify.ts";
import { square } from "./square.ts";
import { stripe } from "./stripe.ts";
import { tally } from "./tally.ts";
import { trello } from "./trello.ts";
import { woocommerce } from "./woocommerce.ts";
import { workos } from "./workos.ts";

const PRESETS: Readonly<Record<ReconcilePreset, Preset>> = {
  stripe,
  github,
  shopify,
  square,
  workos,
  paypal,
  "coinbase-commerce": coinbaseCommerce,
  polar,
  gitlab,
  mailgun,
  resend,
  tally,
  trello,
  bigcommerce,
  woocommerce,
  auth0,
};

export function presetReader(name: string, options: PresetOptions): PageReader {
  const preset = PRESETS[name as ReconcilePreset];
  if (!preset) throw new Error(`This release has no preset ${name}.`);
  return preset(options);
}
