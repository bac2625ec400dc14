/** Limits a function without a deploy: the limits go before those that its app registered. */

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../api/client.ts";
import { reload } from "../api/reload.ts";
import { useMayRepair } from "../api/session.ts";
import type { FunctionItem, LimitedRate } from "../api/types.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { Notice } from "../ui/states.tsx";
import { Time } from "../ui/time.tsx";
import { toast } from "../ui/toasts.tsx";

/** As typed. */
interface Draft {
  concurrency: string;
  throttle: { limit: string; period: string };
  rateLimit: { limit: string; period: string };
}

export function LimitButton({ env, fn }: { env: string; fn: FunctionItem }) {
  const [isOpen, setOpen] = useState(false);
  if (!useMayRepair()) return null;
  return (
    <>
      <button type="button" className="button" onClick={() => setOpen(true)}>
        <Icon name="filter" /> Limits
      </button>
      {isOpen && <LimitDialog env={env} fn={fn} onClose={() => setOpen(false)} />}
    </>
  );
}

function LimitDialog({ env, fn, onClose }: { env: string; fn: FunctionItem; onClose: () => void }) {
  const queries = useQueryClient();
  const { concurrency, throttle, rateLimit } = fn.limits;
  const [draft, setDraft] = useState<Draft>({
    concurrency: concurrency === null ? "" : String(concurrency),
    throttle: draftOf(throttle),
    rateLimit: draftOf(rateLimit),
  });
  async function save() {
    const body = {
      concurrency: draft.concurrency === "" ? null : Number(draft.concurrency),
      throttle: rateOf(draft.throttle),
      rateLimit: rateOf(draft.rateLimit),
    };
    await call(`/functions/${encodeURIComponent(fn.id)}/limits`, { method: "PUT", env, body });
    await reload(queries, ["functions", env]);
    toast("ok", `Limits of ${fn.name} saved.`);
    onClose();
  }
  return (
    <FormDialog title={`Limits of ${fn.name}`} submit="Save" onClose={onClose} onSubmit={save}>
      <p className="second">
        Changes take effect immediately on every node and survive syncs. Leave a field empty to use the app's own limit.
      </p>
      <label className="field">
        <span>Concurrent</span>
        <input
          className="input"
          type="number"
          min={1}
          step={1}
          value={draft.concurrency}
          placeholder={registeredText(fn.config.concurrency)}
          onChange={({ target }) => setDraft({ ...draft, concurrency: target.value })}
        />
      </label>
      <RateField
        label="Starts per period (others wait)"
        registered={fn.config.throttle}
        value={draft.throttle}
        onChange={(value) => setDraft({ ...draft, throttle: value })}
      />
      <RateField
        label="Starts per period (others are dropped)"
        registered={fn.config.rateLimit}
        value={draft.rateLimit}
        onChange={(value) => setDraft({ ...draft, rateLimit: value })}
      />
    </FormDialog>
  );
}

interface RateFieldProps {
  label: string;
  registered: unknown;
  value: Draft["throttle"];
  onChange: (value: Draft["throttle"]) => void;
}

function RateField({ label, registered, value, onChange }: RateFieldProps) {
  return (
    <div className="field">
      <span>{label}</span>
      <div className="row">
        <input
          className="input"
          type="number"
          min={1}
          step={1}
          aria-label={`${label}: number`}
          value={value.limit}
          placeholder={registeredText(registered)}
          onChange={({ target }) => onChange({ ...value, limit: target.value })}
        />
        in
        <input
          className="input"
          aria-label={`${label}: period`}
          required={value.limit !== ""}
          value={value.period}
          placeholder="1m"
          onChange={({ target }) => onChange({ ...value, period: target.value })}
        />
      </div>
    </div>
  );
}

function draftOf(rate: LimitedRate | null): Draft["throttle"] {
  return rate === null ? { limit: "", period: "" } : { limit: String(rate.limit), period: rate.period };
}

function rateOf({ limit, period }: Draft["throttle"]): LimitedRate | null {
  return limit === "" ? null : { limit: Number(limit), period: period.trim() };
}

function registeredText(registered: unknown): string {
  if (registered === undefined || registered === null) return "no limit";
  const limit = typeof registered === "number" ? registered : (registered as { limit?: number }).limit;
  return limit === undefined ? "as registered" : `${limit} registered`;
}

export function LimitedNotice({ fn }: { fn: FunctionItem }) {
  const { concurrency, throttle, rateLimit, changedAt, changedBy } = fn.limits;
  if (changedAt === null) return null;
  const parts = [
    ...(concurrency === null ? [] : [`${concurrency} at a time`]),
    ...(throttle ? [`${throttle.limit} starts in ${throttle.period}, others wait`] : []),
    ...(rateLimit ? [`${rateLimit.limit} starts in ${rateLimit.period}, others are dropped`] : []),
  ];
  return (
    <Notice kind="warn" icon="filter">
      Limited without a deploy: {parts.join("; ")}. Set by {changedBy} <Time at={changedAt} />.
    </Notice>
  );
}
