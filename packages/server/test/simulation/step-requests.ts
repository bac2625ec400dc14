/** Requests that the service makes for steps. Their address says what becomes of them: see fetchUrl. */

import { givenUp, type NoResponse, unreachable } from "../../src/execute/call/no-response.ts";
import type { AppResponse } from "../../src/execute/call/read-response.ts";
import type { Journal } from "./journal.ts";
import type { RequestNote } from "./journal-notes.ts";
import { after } from "./virtual-time.ts";

export type RequestResponse = AppResponse & { url: string };

export class StepRequests {
  readonly #journal: Journal;
  readonly #pending = new Map<RequestNote, (error: NoResponse) => void>();
  readonly #stopping = new Set<number>();

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  make({ url, signal }: { url: string; signal?: AbortSignal }, process: number): Promise<RequestResponse> {
    // Its lease was lost before it was made.
    if (signal?.aborted) return Promise.reject(givenUp());
    const [, fails, status, tookMs, runId, step = ""] = new URL(url).pathname.split("/");
    const key = `${runId}/${decodeURIComponent(step)}`;
    const note = this.#journal.noteRequest(key, process);
    const isRefused = (this.#journal.requests.get(key)?.length ?? 0) <= Number(fails);
    return new Promise((resolve, reject) => {
      this.#pending.set(note, reject);
      signal?.addEventListener("abort", () => this.#giveUp(note));
      after(Number(tookMs), () => {
        if (!this.#pending.delete(note)) return;
        // A process that stops repeats what gets no response: its own stop may be the reason.
        this.#journal.endRequest(note, !isRefused ? "answered" : this.#stopping.has(process) ? "stopped" : "refused");
        if (isRefused) reject(unreachable("server", "nothing listens at its address"));
        else resolve({ status: Number(status), headers: {}, body: key, url });
      });
    });
  }

  /** The process begins to stop. What it has asked for may still be answered. */
  drain(process: number): void {
    this.#stopping.add(process);
  }

  kill(process: number): void {
    for (const note of this.#of(process)) {
      this.#pending.delete(note);
      this.#journal.endRequest(note, "killed");
    }
  }

  stop(process: number): void {
    for (const note of this.#of(process)) this.#giveUp(note);
  }

  #of(process: number): RequestNote[] {
    return [...this.#pending.keys()].filter((note) => note.process === process);
  }

  #giveUp(note: RequestNote): void {
    const reject = this.#pending.get(note);
    if (!this.#pending.delete(note)) return;
    this.#journal.endRequest(note, "stopped");
    reject?.(unreachable("server", "the service stops"));
  }
}
