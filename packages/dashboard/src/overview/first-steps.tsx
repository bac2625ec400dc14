/** The first steps, shown until the environment has an event and a function. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { eventPage, functionsQuery } from "../api/queries.ts";
import { curlCommand } from "../events/snippets.ts";
import { useSendTarget } from "../events/use-send-target.ts";
import { SHARED } from "../shell/environment-names.ts";
import { CodeBlock } from "../ui/copy.tsx";
import { Icon } from "../ui/icon.tsx";

const EXAMPLE = '{"name":"shop/order.created","data":{"orderId":"4711"}}';

export interface Progress {
  hasEvent: boolean;
  hasFunction: boolean;
}

/** What the environment has; null until that is known. */
export function useFirstSteps(env: string): Progress | null {
  const events = useQuery({
    queryKey: ["events", env, "first"],
    queryFn: () => eventPage(env, { limit: 1 }),
    refetchInterval: ({ state }) => (state.data?.items.length ? false : 2_000),
  });
  const functions = useQuery({
    ...functionsQuery(env),
    retry: false,
    refetchInterval: ({ state }) => (state.data?.length ? false : 5_000),
  });
  const isKnown = (events.data || events.isError) && (functions.data || functions.isError);
  return isKnown ? { hasEvent: (events.data?.items.length ?? 0) > 0, hasFunction: (functions.data?.length ?? 0) > 0 } : null;
}

export function FirstSteps({ env, progress: { hasEvent, hasFunction } }: { env: string; progress: Progress }) {
  const sendTarget = useSendTarget(env);
  if ((hasEvent && hasFunction) || env === SHARED) return null;
  return (
    <section className="card first-steps" aria-label="First steps">
      <div className="card-head">
        <h2>First steps</h2>
      </div>
      <ol>
        <Step done={hasEvent} title="Send an event">
          <CodeBlock text={curlCommand(EXAMPLE, sendTarget)} label="Copy command" />
        </Step>
        <Step done={hasFunction} title="Handle it with a function">
          <p className="second">
            Serve a function from your app and{" "}
            <Link to="/env/$env/apps" params={{ env }}>
              sync the app
            </Link>
            . It runs for every event it subscribes to. Failed steps are retried; completed steps never run again.
          </p>
        </Step>
        <Step done={false} title="Connect a provider" optional>
          <p className="second">
            <Link to="/env/$env/webhooks/new" params={{ env }}>
              Create a webhook
            </Link>{" "}
            for Stripe, GitHub or any other provider. A transform turns each request into an event.
          </p>
        </Step>
      </ol>
    </section>
  );
}

function Step({
  done,
  title,
  optional = false,
  children,
}: {
  done: boolean;
  title: string;
  optional?: boolean;
  children: React.ReactNode;
}) {
  return (
    <li className={done ? "done" : ""}>
      <Icon name={done ? "checkCircle" : "circleDashed"} size={18} />
      <div className="grow stack tight">
        <h3>
          {title} {done && <span className="badge ok plain">done</span>} {optional && <span className="quiet small">optional</span>}
        </h3>
        {!done && children}
      </div>
    </li>
  );
}
