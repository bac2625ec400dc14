/** The dialog that asks for the URL of a dev server, sends something there and shows how it responded. */

import { type ReactNode, useState } from "react";
import { Dialog } from "../ui/dialog.tsx";
import { Icon, type IconName } from "../ui/icon.tsx";
import { Notice } from "../ui/states.tsx";
import { DEFAULT_TARGET, isThisService, readTarget, setDevServerTarget, TARGET_HINT, useDevServerTarget, useReachable } from "./target.ts";

/** `id` is what the dev server returned, `page` where it shows what was sent. */
export type SendOutcome = { ok: true; id: string; page: string } | { ok: false; message: string };

interface SendProps {
  title: string;
  send: (target: string) => Promise<SendOutcome>;
  /** What is sent. */
  children: ReactNode;
}

export function SendButton({ small = false, ...props }: SendProps & { small?: boolean }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" className={`button${small ? " small" : ""}`} onClick={() => setOpen(true)}>
        <Icon name="laptop" size={small ? 14 : 16} /> {props.title}
      </button>
      {open && <SendDialog {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

function SendDialog({ title, send, children, onClose }: SendProps & { onClose: () => void }) {
  const target = useDevServerTarget();
  const [text, setText] = useState(target);
  const [outcome, setOutcome] = useState<SendOutcome | null>(null);
  const [busy, setBusy] = useState(false);
  const address = readTarget(text);

  async function submit() {
    if (!address) return;
    setDevServerTarget(address);
    setBusy(true);
    setOutcome(await send(address));
    setBusy(false);
  }

  return (
    <Dialog title={title} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(submitted) => {
          submitted.preventDefault();
          void submit();
        }}
      >
        <p className="second">{children}</p>
        <label className="field">
          <span>URL of the dev server</span>
          <input
            className="input mono"
            value={text}
            onChange={({ target: { value } }) => setText(value)}
            placeholder={DEFAULT_TARGET}
            spellCheck={false}
          />
          {address ? <Reachability target={address} /> : <small>{TARGET_HINT}</small>}
        </label>
        {outcome && <Outcome outcome={outcome} />}
        <div className="dialog-foot">
          <button type="button" className="button" onClick={onClose}>
            {outcome?.ok ? "Close" : "Cancel"}
          </button>
          <button type="submit" className="button primary" disabled={busy || !address}>
            <Icon name="send" /> {outcome?.ok ? "Send again" : "Send"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function Outcome({ outcome }: { outcome: SendOutcome }) {
  if (!outcome.ok)
    return (
      <Notice kind="bad" icon="alert">
        {outcome.message}
      </Notice>
    );
  return (
    <Notice kind="ok" icon="checkCircle">
      Sent. The dev server returned the id <code>{outcome.id}</code>.{" "}
      <a href={outcome.page} target="_blank" rel="noreferrer">
        Open it there
      </a>
    </Notice>
  );
}

export function Reachability({ target }: { target: string }) {
  const { isPending, isSuccess } = useReachable(target);
  if (isThisService(target)) return <Reached icon="alert" text="This is the service that you are looking at, not another dev server" />;
  if (isPending) return <small role="status">Checking…</small>;
  if (isSuccess) return <Reached icon="checkCircle" text="The dev server is reachable" />;
  return <Reached icon="xCircle" text="Not reachable. Start one with inlet dev" />;
}

function Reached({ icon, text }: { icon: IconName; text: string }) {
  return (
    <small role="status" className="row" style={{ gap: 5 }}>
      <Icon name={icon} size={14} /> {text}
    </small>
  );
}
