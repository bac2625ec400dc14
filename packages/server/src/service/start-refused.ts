/** The service cannot start with its configuration. The message says what to do; the process ends with exit code 1. */
export class StartRefused extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "StartRefused";
  }
}
