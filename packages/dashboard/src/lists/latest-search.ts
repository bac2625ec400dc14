/** The filters in the address. A change is there before the page is rendered with it, so two changes in a row both apply. */

import { useRouter } from "@tanstack/react-router";

export function useLatestSearch<Search>(read: (search: Record<string, unknown>) => Search): () => Search {
  const router = useRouter();
  return () => read({ ...router.latestLocation.search });
}
