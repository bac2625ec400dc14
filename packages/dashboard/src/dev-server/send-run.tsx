/** Send run to Dev Server: the events of a run and the results of the steps before its failure, so that a local run comes to the same step. */

import { callForText } from "../api/client.ts";
import { membersOf, objectText } from "../api/json-text.ts";
import type { Run } from "../api/types.ts";
import { postToDevServer } from "./post-to-dev-server.ts";
import { SendButton, type SendOutcome } from "./send-dialog.tsx";

const SENT = ["function", "events", "steps"] as const;

export function SendRunToDevServer({ env, run }: { env: string; run: Run }) {
  async function send(target: string): Promise<SendOutcome> {
    try {
      const copy = membersOf(await callForText(`/runs/${encodeURIComponent(run.id)}/copy`, { env }));
      const text = objectText(SENT.map((name) => [name, copy.get(name) ?? "null"]));
      const sent = await postToDevServer<{ data: { id: string } }>(`${target}/v1/runs`, text);
      if (!sent.ok) return sent;
      const { id } = sent.body.data;
      return { ok: true, id, page: `${target}/env/dev/runs/${id}` };
    } catch (error) {
      return { ok: false, message: (error as Error).message };
    }
  }
  return (
    <SendButton title="Send run to Dev Server" small send={send}>
      Your browser sends the events of this run to a dev server, with the results of the steps{" "}
      {run.status === "failed" ? "before the failure. The function runs there" : "that have ended. The function goes on there"} from the
      next step. The app must be running there with the function <code>{run.function.id}</code>.
    </SendButton>
  );
}
