/** The pages of functions, apps and webhooks, as one file to load. */

export { AppsPage } from "../apps/apps-page.tsx";
export { FunctionPage } from "../functions/function-page.tsx";
export { FunctionsPage } from "../functions/functions-page.tsx";
export { NewWebhookPage } from "../webhooks/new-webhook-page.tsx";
export { WebhookPage } from "../webhooks/webhook-page.tsx";
export { WebhooksPage } from "../webhooks/webhooks-page.tsx";
