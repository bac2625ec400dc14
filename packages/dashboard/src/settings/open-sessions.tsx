/** Open sessions, with a button to end each and one to end all of one's own. Hidden on a dev server, which has no sign-in. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { call, callForAll } from "../api/client.ts";
import { reload } from "../api/reload.ts";
import { sessionQuery, useMayAdminister } from "../api/session.ts";
import type { OpenSession } from "../api/types.ts";
import { isUnavailable } from "../api/unavailable.ts";
import { useSignOut } from "../shell/use-sign-out.ts";
import { Icon } from "../ui/icon.tsx";
import { ErrorState, SkeletonRows } from "../ui/states.tsx";
import { ACTIONS, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { withToast } from "../ui/toasts.tsx";

export function OpenSessions() {
  const { data: session } = useQuery(sessionQuery);
  return session?.required ? <SessionTable /> : null;
}

function SessionTable() {
  const signOut = useSignOut();
  const { data, error, refetch } = useQuery({ queryKey: ["sessions"], queryFn: () => callForAll<OpenSession>("/sessions") });
  return (
    <section className="stack" aria-label="Open sessions">
      <div className="page-head">
        <h2>Open sessions</h2>
        <div className="actions">
          <button
            type="button"
            className="button small danger"
            title="Ends every session of the same person or API key, this one too"
            onClick={() => void signOut("everywhere")}
          >
            <Icon name="logOut" /> Sign out everywhere
          </button>
        </div>
      </div>
      {isUnavailable(error, data) ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : !data ? (
        <SkeletonRows rows={2} />
      ) : (
        <Table columns={["Signed in with", "Role", "From", "Since", "Last seen", ACTIONS]} isStacked>
          {data.map((session) => (
            <SessionRow key={session.id} session={session} />
          ))}
        </Table>
      )}
    </section>
  );
}

function SessionRow({ session }: { session: OpenSession }) {
  const queries = useQueryClient();
  const mayAdminister = useMayAdminister();
  async function end() {
    await withToast(call(`/sessions/${encodeURIComponent(session.id)}`, { method: "DELETE" }), "Session ended.");
    await reload(queries, ["sessions"]);
  }
  return (
    <tr>
      <td className="strong">
        {session.name} {session.current && <span className="badge plain">this one</span>}
      </td>
      <td data-label="Role" className="second">
        {session.role}
      </td>
      <td data-label="From" className="second" title={session.userAgent ?? undefined}>
        {session.ip}
      </td>
      <td data-label="Since" className="second">
        <Time at={session.createdAt} />
      </td>
      <td data-label="Last seen" className="second">
        <Time at={session.lastSeenAt} relative />
      </td>
      <td className="right">
        {mayAdminister && !session.current && (
          <button type="button" className="button small danger" onClick={() => void end()}>
            End
          </button>
        )}
      </td>
    </tr>
  );
}
