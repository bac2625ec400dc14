/** A signal, sent to the run that waits for it. */
export interface SentSignal {
  signal: string;
  /** Any JSON value. */
  data?: unknown;
}
