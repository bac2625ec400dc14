/** The terminal output of a dev server: a line for each app that registers, each event, each refused request and each run that ends. */

import { styleText } from "node:util";
import type { EnvironmentId, Refusal, RunId } from "@inlet/protocol";
import type { EventAppendResult, EventBatch, RunEnd } from "../store/contract/index.ts";
import { LABEL_UNITS } from "./log-lines.ts";

export interface LiveLog {
  kept(batch: Pick<EventBatch, "environmentId" | "events">, result: Pick<EventAppendResult, "ids">): void;
  refused(refusal: Refusal): void;
  /** An app is new, or its functions have changed. */
  registered(name: string, url: string): void;
  /** Called when the end is decided; it is stored immediately after. */
  ended(functionId: string, runId: RunId, end: RunEnd): void;
}

export interface LiveLogParts {
  /** The name of an environment to show with its events; null for the default one. */
  environmentShown(id: EnvironmentId): string | null;
  write(line: string): void;
  now(): number;
}

/** A batch shows its first events, then how many more there were. */
const EVENTS_SHOWN_MAX = 10;

export function createLiveLog({ environmentShown, write, now }: LiveLogParts): LiveLog {
  const line = (label: string, colour: "green" | "yellow" | "red", text: string) => {
    const time = new Date(now()).toISOString().slice(11, 23);
    write(`${styleText("dim", time)}  ${styleText(colour, label.padEnd(LABEL_UNITS))}  ${visible(text)}`);
  };
  return {
    kept({ environmentId, events }, { ids }) {
      const environment = environmentShown(environmentId);
      const where = environment === null ? "" : `  (${environment})`;
      for (const [i, { id, name }] of events.slice(0, EVENTS_SHOWN_MAX).entries()) {
        // An event that gets the id of another is its duplicate.
        if (ids[i] === id) line("event", "green", `${id}  ${name}${where}`);
        else line("duplicate", "yellow", `${ids[i]}  ${name}${where}`);
      }
      if (events.length > EVENTS_SHOWN_MAX)
        line("event", "green", `and ${events.length - EVENTS_SHOWN_MAX} more in the same request${where}`);
    },
    ended(functionId, runId, { status, error }) {
      const why = error ? `  ${error.name}: ${error.message}` : "";
      line(status, status === "completed" ? "green" : status === "failed" ? "red" : "yellow", `${runId}  ${functionId}${why}`);
    },
    registered: (name, url) => line("app", "green", `${name}  registered its functions, served at ${url}`),
    refused: ({ code, status, message }) => line("refused", "red", `${status} ${code}  ${message}`),
  };
}

/** A name with an escape sequence must not control the terminal. */
function visible(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`);
}
