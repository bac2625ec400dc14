/** Deletes a webhook and leads to the list. Nothing asks for a webhook that may be gone: the page behind does not query while this is open. */

import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { call } from "../api/client.ts";
import { versionsQuery, webhookQuery } from "../api/queries.ts";
import { reload } from "../api/reload.ts";
import type { Webhook } from "../api/types.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { toast } from "../ui/toasts.tsx";

export function DeleteWebhook({ env, webhook, onClose }: { env: string; webhook: Webhook; onClose: () => void }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  async function remove() {
    await Promise.all(keysOf(webhook.id).map((queryKey) => queries.cancelQueries({ queryKey })));
    await call(`/webhooks/${encodeURIComponent(webhook.id)}`, { method: "DELETE" });
    // The list shows no webhook that was deleted, also before it is loaded again.
    queries.setQueriesData<Webhook[]>({ queryKey: ["webhooks"] }, (listed) => listed?.filter(({ id }) => id !== webhook.id));
    await reload(queries, ["webhooks"]);
    toast("ok", `${webhook.name} deleted.`);
    await navigate({ to: "/env/$env/webhooks", params: { env } });
    for (const queryKey of keysOf(webhook.id)) queries.removeQueries({ queryKey });
  }
  return (
    <FormDialog title={`Delete ${webhook.name}?`} submit="Delete" danger onClose={onClose} onSubmit={remove}>
      <p className="second">Its URL returns 404 from then on and is never reused. Its events remain.</p>
    </FormDialog>
  );
}

const keysOf = (id: string) => [webhookQuery(id).queryKey, versionsQuery(id).queryKey, ["webhook-requests", id]];
