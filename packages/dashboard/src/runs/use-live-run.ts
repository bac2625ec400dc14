/**
 * Reloads an unfinished run when the service reports a change. A load under way is never dropped for the next change: of a run that changes
 * faster than it loads, nothing would be shown. One more load follows instead, for everything that changed meanwhile.
 */

import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { follow } from "../api/live.ts";
import { runQuery } from "../api/queries.ts";
import type { RunItem } from "../api/types.ts";

export function useLiveRun(env: string, id: string, going: boolean): void {
  const queries = useQueryClient();
  useEffect(() => {
    if (!going) return;
    const { queryKey } = runQuery(env, id);
    let isStale = false;
    let isLoading = false;
    let isLeft = false;
    const load = async () => {
      isStale = true;
      if (isLoading) return;
      isLoading = true;
      while (isStale && !isLeft) {
        // A poll that is under way may have been answered before the change.
        isStale = queries.isFetching({ queryKey }) > 0;
        await queries.invalidateQueries({ queryKey }, { cancelRefetch: false });
      }
      isLoading = false;
    };
    const stop = follow({
      path: "/runs/stream",
      env,
      onMessage: (text) => {
        if ((JSON.parse(text) as RunItem).id === id) void load();
      },
      onState: () => {},
    });
    return () => {
      isLeft = true;
      stop();
    };
  }, [env, id, going, queries]);
}
