/** The environment switcher in the top bar. */

import { useQuery } from "@tanstack/react-query";
import { Link, useRouterState } from "@tanstack/react-router";
import { environmentsQuery } from "../api/queries.ts";
import { useSeesBranches } from "../api/session.ts";
import type { Environment } from "../api/types.ts";
import { Icon } from "../ui/icon.tsx";
import { Menu } from "../ui/menu.tsx";
import { messageOf } from "../ui/states.tsx";
import { useEnvironmentColour } from "./environment-colour.ts";
import { environmentTitle, SHARED } from "./environment-names.ts";
import { listOf } from "./navigation.ts";

export function EnvironmentDot({ name }: { name: string }) {
  return <span className="env-dot" style={{ background: useEnvironmentColour(name) }} />;
}

export function EnvironmentSwitcher({ env }: { env: string }) {
  const { data = [], error } = useQuery(environmentsQuery);
  const active = data.filter(({ archivedAt }) => archivedAt === null).reverse();
  const branches = active.filter(({ kind }) => kind === "branch");
  const seesBranches = useSeesBranches();
  return (
    <Menu
      label={`Environment: ${environmentTitle(env)}`}
      className="env-switch"
      button={
        <>
          <EnvironmentDot name={env} />
          <span className="cut">{environmentTitle(env)}</span>
          <Icon name="chevronDown" size={14} />
        </>
      }
    >
      {(close) => (
        <>
          {error && <p className="menu-item quiet">{messageOf(error)}</p>}
          {active
            .filter(({ kind }) => kind !== "branch")
            .map((environment) => (
              <Choice key={environment.name} environment={environment} env={env} close={close} />
            ))}
          {(seesBranches || branches.length > 0) && <div className="env-menu-title">Branches</div>}
          {seesBranches && <Choice environment={{ name: SHARED }} env={env} close={close} />}
          {branches.map((environment) => (
            <Choice key={environment.name} environment={environment} env={env} close={close} />
          ))}
          <hr />
          <Link to="/env/$env/environments" params={{ env }} role="menuitem" className="menu-item" onClick={close}>
            <Icon name="layers" /> Manage environments
          </Link>
        </>
      )}
    </Menu>
  );
}

function Choice({ environment: { name }, env, close }: { environment: Pick<Environment, "name">; env: string; close: () => void }) {
  const to = useRouterState({ select: ({ location }) => listOf(location.pathname) });
  return (
    <Link to={to} params={{ env: name }} role="menuitemradio" aria-checked={name === env} className="menu-item" onClick={close}>
      <EnvironmentDot name={name} />
      <span className="cut grow">{environmentTitle(name)}</span>
      {name === SHARED && <span className="quiet small">shared</span>}
      {name === env && <Icon name="check" />}
    </Link>
  );
}
