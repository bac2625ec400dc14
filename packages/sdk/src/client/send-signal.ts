/** Sends a signal to the run that waits for it. */

import { SendError } from "../errors.ts";
import type { SentSignal } from "../events/sent-signal.ts";
import { askService } from "../serving/ask-service.ts";
import type { Settings } from "./settings.ts";

const NOBODY_WAITS = "signal_not_found";

export async function sendSignal(settings: Settings, { signal, data = null }: SentSignal): Promise<{ runId: string | null }> {
  const response = await askService(settings, { method: "POST", path: "/v1/signals", body: JSON.stringify({ signal, data }) });
  const { data: sent, code, error } = parse(response.text);
  if (response.status === 200 && typeof sent?.run_id === "string") return { runId: sent.run_id };
  if (response.status === 404 && code === NOBODY_WAITS) return { runId: null };
  throw new SendError(error ?? `The service answered with status ${response.status}`, {
    code: code ?? "response_invalid",
    status: response.status,
  });
}

interface SignalResponse {
  data?: { run_id?: unknown };
  code?: string;
  error?: string;
}

function parse(text: string): SignalResponse {
  try {
    return (JSON.parse(text) as SignalResponse | null) ?? {};
  } catch {
    return {};
  }
}
