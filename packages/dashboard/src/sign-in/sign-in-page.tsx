/** Sign-in with an API key, or with a one-time login link. The link's token is in the URL fragment. */

import { useQueryClient } from "@tanstack/react-query";
import { useRouter, useSearch } from "@tanstack/react-router";
import { type FormEvent, useEffect, useState } from "react";
import { ApiError, call, noteSignIn } from "../api/client.ts";
import { whenBack } from "../api/connection.ts";
import { ServiceNotices } from "../shell/service-notices.tsx";
import { Icon } from "../ui/icon.tsx";
import { messageOf, Notice } from "../ui/states.tsx";

type Credentials = { apiKey: string } | { loginToken: string };

export function SignInPage() {
  const { next = "/", expired = false } = useSearch({ from: "/login" });
  const [apiKey, setApiKey] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const [hasProvider, setHasProvider] = useState(false);
  const queries = useQueryClient();
  const router = useRouter();

  async function signIn(credentials: Credentials) {
    setBusy(true);
    setError(null);
    try {
      await call("/session", { method: "POST", body: credentials });
      noteSignIn();
      queries.clear();
      router.history.replace(next);
    } catch (reason) {
      setError(reason);
      setBusy(false);
    }
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once, with the token from the URL
  useEffect(() => {
    const loginToken = new URLSearchParams(location.hash.slice(1)).get("token");
    if (!loginToken) return;
    // The token is valid once. Remove it from the address bar and the history.
    history.replaceState(history.state, "", location.pathname + location.search);
    void signIn({ loginToken });
  }, []);

  useEffect(() => {
    const askForProvider = () =>
      fetch("/oidc")
        .then((response) => response.json())
        .then(({ data }) => setHasProvider(data.enabled === true))
        .catch(() => undefined);
    void askForProvider();
    return whenBack(() => {
      setError((shown: unknown) => (isOutage(shown) ? null : shown));
      void askForProvider();
    });
  }, []);

  function onSubmit(event: FormEvent) {
    event.preventDefault();
    void signIn({ apiKey: apiKey.trim() });
  }

  return (
    <main className="sign-in">
      <form className="sign-in-card" onSubmit={onSubmit}>
        <img src="/favicon.svg" alt="" width={40} height={40} />
        <h1>Sign in to Inlet</h1>
        {expired && error === null && (
          <Notice kind="warn" icon="clock">
            Your session has ended. Sign in again to continue.
          </Notice>
        )}
        <label className="field">
          <span>API key</span>
          <input
            className="input mono"
            type="password"
            autoComplete="current-password"
            required
            value={apiKey}
            onChange={({ target }) => setApiKey(target.value)}
          />
          <small>Printed by the first start, together with a login link.</small>
        </label>
        <ServiceNotices />
        {error !== null && !isOutage(error) && (
          <Notice kind="bad" icon="alert">
            {messageOf(error)}
          </Notice>
        )}
        <button type="submit" className="button primary" disabled={busy}>
          {busy ? "Signing in …" : "Sign in"} <Icon name="arrowRight" />
        </button>
        {hasProvider && (
          <a className="button" href="/oidc/sign-in">
            Sign in with your provider
          </a>
        )}
      </form>
    </main>
  );
}

/** Said by the notice about the service, for as long as it lasts. */
function isOutage(error: unknown): boolean {
  return error instanceof ApiError && error.status === 0;
}
