/** Providers of files. */

import type { Provider } from "../provider.ts";

export const STORAGE: readonly Provider[] = [
  {
    id: "dropbox",
    title: "Dropbox",
    category: "storage",
    sends: "The ids of accounts in which files changed, as JSON. Ask the API what changed",
    setUp: "Dropbox App Console, your app, Webhooks: add the URI",
    signatureHeader: "X-Dropbox-Signature",
    verify: { scheme: "hmac", header: "X-Dropbox-Signature", algorithm: "sha256", encoding: "hex", signed: "{raw}" },
    secretFrom: "The app secret",
    handshake: { preset: "dropbox" },
    note: null,
    retries: null,
    timeout: null,
    documentation: "https://www.dropbox.com/developers/reference/webhooks",
    notReconciled: "A request contains only ids of accounts. Ask the API what changed in them.",
    source: {
      verify: "https://gist.github.com/Foxy79/cc4aceb1a71e9cc60f87",
      handshake: "https://www.dropbox.com/developers/reference/webhooks",
      setUp: "https://www.dropbox.com/developers/reference/webhooks",
      reconcile: "https://www.dropbox.com/developers/reference/webhooks",
    },
  },
  {
    id: "box",
    title: "Box",
    category: "storage",
    sends: "Files, folders, comments and tasks, as JSON",
    setUp: "Box Developer Console, your app, Webhooks: create a webhook (V2)",
    signatureHeader: "Box-Signature-Primary",
    verify: {
      scheme: "hmac",
      header: "Box-Signature-Primary",
      algorithm: "sha256",
      encoding: "base64",
      signed: "{raw}{timestamp}",
      timestampHeader: "Box-Delivery-Timestamp",
    },
    secretFrom: "The primary signature key under Manage signature keys",
    handshake: null,
    note: null,
    retries: "Up to 10 times: 5 minutes after the failure, then with growing delays",
    timeout: "30 s",
    documentation: "https://developer.box.com/guides/webhooks/v2/signatures-v2/",
    notReconciled: "Events in its API differ from webhook requests in their ids, types and format.",
    source: {
      verify: "https://developer.box.com/guides/webhooks/v2/signatures-v2",
      setUp: "https://developer.box.com/guides/webhooks/handle/setup-signatures",
      retries: "https://box.dev/en/guides/webhooks/handle/retries/",
      timeout: "https://box.dev/en/guides/webhooks/handle/retries/",
      reconcile: "https://developer.box.com/reference/get-events",
    },
  },
];
