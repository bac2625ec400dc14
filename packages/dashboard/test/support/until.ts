/** Polls until the condition is true or the deadline has passed. */

const PATIENCE_MS = 300_000;
/** Most conditions ask the service, which costs more CPU time than a test saves by knowing earlier. */
const ASK_EVERY_MS = 100;

export async function until<Answer>(what: string, ask: () => Promise<Answer | null | undefined | false>): Promise<Answer> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
  }
}
