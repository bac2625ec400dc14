/** One app that uses everything the published SDKs offer to functions. Each function is started by an event of its own name. */

import { until } from "../runs.ts";
import { deferFunctions } from "./defer-functions.ts";
import { gatewayFunctions } from "./gateway-functions.ts";
import type { Client, Context, Define, PublishedSdk } from "./published-sdk.ts";
import { signalFunctions } from "./signal-functions.ts";

/** What functions and their steps have done, by the event's `key`, in order. */
export class Journal {
  readonly #lines: { key: string; line: string }[] = [];

  note(context: Context, line: string): void {
    this.#lines.push({ key: context.event.data.key, line });
  }

  /** Waits for a line. */
  async noted(key: string, line: string): Promise<void> {
    await until(`${line} of ${key}`, () => (this.of(key).includes(line) ? true : undefined));
  }

  of(key: string): string[] {
    return this.#lines.filter((entry) => entry.key === key).map(({ line }) => line);
  }
}

export const LARGE_STEP_BYTES = 1_500_000;

export function featureFunctions(sdk: PublishedSdk, client: Client, journal: Journal): unknown[] {
  const define: Define = (id, handler, options = {}) => client.createFunction({ id, ...options }, [{ event: `app/${id}` }], handler);
  const child = define("child", ({ event }) => ({ doubled: event.data.number * 2, name: event.name }));
  const failingChild = define(
    "failing-child",
    () => {
      throw new sdk.NonRetriableError("the child is ill");
    },
    { retries: 0 },
  );
  const sleepyChild = define("sleepy-child", ({ step }) => step.sleep("long", "1h"));
  return [
    child,
    failingChild,
    sleepyChild,
    ...stepFunctions(define, journal),
    ...waitFunctions(define, client, journal),
    ...invokeFunctions(define, { child, failingChild, sleepyChild }),
    ...failureFunctions(sdk, define, journal),
    ...parallelFunctions(define, journal),
    ...signalFunctions(define),
    ...gatewayFunctions(define),
    ...deferFunctions(sdk, client, define),
    client.createFunction({ id: "fan-one" }, [{ event: "app/fan" }], () => "one"),
    client.createFunction({ id: "fan-two" }, [{ event: "app/fan" }, { event: "app/fan.more" }], () => "two"),
    client.createFunction({ id: "fan-some" }, [{ event: "app/fan", if: "event.data.amount > 10" }], () => "some"),
  ];
}

function stepFunctions(define: Define, journal: Journal): unknown[] {
  return [
    define("plain", ({ event, runId, attempt, maxAttempts }) => ({ event, runId, attempt, maxAttempts })),
    define("steps", async (context) => {
      const { event, step } = context;
      const first = await step.run("first", () => {
        journal.note(context, "first");
        return { text: "ünïcode ✓ \u2028 </script>", number: 0.1, big: 1e21 };
      });
      const second = await step.run("second", async () => {
        journal.note(context, "second");
        return [first.text, event.data.key, null];
      });
      const nothing = await step.run("nothing", () => undefined);
      return { first, second, nothing: nothing ?? null };
    }),
    define("sender", async ({ event, step }) => {
      const { ids } = await step.sendEvent("announce", [
        { name: "app/heard", data: { key: event.data.key, no: 1 } },
        { name: "app/heard", data: { key: event.data.key, no: 2 } },
      ]);
      return ids;
    }),
    define("heard", ({ event }) => event.data.no),
    define("sleeper", async ({ step, event }) => {
      const begun = await step.run("begun", () => Date.now());
      await step.sleep("nap", "1s");
      const middle = await step.run("middle", () => Date.now());
      await step.sleepUntil("until", new Date(event.data.until));
      return { napMs: middle - begun, lateMs: Date.now() - event.data.until };
    }),
    define("large-payload", ({ event }) => ({ length: event.data.text.length, end: event.data.text.slice(-3) })),
    define("large-state", async ({ step }) => {
      const lengths: number[] = [];
      for (const name of ["a", "b", "c", "d"]) {
        const text = await step.run(name, () => name.repeat(LARGE_STEP_BYTES));
        lengths.push(text.length);
      }
      // A sleep ends the call: what comes after it has to be given all of the state anew.
      await step.sleep("pause", "10ms");
      return { lengths, last: await step.run("last", () => "done") };
    }),
  ];
}

function waitFunctions(define: Define, client: Client, journal: Journal): unknown[] {
  return [
    define("waiter", async ({ step }) => {
      const answer = await step.waitForEvent("answer", { event: "app/answer", timeout: "1h", match: "data.key" });
      return answer?.data ?? null;
    }),
    define("asker", async (context) => {
      const { step, event } = context;
      await step.run("ask", () => client.send({ name: "app/question", data: { key: event.data.key } }));
      // The response is sent after the step has ended, and is there before the wait is.
      journal.note(context, "asked");
      await journal.noted(event.data.key, "replied");
      const answer = await step.waitForEvent("reply", { event: "app/reply", timeout: "1h", match: "data.key" });
      return answer?.data ?? null;
    }),
    define("question", async (context) => {
      await journal.noted(context.event.data.key, "asked");
      await client.send({ name: "app/reply", data: { key: context.event.data.key } });
      journal.note(context, "replied");
    }),
    define("listener", async ({ step, event }) => {
      const heard: number[] = [];
      const condition = `async.data.key == "${event.data.key}"`;
      for (let i = 0; i < 2; i++) {
        const word = await step.waitForEvent(`word ${i}`, { event: "app/word", timeout: "1h", if: condition });
        heard.push(word?.data.n);
        await step.run(`noted ${i}`, () => null);
      }
      return heard;
    }),
    define("picky-waiter", async ({ step }) => {
      const condition = "async.data.key == event.data.key && async.data.amount >= 10";
      const answer = await step.waitForEvent("answer", { event: "app/answer", timeout: "1h", if: condition });
      return answer?.data ?? null;
    }),
    define("vain-waiter", async ({ step }) => {
      const answer = await step.waitForEvent("answer", { event: "app/never", timeout: "1s" });
      return { answer };
    }),
    define("cancellable", ({ step }) => step.sleep("long", "1h"), {
      cancelOn: [{ event: "app/cancel", if: "async.data.key == event.data.key" }],
    }),
  ];
}

