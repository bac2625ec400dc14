/** The branch environments that get copies of a webhook's events, and the fraction that is copied. */

import { useQueryClient } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { call } from "../api/client.ts";
import { webhookQuery } from "../api/queries.ts";
import { useMayChangeIngestion } from "../api/session.ts";
import type { Webhook } from "../api/types.ts";
import { withToast } from "../ui/toasts.tsx";
import { useFormDraft } from "./use-form-draft.ts";

export function MirrorForm({ webhook }: { webhook: Webhook }) {
  const { draft, change, reset } = useFormDraft(draftOfMirror(webhook));
  const { to, percent } = draft;
  const queries = useQueryClient();
  const mayChange = useMayChangeIngestion();
  const names = to
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

  async function save(event: FormEvent) {
    event.preventDefault();
    const mirror = names.length === 0 ? null : { to: names, sample: Number(percent) / 100 };
    const path = `/webhooks/${encodeURIComponent(webhook.id)}`;
    const saved = await withToast(
      call<Webhook>(path, { method: "PUT", body: { mirror } }),
      mirror ? "Mirroring is on." : "Mirroring is off.",
    );
    if (!saved) return;
    queries.setQueryData(webhookQuery(webhook.id).queryKey, saved);
    reset();
  }

  return (
    <form className="card card-body stack settings-form" onSubmit={save} aria-label="Mirroring to branches">
      <label className="field">
        <span>Mirror events to branch environments</span>
        <textarea
          className="input code"
          rows={2}
          spellCheck={false}
          placeholder="feature/*"
          value={to}
          onChange={({ target }) => change({ to: target.value })}
        />
        <span className="quiet small">
          One name per line, which may end in *. Copies are marked and not counted as traffic. Empty: off.
        </span>
      </label>
      {names.length > 0 && (
        <label className="field">
          <span>Share of the events, in percent</span>
          <input
            className="input"
            type="number"
            required
            min={0.01}
            max={100}
            step="any"
            value={percent}
            onChange={({ target }) => change({ percent: target.value })}
          />
        </label>
      )}
      {mayChange && (
        <div>
          <button type="submit" className="button primary">
            Update mirroring
          </button>
        </div>
      )}
    </form>
  );
}

function draftOfMirror({ mirror }: Webhook) {
  return { to: mirror?.to.join("\n") ?? "", percent: percentOf(mirror?.sample ?? 1) };
}

/** As it was typed: 0.07 * 100 is a little more than 7. */
function percentOf(sample: number): string {
  return String(Number((sample * 100).toPrecision(12)));
}
