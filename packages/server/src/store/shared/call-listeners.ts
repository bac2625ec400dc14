/**
 * Calls listeners, each on its own. What they are told has happened, whatever they do: a fault becomes a warning of the process, and
 * affects neither the other listeners nor the caller, which may be the write path of a committed transaction or a socket.
 */
export function callListeners(...listeners: readonly (() => void)[]): void {
  for (const listener of listeners) {
    try {
      listener();
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error));
    }
  }
}
