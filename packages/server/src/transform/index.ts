/** Turns webhook requests into events: reads the request, and runs the user's transform in a sandbox. */

export * from "./authenticate-request.ts";
export * from "./body/request-body.ts";
export * from "./handshake/handshake-response.ts";
export * from "./threads/transform-runner.ts";
export * from "./transform-outcome.ts";
export * from "./transform-request.ts";
export * from "./try-transform.ts";
export * from "./verify/check-verify.ts";
export * from "./verify/sign-request.ts";
export * from "./verify/sign-sample.ts";
export * from "./verify/signed-template.ts";
export * from "./verify/verify-request.ts";
