/** Tests a draft on a request once the user stops typing. It runs in the same sandbox as real requests. */

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { callForText } from "../api/client.ts";
import { readTestResult } from "../api/read-items.ts";
import { canonicalHeaders, queryLists, type TestRequest } from "./test-request.ts";

const DEBOUNCE_MS = 350;

export function useDraftTest(webhookId: string, draft: string, request: TestRequest, mayTest: boolean) {
  const [debounced, setDebounced] = useState({ draft, request });
  useEffect(() => {
    const timer = setTimeout(() => setDebounced({ draft, request }), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [draft, request]);
  return useQuery({
    queryKey: ["draft-test", webhookId, debounced.draft, debounced.request],
    queryFn: ({ signal }) => testDraft(webhookId, debounced.draft, debounced.request, signal),
    placeholderData: keepPreviousData,
    enabled: mayTest && debounced.draft.trim() !== "",
    gcTime: 10_000,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** A recorded request is tested as it was recorded: its signature is judged by its age at receipt. */
async function testDraft(webhookId: string, transform: string, test: TestRequest, signal: AbortSignal) {
  const { body, contentType, headers, query, method, isSigned, recordedId } = test;
  const edited = { raw: body, headers: canonicalHeaders(headers), queryParams: queryLists(query), method, sign: isSigned };
  const request = {
    transform,
    webhookId,
    ...(recordedId === null ? { ...edited, ...(contentType && { contentType }) } : { requestId: recordedId }),
  };
  return readTestResult(await callForText("/transforms/test", { method: "POST", body: request, signal }));
}
