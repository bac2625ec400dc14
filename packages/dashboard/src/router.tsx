/** All routes. Pages are loaded on demand, except the events page, which is part of the main bundle. */

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
import { readFailureSearch } from "./runs/failure-search.ts";
import { readRunSearch } from "./runs/run-search.ts";
import { AppShell } from "./shell/app-shell.tsx";
import { NotFound, PageError } from "./shell/page-errors.tsx";
import { loadPart } from "./ui/load-part.ts";
import { readWebhookSearch } from "./webhooks/webhook-search.ts";

/** The export `name` of a file that is loaded when its page is opened. */
function lazyPage<Exports extends Record<Name, () => ReactNode>, Name extends string>(load: () => Promise<Exports>, name: Name) {
  return lazyRouteComponent(() => loadPart(load) as Promise<Record<string, () => ReactNode>>, name);
}

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound });

const login = createRoute({
  getParentRoute: () => root,
  path: "/login",
  validateSearch: (search: Record<string, unknown>): { next?: string; expired?: boolean } => ({
    // Only paths of this dashboard, to prevent open redirects.
    ...(typeof search.next === "string" && /^\/(?![/\\])/.test(search.next) && { next: search.next }),
    ...(search.expired === true && { expired: true }),
  }),
  component: lazyPage(() => import("./sign-in/sign-in-page.tsx"), "SignInPage"),
});

const env = createRoute({ getParentRoute: () => root, path: "/env/$env", component: AppShell });

const overview = createRoute({
  getParentRoute: () => env,
  path: "/",
  validateSearch: readSpanSearch,
  component: lazyPage(() => import("./overview/overview-page.tsx"), "OverviewPage"),
});
const events = createRoute({ getParentRoute: () => env, path: "events", validateSearch: readEventSearch, component: EventsPage });
const event = createRoute({ getParentRoute: () => events, path: "$id", component: EventPanel });
const eventTypes = createRoute({
  getParentRoute: () => env,
  path: "event-types",
  component: lazyPage(() => import("./event-types/event-types-page.tsx"), "EventTypesPage"),
});
const eventType = createRoute({
  getParentRoute: () => env,
  path: "event-types/$name",
  component: lazyPage(() => import("./event-types/event-type-page.tsx"), "EventTypePage"),
});
const runs = createRoute({
  getParentRoute: () => env,
  path: "runs",
  validateSearch: readRunSearch,
  component: lazyPage(() => import("./runs/runs-page.tsx"), "RunsPage"),
});
const run = createRoute({
  getParentRoute: () => env,
  path: "runs/$id",
  component: lazyPage(() => import("./runs/run-page.tsx"), "RunPage"),
});
const failures = createRoute({
  getParentRoute: () => env,
  path: "failures",
  validateSearch: readFailureSearch,
  component: lazyPage(() => import("./runs/failures-page.tsx"), "FailuresPage"),
});
const jobs = createRoute({
  getParentRoute: () => env,
  path: "jobs",
  component: lazyPage(() => import("./jobs/jobs-page.tsx"), "JobsPage"),
});
const job = createRoute({
  getParentRoute: () => env,
  path: "jobs/$id",
  component: lazyPage(() => import("./jobs/job-page.tsx"), "JobPage"),
});
const alerts = createRoute({
  getParentRoute: () => env,
  path: "alerts",
  component: lazyPage(() => import("./alerts/alerts-page.tsx"), "AlertsPage"),
});
const functions = createRoute({
  getParentRoute: () => env,
  path: "functions",
  component: lazyPage(() => import("./functions/functions-page.tsx"), "FunctionsPage"),
});
const fn = createRoute({
  getParentRoute: () => env,
  path: "functions/$id",
  validateSearch: readSpanSearch,
  component: lazyPage(() => import("./functions/function-page.tsx"), "FunctionPage"),
});
const apps = createRoute({
  getParentRoute: () => env,
  path: "apps",
  component: lazyPage(() => import("./apps/apps-page.tsx"), "AppsPage"),
});
const webhooks = createRoute({
  getParentRoute: () => env,
  path: "webhooks",
  component: lazyPage(() => import("./webhooks/webhooks-page.tsx"), "WebhooksPage"),
});
const webhookNew = createRoute({
  getParentRoute: () => env,
  path: "webhooks/new",
  component: lazyPage(() => import("./webhooks/new-webhook-page.tsx"), "NewWebhookPage"),
});
const webhook = createRoute({
  getParentRoute: () => env,
  path: "webhooks/$id",
  validateSearch: readWebhookSearch,
  component: lazyPage(() => import("./webhooks/webhook-page.tsx"), "WebhookPage"),
});
const keys = createRoute({
  getParentRoute: () => env,
  path: "keys",
  component: lazyPage(() => import("./keys/keys-page.tsx"), "KeysPage"),
});
const environments = createRoute({
  getParentRoute: () => env,
  path: "environments",
  component: lazyPage(() => import("./environments/environments-page.tsx"), "EnvironmentsPage"),
});
const auditLog = createRoute({
  getParentRoute: () => env,
  path: "audit-log",
  component: lazyPage(() => import("./settings/audit-log-page.tsx"), "AuditLogPage"),
});
const settings = createRoute({
  getParentRoute: () => env,
  path: "settings",
  component: lazyPage(() => import("./settings/settings-page.tsx"), "SettingsPage"),
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
  const pages = [overview, events.addChildren([event]), eventTypes, eventType, runs, run, failures, jobs, job, alerts, functions, fn];
  const ofEnvironment = [...pages, apps, webhooks, webhookNew, webhook, keys, environments, auditLog, settings];
  const names = new Set(ofEnvironment.map(({ options }) => firstSegment("path" in options ? options.path : "")));
  /** A path without an environment, such as `/events`, redirects to the default environment. */
  const withoutEnvironment = createRoute({
    getParentRoute: () => root,
    path: "$",
    component: NotFound,
    beforeLoad: async ({ params: { _splat: path = "" }, location }) => {
      if (firstSegment(path) === "" || !names.has(firstSegment(path))) return;
      const env = encodeURIComponent(await defaultEnvironment(queries));
      throw redirect({ href: `/env/${env}${location.pathname}${location.searchStr}`, replace: true });
    },
  });
  const routeTree = root.addChildren([home, login, env.addChildren(ofEnvironment), withoutEnvironment]);
  const router = createRouter({ routeTree, defaultErrorComponent: PageError, defaultPreload: "intent", scrollRestoration: false });
  router.history.subscribe(({ action }) => noteNavigation(action.type));
  router.subscribe("onBeforeLoad", ({ pathChanged, toLocation }) => {
    if (pathChanged) void takeNewVersion(toLocation.href);
  });
  return router;
}

const CHARTS = [() => import("./events/events-chart.tsx"), () => import("./runs/runs-chart.tsx"), () => import("./ui/chart.tsx")];

/**
 * Preloads all pages except the editor, so that they open immediately, even while the service is down.
 */
export function preloadPages(): void {
  for (const { options } of [
    login,
    overview,
    eventTypes,
    eventType,
    runs,
    run,
    failures,
    jobs,
    job,
    alerts,
    functions,
    fn,
    apps,
    webhooks,
    webhookNew,
    webhook,
    keys,
    environments,
    auditLog,
    settings,
  ])
    void (options.component as { preload?: () => Promise<unknown> } | undefined)?.preload?.().catch(() => {});
  for (const load of CHARTS) void load().catch(() => {});
}

function firstSegment(path: string): string {
  return path.split("/")[0] ?? "";
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
