/** Ends the current session, or every session of the same person or API key, and leads to the sign-in page. */

import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { call } from "../api/client.ts";

export function useSignOut(): (scope?: "everywhere") => Promise<void> {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return async (scope) => {
    await call(scope === "everywhere" ? "/session?everywhere=true" : "/session", { method: "DELETE" }).catch(() => {});
    queries.clear();
    await navigate({ to: "/login" });
  };
}
