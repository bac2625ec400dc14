/**
 * The time limit of a run, in CPU time of this thread, so that a busy machine does not cause timeouts.
 * Once exceeded, it stays exceeded until the next run, however often the code is asked to stop.
 */

export class Deadline {
  #wallStart = 0;
  #cpuStartMs = 0;
  #limitMs = 0;
  #passed = false;

  start(limitMs: number): void {
    this.#limitMs = limitMs;
    this.#passed = false;
    this.#cpuStartMs = threadCpuMs();
    this.#wallStart = performance.now();
  }

  get passed(): boolean {
    // CPU time never exceeds wall-clock time, which is cheaper to read.
    if (!this.#passed && this.wallMs > this.#limitMs) this.#passed = this.cpuMs > this.#limitMs;
    return this.#passed;
  }

  get cpuMs(): number {
    return threadCpuMs() - this.#cpuStartMs;
  }

  get wallMs(): number {
    return performance.now() - this.#wallStart;
  }
}

/** Node 22 cannot read the CPU time of one thread; wall-clock time is used there. */
const threadCpuMs: () => number =
  typeof process.threadCpuUsage === "function"
    ? () => {
        const { user, system } = process.threadCpuUsage();
        return (user + system) / 1_000;
      }
    : () => performance.now();
