/** Shown when a page does not exist or fails to render. */

import { Link } from "@tanstack/react-router";
import { EmptyState, ErrorState } from "../ui/states.tsx";

export function NotFound() {
  return (
    <EmptyState icon="search" title="Page not found">
      <Link to="/" className="button">
        Go to the overview
      </Link>
    </EmptyState>
  );
}

export function PageError({ error, reset }: { error: unknown; reset: () => void }) {
  return <ErrorState error={error} title="This page could not be displayed" onRetry={reset} />;
}
