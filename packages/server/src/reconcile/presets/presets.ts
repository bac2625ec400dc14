/** The presets by their names: the options of each are in the protocol, and the page that each rests on in the catalogue of providers. */

import type { ReconcilePreset } from "@inlet/protocol";
import type { PageReader } from "../page-reader.ts";
import { github } from "./github.ts";
import type { Preset, PresetOptions } from "./preset.ts";
import { shopify } from "./shopify.ts";
import { square } from "./square.ts";
import { stripe } from "./stripe.ts";
import { workos } from "./workos.ts";

const PRESETS: Readonly<Record<ReconcilePreset, Preset>> = { stripe, github, shopify, square, workos };

export function presetReader(name: string, options: PresetOptions): PageReader {
  const preset = PRESETS[name as ReconcilePreset];
  if (!preset) throw new Error(`This release has no preset ${name}.`);
  return preset(options);
}
