/** A request of a step is made until it is answered, within the retries, and not again once its response is kept. */

import type { RunDetails } from "../../../src/store/contract/index.ts";
import type { FetchCode } from "../scenario.ts";
import type { Evidence } from "./evidence.ts";
import type { Demand } from "./replay.ts";

export function checkRequest(
  evidence: Evidence,
  run: RunDetails,
  step: RunDetails["steps"][number],
  { name, code }: Demand & { code: FetchCode },
  fault: (message: string) => void,
): void {
  const key = `${run.id}/${name}`;
  const made = evidence.played.journal.requests.get(key) ?? [];
  const answered = made.filter(({ fate }) => fate === "answered").length;
  const refused = made.filter(({ fate }) => fate === "refused").length;
  const retries = evidence.retriesOf(run);
  const parsed = JSON.parse(step.value ?? "{}") as { data?: { status_code: number; body: string }; error?: { name: string } };
  const shown = made.map(({ fate }) => fate).join(", ");
  // A node whose lease ended before it could write the response: the next one makes the request again.
  const lost = evidence.played.scenario.isRealTime ? (evidence.played.journal.lostOutcomes.get(`${run.no}/${step.id}`) ?? 0) : 0;
  if (answered > 1 + lost) fault(`a request was answered ${answered} times: ${shown}`);
  if (refused > retries + 1) fault(`a request was made ${refused} times in vain, with ${retries} retries`);
  if (step.status === "failed") {
    if (parsed.error?.name !== "GatewayError") fault("a request failed otherwise");
    if (code.fails <= retries) fault(`a request failed that is answered within its retries: ${shown}`);
  } else if (parsed.data?.status_code !== code.status || parsed.data.body !== key) fault("a request has another answer");
}
