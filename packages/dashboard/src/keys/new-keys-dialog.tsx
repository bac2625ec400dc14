/** Shows keys that were created, once. */

import type { Key } from "../api/types.ts";
import { CodeBlock } from "../ui/copy.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Notice } from "../ui/states.tsx";

export function NewKeysDialog({ title, keys, onClose }: { title: string; keys: readonly Key[]; onClose: () => void }) {
  const isOne = keys.length === 1;
  return (
    <Dialog title={title} onClose={onClose}>
      <Notice kind="warn" icon="alert">
        {isOne ? "Copy the key now. It is shown only once." : "Copy the keys now. They are shown only once."}
      </Notice>
      {keys.map((key) => (
        <ShownKey key={key.id} shown={key} />
      ))}
      <div className="dialog-foot">
        <button type="button" className="button primary" onClick={onClose}>
          {isOne ? "I have copied it" : "I have copied them"}
        </button>
      </div>
    </Dialog>
  );
}

const VARIABLES: Partial<Record<Key["kind"], string>> = { event: "SERVICE_EVENT_KEY", signing: "INLET_SIGNING_KEY" };

/** The text of a new key, and where it belongs. */
function ShownKey({ shown: { kind, key = "" } }: { shown: Key }) {
  const variable = VARIABLES[kind];
  return (
    <>
      <CodeBlock text={key} label={`Copy ${kind === "api" ? "API" : kind} key`} />
      {variable && (
        <p className="second">
          Set it in your application as <code>{variable}</code>.
        </p>
      )}
    </>
  );
}
