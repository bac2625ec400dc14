/** Tries a draft on a request when the typing rests. The sandbox that runs it is the one real requests meet. */

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { callForText } from "../api/client.ts";
import { readTrial } from "../api/read-items.ts";
import { canonicalHeaders, queryLists, type TestRequest } from "./test-request.ts";

const REST_MS = 350;

export function useTrial(draft: string, request: TestRequest) {
  const [rested, setRested] = useState({ draft, request });
  useEffect(() => {
    const timer = setTimeout(() => setRested({ draft, request }), REST_MS);
    return () => clearTimeout(timer);
  }, [draft, request]);
  return useQuery({
    queryKey: ["trial", rested.draft, rested.request],
    queryFn: ({ signal }) => tryDraft(rested.draft, rested.request, signal),
    placeholderData: keepPreviousData,
    enabled: rested.draft.trim() !== "",
    gcTime: 10_000,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

async function tryDraft(transform: string, { body, contentType, headers, query }: TestRequest, signal: AbortSignal) {
  const request = {
    transform,
    raw: body,
    headers: canonicalHeaders(headers),
    queryParams: queryLists(query),
    ...(contentType && { contentType }),
  };
  return readTrial(await callForText("/transforms/test", { method: "POST", body: request, signal }));
}
