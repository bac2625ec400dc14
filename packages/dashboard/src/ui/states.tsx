/** Empty, loading and error states. An error is never shown as an empty list. */

import type { ReactNode } from "react";
import { ApiError } from "../api/client.ts";
import { Icon, type IconName } from "./icon.tsx";

interface EmptyStateProps {
  icon: IconName;
  title: string;
  /** It is the whole page. */
  isPage?: boolean;
  children?: ReactNode;
}

export function EmptyState({ icon, title, isPage = false, children }: EmptyStateProps) {
  const Heading = isPage ? "h1" : "h2";
  return (
    <div className="state">
      <Icon name={icon} size={28} />
      <Heading>{title}</Heading>
      {children}
    </div>
  );
}

interface ErrorStateProps {
  error: unknown;
  onRetry?: () => void;
  title?: string;
  /** Where to go instead, if what was asked for does not exist. The error is then the whole page. */
  lead?: ReactNode;
}

export function ErrorState({ error, onRetry, title = "Loading failed", lead }: ErrorStateProps) {
  const Heading = lead ? "h1" : "h2";
  const isMissing = error instanceof ApiError && error.status === 404;
  return (
    <div className="state" role="alert">
      <Icon name="alert" size={28} />
      <Heading>{title}</Heading>
      <p>{messageOf(error)}</p>
      {error instanceof ApiError && error.code !== "unreachable" && (
        <code className="quiet small">{`${error.code} · ${error.status}`}</code>
      )}
      {lead}
      {onRetry && !(isMissing && lead) && (
        <button type="button" className="button" onClick={onRetry}>
          <Icon name="refresh" /> Try again
        </button>
      )}
    </div>
  );
}

export function Notice({
  kind = "",
  icon,
  children,
}: {
  kind?: "" | "ok" | "bad" | "warn" | "info";
  icon?: IconName;
  children: ReactNode;
}) {
  return (
    <div className={`notice ${kind}`} role={kind === "bad" ? "alert" : undefined}>
      {icon && <Icon name={icon} />}
      <div className="grow">{children}</div>
    </div>
  );
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Placeholders with the height of the rows, so that the layout does not shift. */
export function SkeletonRows({ rows = 8, height = 42 }: { rows?: number; height?: number }) {
  return (
    <div role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: placeholders are identical and never move
        <div key={i} className="skeleton-row" style={{ height }}>
          <span className="skeleton" style={{ width: `${[38, 52, 30, 45][i % 4]}%` }} />
          <span className="skeleton" style={{ width: `${[14, 10, 17, 12][i % 4]}%` }} />
        </div>
      ))}
    </div>
  );
}
