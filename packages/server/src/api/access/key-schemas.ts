/** Keys in the OpenAPI document. */

import { API_ROLES, KEY_KINDS } from "../../store/contract/index.ts";
import { nameText } from "../name-text.ts";
import { ACCEPT_LIST, closed } from "../rest-schemas.ts";
import { INSTANT, INSTANT_OR_NULL, shape, TEXT, TEXT_OR_NULL } from "../route-facts.ts";

const RULES = {
  name: nameText(128),
  role: { type: "string", enum: API_ROLES, description: "API keys only; default admin. `read` is another name for `viewer`." },
  environments: {
    type: ["array", "null"],
    minItems: 1,
    maxItems: 1000,
    uniqueItems: true,
    items: { type: "string" },
    description:
      "API keys only: the environments it is restricted to: names, prefixes such as `payments-*`, and `branch` for every branch environment. Null: all.",
  },
  eventNames: ACCEPT_LIST,
  ips: ACCEPT_LIST,
};

export const CHANGE_KEY = closed({ ...RULES, role: { ...RULES.role, description: "API keys only." } });

export const CREATE_KEY = closed(
  {
    kind: { type: "string", enum: KEY_KINDS },
    environment: {
      type: "string",
      description: "Event and signing keys: the environment, or `branch` for all branch environments; default: that of x-service-env.",
    },
    ...RULES,
  },
  ["kind", "name"],
);

const KEY_FIELDS = {
  id: TEXT,
  kind: { type: "string", enum: KEY_KINDS },
  name: TEXT,
  prefix: { type: "string", description: "Its first characters, which identify it to people." },
  environment: { ...TEXT_OR_NULL, description: "Event and signing keys only. Null: a signing key that is valid in every environment." },
  eventNames: ACCEPT_LIST,
  ips: ACCEPT_LIST,
  role: { type: "string", enum: API_ROLES, description: "API keys only." },
  environments: {
    type: ["array", "null"],
    items: TEXT,
    description: "API keys only: the environments it is restricted to, or null for all.",
  },
  createdAt: INSTANT,
  revokedAt: INSTANT_OR_NULL,
};
const SOME_KINDS_ONLY = ["environment", "eventNames", "ips", "role", "environments"];

export const KEY = shape(KEY_FIELDS, { optional: SOME_KINDS_ONLY, title: "Key" });
export const NEW_KEY = shape(
  { ...KEY_FIELDS, key: { type: "string", description: "The key itself, which is shown only once." } },
  { optional: SOME_KINDS_ONLY, title: "NewKey" },
);
