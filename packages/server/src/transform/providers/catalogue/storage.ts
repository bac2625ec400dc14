/** Providers of files. */

import type { Provider } from "../provider.ts";

export const STORAGE: readonly Provider[] = [
  {
    id: "dropbox",
    title: "Dropbox",
    category: "storage",
    sends: "Accounts in which files changed, as JSON: ask the API what changed",
    setUp: "Dropbox App Console, your app, Webhooks: add the URI",
    signatureHeader: "X-Dropbox-Signature",
    verify: { scheme: "hmac", header: "X-Dropbox-Signature", algorithm: "sha256", encoding: "hex", signed: "{raw}" },
    secretFrom: "The app secret",
    handshake: { preset: "dropbox" },
    note: null,
    retries: "For about 8 hours, with growing delays",
    timeout: "10 s",
    documentation: "https://www.dropbox.com/developers/reference/webhooks",
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
    retries: "10 times with growing delays",
    timeout: "30 s",
    documentation: "https://developer.box.com/guides/webhooks/v2/signatures-v2/",
  },
];
