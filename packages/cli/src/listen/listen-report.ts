/** The output of `inlet listen`: a line for each copy and for each wait. */

import type { Io } from "../command-line/command-row.ts";
import { styleText } from "../command-line/terminal-text.ts";
import { visible } from "../command-line/write-table.ts";
import type { Delivered } from "./deliver.ts";

export interface Reporter {
  /** `start`: where the copies begin. */
  following(what: string, start: string): void;
  connection(state: "connected" | "lost", reason: string): void;
  waiting(reason: string): void;
  /** A request to the source is repeated until it succeeds. */
  retrying(reason: string): void;
  forwarded(name: string, id: string, delivered: Delivered): void;
  skipped(name: string, id: string, reason: string): void;
}

export function createReporter(io: Io, { to, url, json }: { to: string; url: string; json: boolean }): Reporter {
  const say = (text: string) => io.err.write(`${text}\n`);
  const line = (fields: Record<string, unknown>, text: string) => io.out.write(`${json ? JSON.stringify(fields) : text}\n`);
  const time = () => new Date().toISOString().slice(11, 23);
  return {
    following: (what, start) => say(`Copying ${what} from ${url} to ${to}, ${start}. Press Ctrl-C to stop.`),
    connection: (state, reason) => say(state === "connected" ? "Connected." : `Disconnected: ${reason}. Reconnecting.`),
    waiting: (reason) => say(`Waiting for ${to}: ${reason}.`),
    retrying: (reason) => say(`${reason} Retrying.`),
    forwarded(name, id, { status, text }) {
      const isOk = status < 400;
      const answer = isOk ? styleText("green", String(status)) : `${styleText("red", String(status))}  ${visible(text)}`;
      line({ name, id, status, ...(!isOk && { answer: text }) }, `${time()}  ${id}  ${visible(name)}  ${answer}`);
    },
    skipped: (name, id, reason) =>
      line({ name, id, skipped: reason }, `${time()}  ${id}  ${visible(name)}  ${styleText("yellow", `not forwarded: ${reason}`)}`),
  };
}
