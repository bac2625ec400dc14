/** The entry point of the dashboard. */

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiError, whenSignedOut } from "./api/client.ts";
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
      // Retry only if the service did not respond or failed; a refused request would be refused again.
      retry: (failures, error) => failures < RETRIES_MAX && (!(error instanceof ApiError) || error.status === 0 || error.status >= 500),
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
