/** The definitions that Inlet's server, SDK and CLI share. No I/O, no dependencies. */

export * from "./accept-list.ts";
export * from "./address-group.ts";
export * from "./canonical-headers.ts";
export * from "./canonical-json.ts";
export * from "./error-codes.ts";
export * from "./event-id.ts";
export * from "./event-json.ts";
export * from "./event-rules.ts";
export * from "./field-lists.ts";
export * from "./gateway-request.ts";
export * from "./headers.ts";
export * from "./ids.ts";
export * from "./job-view.ts";
export * from "./json-depth.ts";
export * from "./json-scan.ts";
export * from "./key-texts.ts";
export * from "./nearest.ts";
export * from "./parse-duration.ts";
export * from "./pattern-work.ts";
export * from "./read-event.ts";
export * from "./request-secrets.ts";
export * from "./sessions.ts";
export * from "./sign.ts";
export * from "./stable-uuid.ts";
export * from "./traceparent.ts";
export * from "./webhook-settings.ts";
