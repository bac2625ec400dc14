/** The layout around every page of an environment. */

import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useParams, useRouterState } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { environmentsQuery } from "../api/queries.ts";
import { sessionQuery } from "../api/session.ts";
import { OpenApprovals } from "../approvals/open-count.tsx";
import { Icon } from "../ui/icon.tsx";
import { Notice } from "../ui/states.tsx";
import { Toasts } from "../ui/toasts.tsx";
import { AlertBanner } from "./alert-banner.tsx";
import { useEnvironmentColour } from "./environment-colour.ts";
import { environmentTitle } from "./environment-names.ts";
import { EnvironmentSwitcher } from "./environment-switcher.tsx";
import { ExistingEnvironment } from "./existing-environment.tsx";
import { FindEvent } from "./find-event.tsx";
import { NAVIGATION, pageOf } from "./navigation.ts";
import { usePageTitle } from "./page-title.tsx";
import { ServiceNotices } from "./service-notices.tsx";
import { Shortcuts } from "./shortcuts.tsx";
import { ThemeButton } from "./theme.tsx";
import { TimeZoneButton } from "./time-zone-button.tsx";
import { UserMenu } from "./user-menu.tsx";

export function AppShell() {
  const { env } = useParams({ from: "/env/$env" });
  const colour = useEnvironmentColour(env);
  const object = usePageTitle();
  const [menuOpen, setMenuOpen] = useState(false);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the drawer closes on navigation
  useEffect(() => setMenuOpen(false), [path]);
  return (
    <div className="shell" style={{ "--env-colour": colour } as React.CSSProperties}>
      <title>{`${object === null ? "" : `${object} · `}${pageOf(path)?.label ?? "Page not found"} · ${environmentTitle(env)} · Inlet`}</title>
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <header className="topbar">
        <Link to="/env/$env" params={{ env }} className="brand">
          <img src="/favicon.svg" alt="" /> Inlet
        </Link>
        <button
          type="button"
          className="button bare icon menu-button"
          aria-label="Menu"
          aria-expanded={menuOpen}
          onClick={() => setMenuOpen(!menuOpen)}
        >
          <Icon name="menu" />
        </button>
        <EnvironmentSwitcher env={env} />
        <FindEvent env={env} />
        <TimeZoneButton />
        <ThemeButton />
        <UserMenu />
      </header>
      {menuOpen && <button type="button" className="scrim" aria-label="Close the menu" onClick={() => setMenuOpen(false)} />}
      <nav className={`sidebar${menuOpen ? " open" : ""}`} aria-label="Pages">
        {NAVIGATION.map(({ title, items }) => (
          <div key={title}>
            <div className="nav-title">{title}</div>
            {items.map(({ to, label, icon }) => (
              <Link
                key={to}
                to={to}
                params={{ env }}
                className="nav-link"
                activeProps={{ className: "active" }}
                activeOptions={{ exact: to === "/env/$env", includeSearch: false }}
              >
                <Icon name={icon} /> {label}
                {to === "/env/$env/approvals" && <OpenApprovals env={env} />}
              </Link>
            ))}
          </div>
        ))}
        <a href="/docs" className="nav-link" target="_blank" rel="noreferrer">
          <Icon name="book" /> Documentation
        </a>
        <Version />
      </nav>
      <main className="main" id="main" tabIndex={-1}>
        <ServiceNotices />
        <ArchivedNotice env={env} />
        <AlertBanner env={env} />
        <ExistingEnvironment env={env}>
          <Outlet />
        </ExistingEnvironment>
      </main>
      <Shortcuts env={env} />
      <Toasts />
    </div>
  );
}

function ArchivedNotice({ env }: { env: string }) {
  const { data = [] } = useQuery(environmentsQuery);
  if (!data.some(({ name, archivedAt }) => name === env && archivedAt !== null)) return null;
  return (
    <div className="main-notice">
      <Notice kind="warn" icon="slash">
        This environment is archived. Its events can be read, but it accepts no events and runs no functions.{" "}
        <Link to="/env/$env/environments" params={{ env }}>
          Manage environments
        </Link>
      </Notice>
    </div>
  );
}

function Version() {
  const { data } = useQuery(sessionQuery);
  if (!data) return null;
  return (
    <div className="sidebar-foot">
      Inlet {data.version}
      {data.mode === "dev" && " · dev server"}
    </div>
  );
}
