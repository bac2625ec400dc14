/** The run that the current code belongs to, so that a plain `send` inside a function can name it. Not available on every runtime. */

import type { EventPayload } from "../events/event-types.ts";
import type { PublishedMessage } from "../events/realtime-topic.ts";
import type { SentSignal } from "../events/sent-signal.ts";
import type { Sessions } from "../events/sessions.ts";
import { builtinModule } from "../variables.ts";

export interface RunContext {
  runId: string;
  /** Sessions of the run, propagated to what it sends. */
  sessions: Sessions;
  /** The step whose body is running, if any. */
  stepId?: string;
  capture?: Capture | undefined;
}

/** Receives events instead of the service: used by the test kit. */
export interface Capture {
  /** Returns their ids. */
  events(events: readonly EventPayload[]): string[];
  signal(signal: SentSignal): void;
  message(message: PublishedMessage): void;
}

interface AsyncStorage {
  run<T>(context: RunContext, body: () => T): T;
  getStore(): RunContext | undefined;
}

const storage = createStorage();

export function inRunContext<T>(context: RunContext, body: () => T): T {
  return storage ? storage.run(context, body) : body();
}

export function currentRun(): RunContext | undefined {
  return storage?.getStore();
}

function createStorage(): AsyncStorage | undefined {
  const global = globalThis as { AsyncLocalStorage?: new () => AsyncStorage };
  const hooks = builtinModule("node:async_hooks") as typeof global | undefined;
  const Storage = hooks?.AsyncLocalStorage ?? global.AsyncLocalStorage;
  return Storage && new Storage();
}
