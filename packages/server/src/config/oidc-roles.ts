/**
 * The setting `--oidc-roles`: `claim:value=role`, `claim:value=role@environment`, or a bare claim whose values are roles. After a role with
 * `@`, items without `=` are further environments of it, so a bare claim stands before the first `@`.
 */

import { ENVIRONMENT_PATTERN_RULE, isEnvironmentPattern } from "@inlet/protocol";
import { type Reading, SettingFault } from "./readings.ts";

export interface OidcRole {
  claim: string;
  /** Null: the claim's own values are roles. */
  given: { value: string; role: string } | null;
  /** Null: the role holds everywhere. */
  environments: readonly string[] | null;
}

const ROLES = ["owner", "admin", "operator", "viewer", "metrics", "ingest-admin"];
const RULE = /^([^:=@\s]+):([^=]+)=([^@\s]+)(?:@(\S*))?$/;
const BARE_CLAIM = /^[^:=@\s]+$/;

export function oidcRoles(): Reading<OidcRole[]> {
  return {
    placeholder: "claim:value=role[@environment,…][,…]",
    isList: true,
    parse: (given) => given.split(",").reduce<OidcRole[]>((rules, item) => withItem(rules, item.trim()), []),
  };
}

function withItem(rules: readonly OidcRole[], item: string): OidcRole[] {
  if (item.includes("=")) return [...rules, readRule(item)];
  if (!rules.some(({ environments }) => environments !== null)) return [...rules, readBareClaim(item)];
  const last = rules.at(-1);
  if (!last?.environments) throw new SettingFault(`has "${item}" after a role without @, which holds in every environment already`);
  return [...rules.slice(0, -1), { ...last, environments: [...last.environments, readEnvironment(item)] }];
}

function readRule(item: string): OidcRole {
  const [, claim = "", value = "", role = "", environment] = RULE.exec(item) ?? [];
  if (claim === "") throw new SettingFault(EXAMPLES);
  if (!ROLES.includes(role)) throw new SettingFault(`must name one of the roles ${ROLES.join(", ")}`);
  return { claim, given: { value, role }, environments: environment === undefined ? null : [readEnvironment(environment)] };
}

const EXAMPLES = "must be claim:value=role or claim:value=role@environment, such as groups:ops=operator, or the name of a claim";

function readBareClaim(item: string): OidcRole {
  if (!BARE_CLAIM.test(item)) throw new SettingFault(EXAMPLES);
  return { claim: item, given: null, environments: null };
}

function readEnvironment(item: string): string {
  if (!isEnvironmentPattern(item)) throw new SettingFault(`names the environment "${item}", which ${ENVIRONMENT_PATTERN_RULE}`);
  return item;
}
