/**
 * A JSON text as a tree. Children are read when a node is expanded, a hundred at a time, and long strings are
 * truncated, so that large payloads open quickly. Everything is rendered as text, never as HTML.
 */

import { useMemo, useState } from "react";
import { entriesOf, type JsonEntry, type JsonText, kindOf } from "../api/json-text.ts";
import { Icon } from "./icon.tsx";
import { plural } from "./numbers.ts";

const CHILDREN_STEP = 100;
const STRING_UNITS_MAX = 400;
/** Nodes up to this size are expanded initially, down to this depth. */
const OPEN_DEPTH = 3;
const OPEN_UNITS_MAX = 3_000;

export function JsonTree({ text, label }: { text: JsonText; label: string }) {
  return (
    <section className="json" aria-label={`${label}, as a tree`}>
      <ul>
        <Node entry={{ key: null, text }} depth={0} />
      </ul>
    </section>
  );
}

function Node({ entry: { key, text }, depth }: { entry: JsonEntry; depth: number }) {
  const kind = kindOf(text);
  if (kind === "object" || kind === "array") return <Branch name={key} text={text} depth={depth} isArray={kind === "array"} />;
  return (
    <li className="json-leaf">
      <Name name={key} />
      {kind === "string" ? <LongString text={text} /> : <span className={`json-${kind}`}>{text}</span>}
    </li>
  );
}

function Branch({ name, text, depth, isArray }: { name: string | null; text: JsonText; depth: number; isArray: boolean }) {
  const [open, setOpen] = useState(depth === 0 || (depth < OPEN_DEPTH && text.length < OPEN_UNITS_MAX));
  const [shown, setShown] = useState(CHILDREN_STEP);
  const children = useMemo(() => entriesOf(text), [text]);
  const [left, right] = isArray ? ["[", "]"] : ["{", "}"];
  if (children.length === 0) {
    return (
      <li className="json-leaf">
        <Name name={name} />
        <span className="json-count">{left + right}</span>
      </li>
    );
  }
  return (
    <li>
      <button type="button" className="json-toggle" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name="chevronRight" size={14} />
        <span>
          <Name name={name} />
          <span className="json-count">
            {open ? left : `${left} … ${right}`} <span className="json-size">{plural(children.length, isArray ? "item" : "key")}</span>
          </span>
        </span>
      </button>
      {open && (
        <ul>
          {children.slice(0, shown).map((entry, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: keys may be duplicated; positions never change
            <Node key={i} entry={isArray ? { key: String(i), text: entry.text } : entry} depth={depth + 1} />
          ))}
          {children.length > shown && (
            <li>
              <button type="button" className="json-more" onClick={() => setShown(shown + CHILDREN_STEP * 5)}>
                {children.length - shown} more
              </button>
            </li>
          )}
        </ul>
      )}
    </li>
  );
}

function Name({ name }: { name: string | null }) {
  return name === null ? null : (
    <>
      <span className="json-key">{name}</span>
      <span className="json-count">: </span>
    </>
  );
}

function LongString({ text }: { text: JsonText }) {
  const [whole, setWhole] = useState(text.length <= STRING_UNITS_MAX);
  return (
    <>
      <span className="json-string">{whole ? text : `${text.slice(0, STRING_UNITS_MAX)}…`}</span>
      {!whole && (
        <button type="button" className="json-more" onClick={() => setWhole(true)}>
          show all {text.length} characters
        </button>
      )}
    </>
  );
}
