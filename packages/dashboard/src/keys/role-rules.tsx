/** Which roles people have in the environment when they sign in with the provider. Not shown where nobody signs in like that. */

import { useQuery } from "@tanstack/react-query";
import { roleRulesQuery } from "../api/queries.ts";
import { environmentTitle } from "../shell/environment-names.ts";
import { Table } from "../ui/table.tsx";

export function RoleRules({ env }: { env: string }) {
  const { data: rules = [] } = useQuery(roleRulesQuery(env));
  if (rules.length === 0) return null;
  return (
    <section className="card" aria-label="Roles of people">
      <div className="card-head">
        <div className="grow">
          <h2>
            Roles of people <span className="quiet">in {environmentTitle(env)}</span>
          </h2>
          <p className="quiet small">
            Whoever signs in with your provider has the highest role that a rule gives. The rules are set with <code>--oidc-roles</code>.
          </p>
        </div>
      </div>
      <Table columns={["Claim", "Value", "Role", "Holds"]} isFramed isStacked>
        {rules.map(({ claim, value, role, everywhere }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the rules never change while the service runs
          <tr key={index}>
            <td className="strong">{claim}</td>
            <td data-label="Value" className="second">
              {value ?? "a role"}
            </td>
            <td data-label="Role" className="second">
              {role ?? "the value of the claim"}
            </td>
            <td data-label="Holds" className="second">
              {everywhere ? "in every environment" : "here, not in every environment"}
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
