/** Shown while there are no events: the command that sends the first one. */

import { CodeBlock } from "../ui/copy.tsx";
import { EmptyState } from "../ui/states.tsx";
import { curlCommand } from "./snippets.ts";
import { useSendTarget } from "./use-send-target.ts";

const EXAMPLE = '{"name":"shop/order.created","data":{"orderId":"4711","total":99.5}}';

export function FirstEvent({ env }: { env: string }) {
  const sendTarget = useSendTarget(env);
  return (
    <EmptyState icon="inbox" title="No events yet">
      <p>
        Send an event, and it appears here immediately.
        {!sendTarget.isDev && " The command reads the event key from SERVICE_EVENT_KEY. Create a key under Keys."}
      </p>
      <CodeBlock text={curlCommand(EXAMPLE, sendTarget)} label="Copy command" />
    </EmptyState>
  );
}
