/** Approvals of an environment: questions that people decide. */

import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { call, callForPage, callForText } from "./client.ts";
import { type JsonText, membersOf, objectText } from "./json-text.ts";

export type ApprovalStatus = "open" | "approved" | "rejected" | "expired" | "cancelled";
export type Decision = "approved" | "rejected";

export interface Approval {
  id: string;
  status: ApprovalStatus;
  prompt: string;
  /** Null: nothing is shown with the question. */
  data: JsonText | null;
  url: string;
  confirmReject: boolean;
  signal: string | null;
  runId: string | null;
  function: { id: string; name: string } | null;
  app: string | null;
  createdAt: string;
  expiresAt: string;
  endedAt: string | null;
  by: string | null;
  comment: string | null;
}

const REFRESH_MS = 5_000;
/** The navigation asks for it on every page. */
const COUNT_REFRESH_MS = 15_000;

export const approvalsQuery = (env: string, status: ApprovalStatus | undefined) =>
  infiniteQueryOptions({
    queryKey: ["approvals", env, "list", status ?? "all"],
    queryFn: ({ pageParam }) => callForPage("/approvals", readApproval, { env, query: { limit: 50, status, cursor: pageParam } }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    refetchInterval: REFRESH_MS,
  });

/** How many are open. */
export const openApprovalsQuery = (env: string) =>
  queryOptions({
    queryKey: ["approvals", env, "open"],
    queryFn: async () => (await call<{ open: number }>("/approvals/count", { env })).open,
    refetchInterval: COUNT_REFRESH_MS,
  });

export const approvalQuery = (env: string, id: string) =>
  queryOptions({
    queryKey: ["approvals", env, "one", id],
    queryFn: async () => readApproval(await callForText(`/approvals/${encodeURIComponent(id)}`, { env })),
    refetchInterval: ({ state }) => (state.data && state.data.status !== "open" ? false : REFRESH_MS),
  });

export function decideApproval(env: string, id: string, decision: Decision, comment: string): Promise<{ id: string }> {
  const body = { decision, ...(comment.trim() !== "" && { comment: comment.trim() }) };
  return call(`/approvals/${encodeURIComponent(id)}`, { method: "POST", env, body });
}

function readApproval(text: JsonText): Approval {
  const { data = "null", ...rest } = Object.fromEntries(membersOf(text));
  return { ...JSON.parse(objectText(Object.entries(rest) as [string, JsonText][])), data: data === "null" ? null : data };
}
