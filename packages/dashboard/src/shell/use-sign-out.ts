/** Ends the current session, or every session of the same person or API key, and leads to the sign-in page. If that fails, the page stays. */

import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { ApiError, call } from "../api/client.ts";
import { messageOf } from "../ui/states.tsx";
import { toast } from "../ui/toasts.tsx";

export function useSignOut(): (scope?: "everywhere") => Promise<void> {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return async (scope) => {
    try {
      await call(scope === "everywhere" ? "/session?everywhere=true" : "/session", { method: "DELETE" });
    } catch (error) {
      // A session that has ended already is signed out.
      if (!(error instanceof ApiError && error.status === 401)) return toast("bad", `You are still signed in: ${messageOf(error)}`);
    }
    queries.clear();
    await navigate({ to: "/login" });
  };
}
