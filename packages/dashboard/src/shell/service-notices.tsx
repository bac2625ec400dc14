/** Notices about the service itself: it does not respond, or it serves a new version of the dashboard. */

import { useAwaySince } from "../api/connection.ts";
import { useNewVersion } from "../api/new-version.ts";
import { Notice } from "../ui/states.tsx";
import { ago, useNow } from "../ui/time.tsx";

export function ServiceNotices() {
  const awaySince = useAwaySince();
  const isNew = useNewVersion();
  if (awaySince !== null) return <Outage since={awaySince} />;
  if (!isNew) return null;
  return (
    <div className="main-notice" role="status">
      <Notice kind="info" icon="refresh">
        A new version of Inlet is running. The next page you open loads it.{" "}
        <button type="button" className="link" onClick={() => location.reload()}>
          Load it now
        </button>
      </Notice>
    </div>
  );
}

function Outage({ since }: { since: number }) {
  const now = useNow(1_000);
  return (
    <div className="main-notice" role="status">
      <Notice kind="warn" icon="alert">
        No connection to the service. It last responded {ago(since, now)}, and this page shows the state of that time. It reconnects
        automatically.
      </Notice>
    </div>
  );
}
