/**
 * The lines that a function writes through `ctx.logger` during one call. They are sent with the response, so they are bounded: the first
 * lines are kept and the number of the others is reported. Recording never throws and never changes what the app's own logger gets.
 *
 * A line is recorded in the form in which it reaches the client's own logger, so what middleware masks or adds is masked or added here
 * too. If middleware replaced the logger, the line does not get there: it is recorded as the function wrote it.
 */

import type { Logger } from "../client/settings.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";

export interface LogLine {
  at: number;
  level: LogLevel;
  /** Text, unless middleware encoded it. */
  message: unknown;
  /** The hashed id of the step whose code wrote it; null: the function itself. */
  stepId: string | null;
}

const LINES_MAX = 100;
const MESSAGE_UNITS_MAX = 2_000;
const UNITS_MAX = 8_000;

export class CallLogs {
  readonly lines: LogLine[] = [];
  /** How many lines were not kept. */
  dropped = 0;
  #units = 0;
  #stepId: string | null = null;
  #isWriting = false;
  #isRecorded = false;

  /** Running a step ends the call, so every later line belongs to it. */
  enterStep(stepId: string): void {
    this.#stepId = stepId;
  }

  /** The client's own logger, as middleware gets it. Records what reaches it from the logger of the context. */
  own(logger: Logger): Logger {
    return eachLevel((level, args) => {
      if (this.#isWriting) this.#record(level, args);
      logger[level](...args);
    });
  }

  /** The logger of the context: `logger` is what middleware made of the client's own. */
  ofContext(logger: Logger): Logger {
    return eachLevel((level, args) => {
      this.#isWriting = true;
      this.#isRecorded = false;
      try {
        logger[level](...args);
      } finally {
        this.#isWriting = false;
        if (!this.#isRecorded) this.#record(level, args);
      }
    });
  }

  #record(level: LogLevel, args: readonly unknown[]): void {
    this.#isRecorded = true;
    if (this.lines.length >= LINES_MAX || this.#units >= UNITS_MAX) {
      this.dropped++;
      return;
    }
    const message = cut(args.map(shown).join(" "), Math.min(MESSAGE_UNITS_MAX, UNITS_MAX - this.#units));
    this.#units += message.length;
    this.lines.push({ at: Date.now(), level, message, stepId: this.#stepId });
  }
}

export function eachLevel(write: (level: LogLevel, args: unknown[]) => void): Logger {
  return {
    debug: (...args) => write("debug", args),
    info: (...args) => write("info", args),
    warn: (...args) => write("warn", args),
    error: (...args) => write("error", args),
  };
}

function shown(value: unknown): string {
  if (typeof value === "string") return value;
  try {
    if (value instanceof Error) return value.stack ?? `${value.name}: ${value.message}`;
    return JSON.stringify(value) ?? String(value);
  } catch {
    return "[cannot be shown as text]";
  }
}

function cut(text: string, units: number): string {
  return text.length <= units ? text : `${text.slice(0, units - 1)}…`;
}
