/** Webhook requests become events: reading the request, and running the user's transform in a sandbox. */

export * from "./body/request-body.ts";
export * from "./providers/index.ts";
export * from "./transform-outcome.ts";
export * from "./transform-request.ts";
export * from "./transform-runner.ts";
export * from "./try-transform.ts";
