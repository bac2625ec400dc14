/** All routes. Pages are loaded on demand, except the first ones that people open, which are part of the main bundle. */

import type { QueryClient } from "@tanstack/react-query";
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet, redirect } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { takeNewVersion } from "./api/new-version.ts";
import { environmentsQuery } from "./api/queries.ts";
import { sessionQuery } from "./api/session.ts";
import { EventPanel } from "./events/event-panel.tsx";
import { readEventSearch } from "./events/event-search.ts";
import { EventsPage } from "./events/events-page.tsx";
import { noteNavigation } from "./lists/kept-position.ts";
import { readSpanSearch } from "./lists/span-search.ts";
import { OverviewPage } from "./overview/overview-page.tsx";
import { readFailureSearch } from "./runs/failure-search.ts";
import { readRunSearch } from "./runs/run-search.ts";
import { readAuditSearch } from "./settings/audit-search.ts";
import { AppShell } from "./shell/app-shell.tsx";
import { NotFound, PageError } from "./shell/page-errors.tsx";
import { loadPart } from "./ui/load-part.ts";
import { readWebhookSearch } from "./webhooks/webhook-search.ts";

/** The export `name` of a file that is loaded when its page is opened. */
function lazyPage<Exports extends Record<Name, () => ReactNode>, Name extends string>(load: () => Promise<Exports>, name: Name) {
  return lazyRouteComponent(() => loadPart(load) as Promise<Record<string, () => ReactNode>>, name);
}

/** Pages are loaded in few files: each request costs more than the bytes of another page. */
const observePages = () => import("./pages/observe-pages.ts");
const buildPages = () => import("./pages/build-pages.ts");
const managePages = () => import("./pages/manage-pages.ts");

const root = createRootRoute({ component: Outlet });

const login = createRoute({
  getParentRoute: () => root,
  path: "/login",
  validateSearch: (search: Record<string, unknown>): { next?: string; expired?: boolean } => ({
    // Only paths of this dashboard, to prevent open redirects.
    ...(typeof search.next === "string" && /^\/(?![/\\])/.test(search.next) && { next: search.next }),
    ...(search.expired === true && { expired: true }),
  }),
  component: lazyPage(managePages, "SignInPage"),
});

/** Stays as it is when its parameters change. */
const remountDeps = () => null;

const env = createRoute({ getParentRoute: () => root, path: "/env/$env", component: AppShell, remountDeps });

const overview = createRoute({
  getParentRoute: () => env,
  path: "/",
  validateSearch: readSpanSearch,
  component: OverviewPage,
});
const events = createRoute({ getParentRoute: () => env, path: "events", validateSearch: readEventSearch, component: EventsPage });
const event = createRoute({ getParentRoute: () => events, path: "$id", component: EventPanel, remountDeps });
const eventTypes = createRoute({
  getParentRoute: () => env,
  path: "event-types",
  component: lazyPage(observePages, "EventTypesPage"),
});
const eventType = createRoute({
  getParentRoute: () => env,
  path: "event-types/$name",
  component: lazyPage(observePages, "EventTypePage"),
});
const runs = createRoute({
  getParentRoute: () => env,
  path: "runs",
  validateSearch: readRunSearch,
  component: lazyPage(observePages, "RunsPage"),
});
const run = createRoute({
  getParentRoute: () => env,
  path: "runs/$id",
  component: lazyPage(observePages, "RunPage"),
});
const failures = createRoute({
  getParentRoute: () => env,
  path: "failures",
  validateSearch: readFailureSearch,
  component: lazyPage(observePages, "FailuresPage"),
});
const approvals = createRoute({
  getParentRoute: () => env,
  path: "approvals",
  component: lazyPage(observePages, "ApprovalsPage"),
});
const jobs = createRoute({
  getParentRoute: () => env,
  path: "jobs",
  component: lazyPage(observePages, "JobsPage"),
});
const job = createRoute({
  getParentRoute: () => env,
  path: "jobs/$id",
  component: lazyPage(observePages, "JobPage"),
});
const alerts = createRoute({
  getParentRoute: () => env,
  path: "alerts",
  component: lazyPage(observePages, "AlertsPage"),
});
const functions = createRoute({
  getParentRoute: () => env,
  path: "functions",
  component: lazyPage(buildPages, "FunctionsPage"),
});
const fn = createRoute({
  getParentRoute: () => env,
  path: "functions/$id",
  validateSearch: readSpanSearch,
  component: lazyPage(buildPages, "FunctionPage"),
});
const apps = createRoute({
  getParentRoute: () => env,
  path: "apps",
  component: lazyPage(buildPages, "AppsPage"),
});
const webhooks = createRoute({
  getParentRoute: () => env,
  path: "webhooks",
  component: lazyPage(buildPages, "WebhooksPage"),
});
const webhookNew = createRoute({
  getParentRoute: () => env,
  path: "webhooks/new",
  component: lazyPage(buildPages, "NewWebhookPage"),
});
const webhook = createRoute({
  getParentRoute: () => env,
  path: "webhooks/$id",
  validateSearch: readWebhookSearch,
  component: lazyPage(buildPages, "WebhookPage"),
});
const keys = createRoute({
  getParentRoute: () => env,
  path: "keys",
  component: lazyPage(managePages, "KeysPage"),
});
const environments = createRoute({
  getParentRoute: () => env,
  path: "environments",
  component: lazyPage(managePages, "EnvironmentsPage"),
});
const auditLog = createRoute({
  getParentRoute: () => env,
  path: "audit-log",
  validateSearch: readAuditSearch,
  component: lazyPage(managePages, "AuditLogPage"),
});
const missing = createRoute({ getParentRoute: () => env, path: "$", component: NotFound });
const settings = createRoute({
  getParentRoute: () => env,
  path: "settings",
  component: lazyPage(managePages, "SettingsPage"),
});

