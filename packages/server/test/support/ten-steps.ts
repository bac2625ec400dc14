/** What ten-steps-app.ts does, for who starts it and counts. */

/** The steps with bodies, in their order. Two sends, two sleeps and a wait stand between them. */
export const RUN_STEPS = ["first", "second", "third", "fourth", "fifth", "last"] as const;
/** The events one run sends, each of which starts a run of its own. */
export const SENT_LABELS = ["one", "two", "three"] as const;
