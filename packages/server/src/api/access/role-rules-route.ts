/** REST: which roles people get in an environment when they sign in with OpenID Connect. */

import type { FastifyInstance } from "fastify";
import { API_ROLES } from "../../store/contract/index.ts";
import { cutPage, type PageQuery } from "../list-page.ts";
import { closed, PAGE_PARAMETERS } from "../rest-schemas.ts";
import { BOOLEAN, pageOf, shape, TEXT, TEXT_OR_NULL } from "../route-facts.ts";
import { includesEnvironment } from "./grants.ts";
import type { OidcRules } from "./oidc-claims.ts";
import { type AccessRules, environmentOf } from "./rest-access.ts";

export interface RoleRulesRouteParts {
  access: AccessRules;
  /** Null without OpenID Connect. */
  oidc: { settings: OidcRules } | null;
}

const ROLE_RULE = shape(
  {
    claim: { ...TEXT, description: "The name of a claim of the provider, such as `groups`." },
    value: { ...TEXT_OR_NULL, description: "The value that the claim must contain; null: its values are roles." },
    role: { type: ["string", "null"], enum: [...API_ROLES, null], description: "Null: the values of the claim are roles." },
    everywhere: { ...BOOLEAN, description: "Whether it holds in every environment, and not only in some." },
  },
  { title: "RoleRule" },
);

const LIST = {
  summary: "List the rules that give people roles",
  description:
    "The rules of `--oidc-roles` that apply in the environment, in their order. The highest role that a person gets counts. Other environments of a rule are not named. Empty without OpenID Connect.",
  querystring: closed(PAGE_PARAMETERS),
  response: { 200: pageOf(ROLE_RULE) },
} as const;

export function registerRoleRulesRoute(app: FastifyInstance, { access, oidc }: RoleRulesRouteParts): void {
  app.get<{ Querystring: PageQuery }>("/role-rules", { config: { about: "environment" }, schema: LIST }, async (request) => {
    const environment = environmentOf(access, request);
    const rules = (oidc?.settings.roles ?? [])
      .filter(({ environments }) => includesEnvironment(environments, environment))
      .map((rule, index) => ({ ...rule, index }));
    const { items, next } = cutPage(rules, ({ index }) => ({ rank: -index }), request.query);
    return {
      data: items.map(({ claim, given, environments }) => ({
        claim,
        value: given?.value ?? null,
        role: given?.role ?? null,
        everywhere: environments === null,
      })),
      page: { next },
    };
  });
}
