/** What takes a run to the code that it ran: a local run that comes to the same step, and a test that fails as it did. */

import { callForText } from "../api/client.ts";
import type { Run } from "../api/types.ts";
import { SendRunToDevServer } from "../dev-server/send-run.tsx";
import { copyText } from "../ui/copy.tsx";
import { Icon } from "../ui/icon.tsx";
import { toast } from "../ui/toasts.tsx";
import { runTestCode } from "./run-test-code.ts";

/** Only these have an outcome that a test can expect. */
const TESTED: ReadonlySet<string> = new Set(["completed", "failed"]);

export function RunCopyTools({ env, run }: { env: string; run: Run }) {
  if (!run.event) return null;
  return (
    <div className="row wrap">
      <SendRunToDevServer env={env} run={run} />
      {TESTED.has(run.status) && <CopyAsTest env={env} run={run} />}
    </div>
  );
}

function CopyAsTest({ env, run }: { env: string; run: Run }) {
  async function copy() {
    try {
      const text = await callForText(`/runs/${encodeURIComponent(run.id)}/copy`, { env });
      const code = runTestCode(
        text,
        run.steps.map(({ id }) => id),
      );
      if (await copyText(code)) toast("ok", "Copied as a test");
      else toast("bad", "The browser did not allow copying.");
    } catch (error) {
      toast("bad", (error as Error).message);
    }
  }
  return (
    <button type="button" className="button small" onClick={() => void copy()}>
      <Icon name="copy" size={14} /> Copy as test
    </button>
  );
}
