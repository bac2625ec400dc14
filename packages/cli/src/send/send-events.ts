/** `inlet send`: reads events, sends them in batches within the limits, and reports exactly what was accepted. */

import { BODY_BYTES_MAX_DEFAULT, type EventIdSeed, parseEventIdSeed, seededEventId } from "@inlet/protocol";
import { CommandFault, writeFault } from "../command-line/command-fault.ts";
import { type CommandResult, EXIT } from "../command-line/command-result.ts";
import type { Call } from "../command-line/command-row.ts";
import { createProgressBar } from "../command-line/progress-bar.ts";
import { type EventTarget, newSeed, postBatch } from "./post-batch.ts";
import { progressText } from "./progress-text.ts";
import { type EventText, type Input, interruption, readInput } from "./read-input.ts";
import type { SEND_FLAGS } from "./send-flags.ts";

/** Beyond this number, ids are counted instead of listed. */
const IDS_SHOWN_MAX = 20;

interface Report {
  ids: string[];
  /** How many of them had been sent before, under the same `id`. */
  duplicates: number;
  requests: number;
  failure: CommandFault | null;
}

export async function sendEvents({ options, names, io }: Call<typeof SEND_FLAGS>): Promise<CommandResult> {
  const given = eventKey(options.key);
  const target = { url: options.url, env: options.env, key: given ?? keyOfDevServer(options.url) };
  const input = readInput(options, names, io);
  const bar = createProgressBar(io.err);
  const sender = new Sender(target, Number(options.batch), io.interrupted(), {
    onAccepted(accepted) {
      const progress = { accepted, bytesRead: input.bytesRead(), bytesTotal: input.bytesTotal };
      bar.show((elapsedMs) => progressText(progress, elapsedMs));
    },
    onRetry: (reason, waitMs) => {
      bar.clear();
      io.err.write(`${reason} Retrying in ${waitMs / 1_000} s.\n`);
    },
  });
  const sent = await sendAll(sender, input);
  const report = given === null && sent.failure?.code === "event_key_invalid" ? { ...sent, failure: KEY_MISSING } : sent;
  bar.clear();
  if (report.failure && !options.json) writeFault(io.err, report.failure);
  return result(report);
}

const KEY_MISSING = new CommandFault(
  [
    "No event key is set, and this service requires one. Set it with --key or SERVICE_EVENT_KEY (or INLET_EVENT_KEY).",
    '"inlet keys create <name>" makes one.',
  ],
  "event_key_missing",
  EXIT.denied,
);

/** The variable of the service may contain several keys, separated by commas. */
function eventKey(given: string | null): string | null {
  return given?.split(",")[0]?.trim() || null;
}

/** A dev server accepts any key; other servers require one. */
function keyOfDevServer(url: string): string {
  if (/^(localhost|127\.|\[::1\])/.test(new URL(url).hostname)) return "dev";
  throw KEY_MISSING;
}

async function sendAll(sender: Sender, input: Input): Promise<Report> {
  try {
    for await (const event of input.events) await sender.add(event);
    await sender.flush();
    if (sender.ids.length === 0) throw new CommandFault("The input contains no events.", "events_missing");
    return reportOf(sender, null);
  } catch (error) {
    if (!(error instanceof CommandFault)) throw error;
    return reportOf(sender, error);
  }
}

function reportOf({ ids, duplicates, requests }: Sender, failure: CommandFault | null): Report {
  return { ids, duplicates, requests, failure };
}

interface SenderHooks {
  onAccepted(count: number): void;
  onRetry(reason: string, waitMs: number): void;
}

class Sender {
  readonly ids: string[] = [];
  duplicates = 0;
  requests = 0;
  readonly #target: EventTarget;
  readonly #signal: AbortSignal;
  readonly #hooks: SenderHooks;
  readonly #eventsMax: number;
  #bytesMax = BODY_BYTES_MAX_DEFAULT;
  #events: EventText[] = [];
  #bytes = 2;

