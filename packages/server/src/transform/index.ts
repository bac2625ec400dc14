/** Webhook requests become events: reading the body, and running the user's transform in a sandbox. */

export * from "./transform-outcome.ts";
export * from "./transform-runner.ts";
