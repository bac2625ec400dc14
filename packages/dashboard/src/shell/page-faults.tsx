/** What is shown when a page does not exist, or fails as a whole. */

import { Link } from "@tanstack/react-router";
import { EmptyState, ErrorState } from "../ui/states.tsx";

export function NotFound() {
  return (
    <EmptyState icon="search" title="There is no such page">
      <Link to="/" className="button">
        Go to the overview
      </Link>
    </EmptyState>
  );
}

export function PageError({ error, reset }: { error: unknown; reset: () => void }) {
  return <ErrorState error={error} title="This page could not be shown" onRetry={reset} />;
}