  constructor(target: EventTarget, eventsMax: number, signal: AbortSignal, hooks: SenderHooks) {
    this.#target = target;
    this.#eventsMax = eventsMax;
    this.#signal = signal;
    this.#hooks = hooks;
  }

  async add(event: EventText): Promise<void> {
    const bytes = Buffer.byteLength(event.text) + 1;
    if (this.#events.length >= this.#eventsMax || this.#bytes + bytes > this.#bytesMax) await this.flush();
    this.#events.push(event);
    this.#bytes += bytes;
  }

  async flush(): Promise<void> {
    const events = this.#events;
    this.#events = [];
    this.#bytes = 2;
    if (events.length > 0) await this.#send(events);
  }

  async #send(events: readonly EventText[]): Promise<void> {
    if (this.#signal.aborted) throw interruption();
    try {
      const body = `[${events.map(({ text }) => text).join(",")}]`;
      const seed = newSeed();
      const ids = await postBatch(this.#target, body, { seed, signal: this.#signal, onRetry: this.#hooks.onRetry });
      this.ids.push(...ids);
      this.duplicates += duplicatesAmong(ids, parseEventIdSeed(seed));
      this.requests++;
      this.#hooks.onAccepted(this.ids.length);
    } catch (error) {
      if (!(error instanceof CommandFault)) throw error;
      if (error.code !== "body_too_large" || events.length === 1) throw named(error, events);
      // The environment has a lower body limit and stored nothing of this request: retry in halves.
      const half = Math.ceil(events.length / 2);
      this.#bytesMax = Math.max(1, Math.floor(this.#bytesMax / 2));
      await this.#send(events.slice(0, half));
      await this.#send(events.slice(half));
    }
  }
}

/** The seed determines the id of a new event. A duplicate has that of the first event instead. */
function duplicatesAmong(ids: readonly string[], seed: EventIdSeed | null): number {
  return seed === null ? 0 : ids.filter((id, position) => id !== seededEventId(seed, position + 1)).length;
}

/** The service refused events, or may have stored them. Other faults, such as of the key, are not about the events of a request. */
const ABOUT_EVENTS: ReadonlySet<string | null> = new Set([
  "body_invalid",
  "body_too_large",
  "events_too_many",
  "event_invalid",
  "event_schema",
  "event_name_denied",
  "answer_lost",
]);

/** Adds the part of the input that a refused request contained. */
function named(fault: CommandFault, events: readonly EventText[]): CommandFault {
  const { lines, code, exitCode } = fault;
  if (!ABOUT_EVENTS.has(code)) return fault;
  const [first, last] = [events[0]?.origin, events.at(-1)?.origin];
  return new CommandFault([`${first === last ? first : `${first} to ${last}`}: ${lines[0]}`, ...lines.slice(1)], code, exitCode);
}

function result({ ids, duplicates, requests, failure }: Report): CommandResult {
  const accepted = `${ids.length.toLocaleString("en")} event${ids.length === 1 ? "" : "s"} accepted${duplicatesText(ids.length, duplicates)}`;
  const shown = ids.length <= IDS_SHOWN_MAX ? ids : [`${ids[0]} … ${ids.at(-1)}`];
  const json = { accepted: ids.length, duplicates, requests, ids, failure: failure && { error: failure.message, code: failure.code } };
  if (!failure) return { exitCode: EXIT.ok, text: [`${accepted}.`, ...shown].join("\n"), json };
  const range = ids.length > 0 ? `: ${ids[0]} … ${ids.at(-1)}` : "";
  return { exitCode: failure.exitCode, text: `${accepted}${range}.`, json };
}

function duplicatesText(accepted: number, duplicates: number): string {
  if (duplicates === 0) return "";
  if (accepted === 1) return ", a duplicate";
  return duplicates === 1 ? ", 1 of them a duplicate" : `, ${duplicates.toLocaleString("en")} of them duplicates`;
}
