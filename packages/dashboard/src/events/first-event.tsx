/** Shown where no event is yet: the command that sends the first one. */

import { CodeBlock } from "../ui/copy.tsx";
import { EmptyState } from "../ui/states.tsx";
import { curlCommand } from "./snippets.ts";
import { useSendingPlace } from "./use-sending-place.ts";

const EXAMPLE = '{"name":"shop/order.created","data":{"orderId":"4711","total":99.5}}';

export function FirstEvent({ env }: { env: string }) {
  const place = useSendingPlace(env);
  return (
    <EmptyState icon="inbox" title="No events yet">
      <p>
        Send one and it appears here at once.
        {!place.isDev && " The command takes an event key from SERVICE_EVENT_KEY; create one under Keys."}
      </p>
      <CodeBlock text={curlCommand(EXAMPLE, place)} label="Copy command" />
    </EmptyState>
  );
}
