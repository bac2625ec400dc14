/** Shown when a page does not exist or fails to render. */

import { Link } from "@tanstack/react-router";
import { PartUnavailable } from "../ui/load-part.ts";
import { EmptyState, ErrorState } from "../ui/states.tsx";
import { MissingPart } from "./missing-part.tsx";

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
  if (error instanceof PartUnavailable) return <MissingPart />;
  return <ErrorState error={error} title="This page could not be displayed" onRetry={reset} />;
}
