/** Shown when a page does not exist or fails to render. */

import { Link, useParams } from "@tanstack/react-router";
import { PartUnavailable } from "../ui/load-part.ts";
import { EmptyState, ErrorState } from "../ui/states.tsx";
import { MissingPart } from "./missing-part.tsx";

/** Inside the shell, so that the navigation stays. */
export function NotFound() {
  const { env } = useParams({ from: "/env/$env" });
  return (
    <EmptyState icon="search" title="Page not found" isPage>
      <p>There is no page at this address.</p>
      <div className="row wrap">
        <Link to="/env/$env" params={{ env }} className="button">
          Go to the overview
        </Link>
        <Link to="/env/$env/events" params={{ env }} className="button">
          Events
        </Link>
        <Link to="/env/$env/runs" params={{ env }} className="button">
          Runs
        </Link>
      </div>
    </EmptyState>
  );
}

export function PageError({ error, reset }: { error: unknown; reset: () => void }) {
  if (error instanceof PartUnavailable) return <MissingPart />;
  return <ErrorState error={error} title="This page could not be displayed" onRetry={reset} />;
}
