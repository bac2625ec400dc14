/** Settings of this browser, and information about the service. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { sessionQuery } from "../api/session.ts";
import { isUnavailable } from "../api/unavailable.ts";
import { Reachability } from "../dev-server/send-dialog.tsx";
import { DEFAULT_TARGET, readTarget, setDevServerTarget, TARGET_HINT, useDevServerTarget } from "../dev-server/target.ts";
import { setTheme, THEMES, useTheme } from "../shell/theme.tsx";
import { ErrorState, SkeletonRows } from "../ui/states.tsx";
import { Time } from "../ui/time.tsx";
import { OpenSessions } from "./open-sessions.tsx";

export function SettingsPage() {
  return (
    <div className="page">
      <div className="page-head">
        <h1>Settings</h1>
      </div>
      <div className="cards">
        <About />
        <div className="stack">
          <DevServer />
          <Appearance />
        </div>
      </div>
      <OpenSessions />
    </div>
  );
}

function Appearance() {
  const theme = useTheme();
  return (
    <section className="card" aria-label="Appearance">
      <div className="card-head">
        <h2>Appearance</h2>
      </div>
      <div className="card-body">
        <div className="segments">
          {THEMES.map((one) => (
            <button key={one} type="button" className="segment" aria-pressed={one === theme} onClick={() => setTheme(one)}>
              {{ system: "System", light: "Light", dark: "Dark" }[one]}
            </button>
          ))}
        </div>
      </div>
    </section>
  );
}

function DevServer() {
  const target = useDevServerTarget();
  const [text, setText] = useState(target);
  const address = readTarget(text);
  return (
    <section className="card" aria-label="Send to Dev Server">
      <div className="card-head">
        <h2>Send to Dev Server</h2>
      </div>
      <div className="card-body">
        <label className="field">
          <span>URL of your dev server</span>
          <input
            className="input mono"
            value={text}
            placeholder={DEFAULT_TARGET}
            spellCheck={false}
            onChange={({ target: { value } }) => {
              setText(value);
              const read = readTarget(value);
              if (read) setDevServerTarget(read);
            }}
          />
          {address ? <Reachability target={address} /> : <small>{TARGET_HINT}</small>}
        </label>
      </div>
    </section>
  );
}

function About() {
  const { data, error, refetch } = useQuery(sessionQuery);
  return (
    <section className="card" aria-label="This service">
      <div className="card-head">
        <h2>This service</h2>
      </div>
      <div className="card-body">
        {isUnavailable(error, data) ? (
          <ErrorState error={error} onRetry={() => void refetch()} />
        ) : !data ? (
          <SkeletonRows rows={3} />
        ) : (
          <dl className="facts">
            <dt>Version</dt>
            <dd>{data.version}</dd>
            <dt>Mode</dt>
            <dd>{data.mode === "dev" ? "dev server: no keys, this machine only" : "server: keys required"}</dd>
            <dt>Default environment</dt>
            <dd>{data.defaultEnvironment}</dd>
            <dt>Signed in as</dt>
            <dd>{data.required ? `${data.name ?? "unknown"} (${data.role})` : "not signed in (dev server)"}</dd>
            {data.expiresAt && (
              <>
                <dt>Session expires</dt>
                <dd>
                  <Time at={data.expiresAt} />
                </dd>
              </>
            )}
            <dt>REST API</dt>
            <dd>
              <a href="/v1/openapi.json">/v1/openapi.json</a>
            </dd>
          </dl>
        )}
      </div>
    </section>
  );
}
