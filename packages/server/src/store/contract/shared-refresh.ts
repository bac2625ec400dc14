/**
 * Reads again what is cached in memory. Calls made while a read is in progress share the next one, so many changes at once cost two reads.
 * The read that a call resolves with always began after the call, so it contains the caller's change.
 */
export function sharedRefresh(read: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  let next: Promise<void> | null = null;
  return () => {
    if (next) return next;
    next = last
      .catch(() => {})
      .then(() => {
        next = null;
        return read();
      });
    last = next;
    return next;
  };
}
