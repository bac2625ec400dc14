/** The entry point of the dashboard. */

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiError, whenSignedOut } from "./api/client.ts";
import { isServiceAway, whenBack } from "./api/connection.ts";
import { watchForNewVersion } from "./api/new-version.ts";
import { sessionQuery } from "./api/session.ts";
import { createDashboardRouter, preloadPages } from "./router.tsx";
import { ensureUsableLanguage } from "./ui/usable-language.ts";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/controls.css";
import "./styles/surfaces.css";
import "./styles/overlays.css";
import "./styles/charts.css";
import "./styles/json.css";
import "./styles/events.css";
import "./styles/runs.css";
import "./styles/webhooks.css";
import "./styles/pages.css";

const RETRIES_MAX = 2;

ensureUsableLanguage();
const queries = new QueryClient({
  defaultOptions: {
    queries: {
      refetchOnWindowFocus: false,
      // Retry only if the service did not respond or failed; a refused request would be refused again. After an outage, all are repeated.
      retry: (failures, error) =>
        failures < RETRIES_MAX && !isServiceAway() && (!(error instanceof ApiError) || error.status === 0 || error.status >= 500),
      networkMode: "always",
    },
  },
});
const router = createDashboardRouter(queries);

whenSignedOut(() => {
  const { pathname, href } = router.state.location;
  if (pathname === "/login") return;
  const wasSignedIn = queries.getQueryData(sessionQuery.queryKey) !== undefined;
  queries.clear();
  void router.navigate({ to: "/login", search: { next: href, ...(wasSignedIn && { expired: true }) } });
});

/** The streams of these lists resume by themselves. */
const STREAMED: ReadonlySet<unknown> = new Set(["events", "runs"]);
whenBack(
  () =>
    void queries.refetchQueries({
      type: "active",
      predicate: ({ queryKey: [name], state }) => state.status === "error" || !STREAMED.has(name),
    }),
);
watchForNewVersion();

/** Gives the first page time to load its data. */
const PRELOAD_AFTER_MS = 1_500;
setTimeout(preloadPages, PRELOAD_AFTER_MS);

createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