export function createDashboardRouter(queries: QueryClient) {
  /** `/` is the overview of the default environment. */
  const home = createRoute({
    getParentRoute: () => root,
    path: "/",
    beforeLoad: async () => {
      throw redirect({ to: "/env/$env", params: { env: await defaultEnvironment(queries) }, replace: true });
    },
  });
  const pages = [overview, events.addChildren([event]), eventTypes, eventType, runs, run, failures, approvals, jobs, job, alerts];
  const ofEnvironment = [...pages, functions, fn, apps, webhooks, webhookNew, webhook, keys, environments, auditLog, settings, missing];
  /** A path without an environment, such as `/events`, redirects to the default environment, which says if there is no such page. */
  const withoutEnvironment = createRoute({
    getParentRoute: () => root,
    path: "$",
    beforeLoad: async ({ params: { _splat: path = "" }, location }) => {
      const env = encodeURIComponent(await defaultEnvironment(queries));
      const rest = path === "env" ? "" : `${location.pathname}${location.searchStr}`;
      throw redirect({ href: `/env/${env}${rest}`, replace: true });
    },
  });
  const routeTree = root.addChildren([home, login, env.addChildren(ofEnvironment), withoutEnvironment]);
  const router = createRouter({
    routeTree,
    defaultErrorComponent: PageError,
    defaultPreload: "intent",
    scrollRestoration: false,
    // The page of another object or environment is another page: an open dialog, and what is typed, are not about it.
    defaultRemountDeps: ({ params }) => params,
  });
  router.history.subscribe(({ action }) => noteNavigation(action.type));
  router.subscribe("onBeforeLoad", ({ pathChanged, toLocation }) => {
    if (pathChanged) void takeNewVersion(toLocation.href);
  });
  return router;
}

const PARTS = [
  ...[observePages, buildPages, managePages],
  ...[() => import("./events/events-chart.tsx"), () => import("./runs/runs-chart.tsx"), () => import("./ui/chart.tsx")],
];

/**
 * Preloads all pages except the editor, so that they open immediately, even while the service is down.
 */
export function preloadPages(): void {
  for (const load of PARTS) void load().catch(() => {});
}

async function defaultEnvironment(queries: QueryClient): Promise<string> {
  const { defaultEnvironment: preferred } = await queries.ensureQueryData(sessionQuery);
  // The key may be restricted to other environments.
  const all = await queries.ensureQueryData(environmentsQuery).catch(() => []);
  return all.length === 0 || all.some(({ name }) => name === preferred) ? preferred : (all[0]?.name ?? preferred);
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createDashboardRouter>;
  }
}