function invokeFunctions(define: Define, children: Record<"child" | "failingChild" | "sleepyChild", unknown>): unknown[] {
  const caught = async (work: () => Promise<unknown>) => {
    try {
      return { result: await work() };
    } catch (error) {
      return { message: (error as Error).message, name: (error as Error).name };
    }
  };
  return [
    define("invoker", ({ step, event }) => step.invoke("call", { function: children.child, data: { number: event.data.number } })),
    define("invoker-of-failing", ({ step }) => caught(() => step.invoke("call", { function: children.failingChild, data: {} }))),
    define("invoker-of-sleepy", ({ step }) =>
      caught(() => step.invoke("call", { function: children.sleepyChild, data: {}, timeout: "1s" })),
    ),
  ];
}

function failureFunctions(sdk: PublishedSdk, define: Define, journal: Journal): unknown[] {
  return [
    define("flaky", (context) => {
      journal.note(context, `attempt ${context.attempt}`);
      if (context.attempt < 2) throw new Error(`failure ${context.attempt}`);
      return { attempt: context.attempt };
    }),
    define("flaky-step", async (context) => {
      const { step } = context;
      await step.run("steady", () => journal.note(context, "steady"));
      const attempt = await step.run("flaky", () => {
        journal.note(context, `flaky ${context.attempt}`);
        if (journal.of(context.event.data.key).filter((line) => line.startsWith("flaky")).length < 3) throw new Error("not yet");
        return context.attempt;
      });
      const after = await step.run("after", () => journal.note(context, `after ${context.attempt}`));
      return { attempt, after: after ?? null };
    }),
    define(
      "exhausted",
      (context) => {
        journal.note(context, `attempt ${context.attempt}`);
        throw new TypeError("always");
      },
      { retries: 2, onFailure: (context: Context) => noteFailure(journal, context) },
    ),
    define(
      "non-retriable",
      (context) => {
        journal.note(context, `attempt ${context.attempt}`);
        throw new sdk.NonRetriableError("give up");
      },
      { onFailure: (context: Context) => noteFailure(journal, context) },
    ),
    define("non-retriable-step", async (context) => {
      await context.step.run("hopeless", () => {
        journal.note(context, `attempt ${context.attempt}`);
        throw new sdk.NonRetriableError("give up");
      });
    }),
    define("retry-after", (context) => {
      journal.note(context, String(Date.now()));
      if (context.attempt === 0) throw new sdk.RetryAfterError("later", 1_000);
      return "done";
    }),
    define(
      "catcher",
      async (context) => {
        const { step } = context;
        try {
          await step.run("bad", () => {
            journal.note(context, "bad");
            throw new RangeError("out of range");
          });
        } catch (error) {
          const saved = await step.run("rescue", () => "rescued");
          return { saved, message: (error as Error).message };
        }
        return "not reached";
      },
      { retries: 1 },
    ),
  ];
}

function noteFailure(journal: Journal, { event, error }: Context): string {
  const original = event.data.event;
  journal.note({ event: original } as Context, `failed: ${error?.message} of ${event.data.function_id}`);
  return event.data.run_id;
}

function parallelFunctions(define: Define, journal: Journal): unknown[] {
  return [
    define("parallel", async (context) => {
      const { step } = context;
      const chain = async (name: string) => {
        const one = await step.run(`${name}1`, () => {
          journal.note(context, `${name}1`);
          return name;
        });
        return step.run(`${name}2`, () => {
          journal.note(context, `${name}2`);
          return `${one}${one}`;
        });
      };
      const [a, b] = await Promise.all([chain("a"), chain("b"), step.sleep("meanwhile", "1s")]);
      const after = await step.run("after", () => {
        journal.note(context, "after");
        return `${a}-${b}`;
      });
      return after;
    }),
    define("racing-group", async (context) => {
      const { step, group, event } = context;
      // The slow step ends after what comes after the race: had the run to wait for it, neither would ever end.
      const race = () =>
        Promise.race([
          step.run("quick", () => "quick"),
          step.run("slow", async () => {
            await journal.noted(event.data.key, "after the race");
            journal.note(context, "slow");
            return "slow";
          }),
        ]);
      const winner = await (group?.parallel ? group.parallel(race) : race());
      await step.run("after", () => journal.note(context, "after the race"));
      return winner;
    }),
    define("racing", async ({ step }) => {
      const winner = await Promise.race([
        step.run("quick", () => "quick"),
        step.waitForEvent("late", { event: "app/late", timeout: "1h", match: "data.key" }).then(() => "slow"),
      ]);
      return { winner, after: await step.run("after", () => "done") };
    }),
    define(
      "one-fails",
      async (context) => {
        const outcomes = await Promise.allSettled([
          context.step.run("good", () => "good"),
          context.step.run("bad", () => {
            journal.note(context, "bad");
            throw new Error("bad luck");
          }),
        ]);
        return outcomes.map((outcome) => (outcome.status === "fulfilled" ? outcome.value : (outcome.reason as Error).message));
      },
      { retries: 1 },
    ),
  ];
}
