/** Shown in place of a part that could not be loaded. Reloads the dashboard as soon as the service responds. */

import { useEffect } from "react";
import { isHealthy, reportAway } from "../api/connection.ts";
import { EmptyState } from "../ui/states.tsx";

const POLL_EVERY_MS = 1_000;
/** A part that is still missing after a reload: nodes of two versions may serve the dashboard in turn. */
const RELOAD_EVERY_MS = 10_000;
const RELOADED_AT = "inlet.reloaded-at";

export function MissingPart() {
  useEffect(() => {
    const poll = async () => {
      if (Date.now() - Number(sessionStorage.getItem(RELOADED_AT) ?? 0) < RELOAD_EVERY_MS) return;
      if (!(await isHealthy())) return reportAway();
      sessionStorage.setItem(RELOADED_AT, String(Date.now()));
      location.reload();
    };
    void poll();
    const timer = setInterval(() => void poll(), POLL_EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <EmptyState icon="refresh" title="Waiting for the service">
      <p>This page could not be loaded. It opens by itself when the service responds.</p>
    </EmptyState>
  );
}
