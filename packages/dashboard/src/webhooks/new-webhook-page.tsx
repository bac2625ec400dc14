/** Creates a webhook from a provider's starter transform. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useState } from "react";
import { saveAlertRule } from "../api/alerts.ts";
import { call } from "../api/client.ts";
import { providersQuery } from "../api/queries.ts";
import { reload } from "../api/reload.ts";
import type { Provider, Webhook } from "../api/types.ts";
import { isUnavailable } from "../api/unavailable.ts";
import { SHARED } from "../shell/environment-names.ts";
import { CodeBlock } from "../ui/copy.tsx";
import { Crumbs } from "../ui/crumbs.tsx";
import { ErrorState, messageOf, Notice, SkeletonRows } from "../ui/states.tsx";
import { withToast } from "../ui/toasts.tsx";
import { checksOf, silenceRule } from "./new-webhook.ts";

export function NewWebhookPage() {
  const { env } = useParams({ from: "/env/$env" });
  const { data: providers, error, refetch } = useQuery(providersQuery);
  return (
    <div className="page">
      <Crumbs env={env} to="/env/$env/webhooks" list="Webhooks">
        New
      </Crumbs>
      <div className="page-head">
        <h1>New webhook{env === SHARED && " for all branches"}</h1>
        <p>Choose the provider. You can edit and test the transform after you create the webhook.</p>
      </div>
      {isUnavailable(error, providers) ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : providers ? (
        <CreateForm env={env} providers={providers} />
      ) : (
        <SkeletonRows />
      )}
    </div>
  );
}

function CreateForm({ env, providers }: { env: string; providers: Provider[] }) {
  const anyProvider = providers.at(-1) as Provider;
  const [wanted, setWanted] = useState<Provider>(anyProvider);
  const [name, setName] = useState("");
  const [search, setSearch] = useState("");
  const [secret, setSecret] = useState("");
  const [verifyToken, setVerifyToken] = useState("");
  const [silenceSeconds, setSilenceSeconds] = useState(0);
  const [fault, setFault] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const ordered = [...providers.slice(-1), ...providers.slice(0, -1)];
  const sought = search.trim().toLowerCase();
  const found = ordered.filter(({ id, title, sends, category }) => `${id} ${title} ${sends} ${category}`.toLowerCase().includes(sought));
  // What the search hides is not chosen.
  const chosen = found.find(({ id }) => id === wanted.id) ?? found[0] ?? anyProvider;
  const needsToken = chosen.handshake?.preset === "meta";

  async function create(event: FormEvent) {
    event.preventDefault();
    setFault(null);
    setBusy(true);
    try {
      const checks = checksOf(chosen, secret.trim(), verifyToken.trim());
      const { title, transform, answer } = chosen;
      const body = { name: name.trim() || title, transform, environment: env, ...checks, ...(answer && { answer }) };
      const created = await call<Webhook>("/webhooks", { method: "POST", env, body });
      if (silenceSeconds > 0)
        await withToast(saveAlertRule(env, null, silenceRule(created, silenceSeconds)), "An alert is raised when it is silent.");
      await reload(queries, ["webhooks"]);
      await navigate({ to: "/env/$env/webhooks/$id", params: { env, id: created.id } });
    } catch (reason) {
      setFault(reason);
    }
    setBusy(false);
  }

  return (
    <form className="stack" onSubmit={create}>
      <label className="field" style={{ maxWidth: 420 }}>
        <span>Search providers</span>
        <input
          className="input"
          type="search"
          value={search}
          placeholder="stripe, mail, forms"
          onChange={({ target }) => setSearch(target.value)}
        />
      </label>
      <ProviderChoice found={found} chosen={chosen} onChoose={setWanted} />
      <label className="field" style={{ maxWidth: 420 }}>
        <span>Name</span>
        <input className="input" value={name} maxLength={128} placeholder={chosen.title} onChange={({ target }) => setName(target.value)} />
      </label>
      {chosen.secretFrom !== null && (
        <SecretField label="Secret (optional)" value={secret} onChange={setSecret}>
          {chosen.secretFrom}. With it, every request is verified; without it, none is.
        </SecretField>
      )}
      {needsToken && (
        <SecretField label="Verify token" value={verifyToken} onChange={setVerifyToken}>
          Choose any text, and enter it at the provider too.
        </SecretField>
      )}
      {env !== SHARED && <SilenceField seconds={silenceSeconds} onChange={setSilenceSeconds} />}
      <p className="quiet">Where to enter the URL: {chosen.setUp}.</p>
      <ProviderFacts provider={chosen} />
      {fault !== null && (
        <Notice kind="bad" icon="alert">
          {messageOf(fault)}
        </Notice>
      )}
      <div>
        <button type="submit" className="button primary" disabled={busy}>
          Create webhook
        </button>
      </div>
      <h2>Starter transform</h2>
      <CodeBlock text={chosen.transform} label="Copy transform" />
    </form>
  );
}

interface ProviderChoiceProps {
  found: readonly Provider[];
  chosen: Provider;
  onChoose: (provider: Provider) => void;
}

function ProviderChoice({ found, chosen, onChoose }: ProviderChoiceProps) {
  return (
    <>
      {found.length === 0 && <p className="quiet">No provider matches. Start with "Any provider".</p>}
      <fieldset className="providers">
        <legend className="visually-hidden">Provider</legend>
        {found.map((provider) => (
          <label key={provider.id} className="provider">
            <input type="radio" name="provider" checked={provider.id === chosen.id} onChange={() => onChoose(provider)} />
            <span className="provider-mark" aria-hidden="true">
              {provider.title[0]}
            </span>
            <span className="grow">
              <span className="strong">{provider.title}</span>
              <span className="quiet small provider-sends">{provider.sends}</span>
            </span>
          </label>
        ))}
      </fieldset>
    </>
  );
}

interface SecretFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  /** What it is for. */
  children: ReactNode;
}

function SecretField({ label, value, onChange, children }: SecretFieldProps) {
  return (
    <label className="field" style={{ maxWidth: 420 }}>
      <span>{label}</span>
      <input className="input" type="password" autoComplete="off" value={value} onChange={({ target }) => onChange(target.value)} />
      <span className="quiet small">{children}</span>
    </label>
  );
}

const SILENCES = [
  [0, "Never"],
  [3_600, "1 hour"],
  [86_400, "1 day"],
  [604_800, "1 week"],
] as const;

function SilenceField({ seconds, onChange }: { seconds: number; onChange: (seconds: number) => void }) {
  return (
    <label className="field" style={{ maxWidth: 420 }}>
      <span>Raise an alert when no request comes for</span>
      <select className="input" value={seconds} onChange={({ target }) => onChange(Number(target.value))}>
        {SILENCES.map(([value, title]) => (
          <option key={value} value={value}>
            {title}
          </option>
        ))}
      </select>
      <span className="quiet small">A provider that disabled the webhook sends nothing, not even errors.</span>
    </label>
  );
}

function ProviderFacts({ provider: { note, timeout, retries, documentation } }: { provider: Provider }) {
  return (
    <p className="quiet small">
      {note !== null && `${note} `}
      {timeout !== null && `Timeout: ${timeout}. `}
      {retries !== null && `Retries: ${retries}. `}
      {documentation !== null && (
        <a href={documentation} target="_blank" rel="noreferrer">
          Documentation
        </a>
      )}
    </p>
  );
}
