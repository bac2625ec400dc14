/** Completions for transforms: the four parameters, and the fields of the sample request. */

import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import type { EditorView, Tooltip } from "@codemirror/view";

export interface TransformSample {
  evt: unknown;
  headers: Readonly<Record<string, string>>;
  queryParams: Readonly<Record<string, readonly string[]>>;
  known?: KnownEvents;
}

/** Names of event types, and the fields of the types that the transform names. */
export interface KnownEvents {
  names: readonly string[];
  fields: readonly (readonly [path: string, types: string])[];
}

const PARAMETERS: Readonly<Record<string, { type: string; text: string }>> = {
  evt: {
    type: "object",
    text: "The parsed body. For JSON, the payload. For forms, every value is an array of strings. {} for an empty body and other content types.",
  },
  headers: { type: "Record<string, string>", text: "Request headers under their canonical names: X-Github-Event, not x-github-event." },
  queryParams: {
    type: "Record<string, string[]>",
    text: "The query parameters. Every value is an array, because a name can occur more than once.",
  },
  raw: { type: "string", text: "The body exactly as received, for verifying a signature later." },
};

const RESULT_FIELDS: Completion[] = [
  { label: "name", type: "property", detail: "string", info: "The event's name, such as stripe/invoice.paid" },
  { label: "data", type: "property", detail: "object", info: "The event's content" },
  { label: "id", type: "property", detail: "string", info: "An event whose id was seen within the dedup window is a duplicate" },
  { label: "ts", type: "property", detail: "number", info: "Unix time in milliseconds" },
];

export function completeTransform(context: CompletionContext, sample: TransformSample | undefined): CompletionResult | null {
  return fieldsOf(context, sample) ?? quotedNames(context, sample) ?? eventNames(context, sample?.known) ?? words(context, sample?.known);
}

/** `name: "` → known event types. */
function eventNames(context: CompletionContext, known: KnownEvents | undefined): CompletionResult | null {
  const match = context.matchBefore(/\bname:\s*["'`][^"'`]*/);
  if (!match || !known) return null;
  const typed = /[^"'`]*$/.exec(match.text)?.[0] ?? "";
  return { from: context.pos - typed.length, options: known.names.map((label) => ({ label, type: "constant", detail: "event type" })) };
}

/** The last part of each path: fields of `data`, at any level. */
function knownFields(known: KnownEvents | undefined): Completion[] {
  return (known?.fields ?? []).flatMap(([path, types]) => {
    const label = /[\w$]+$/.exec(path)?.[0];
    return label === undefined ? [] : [{ label, type: "property", detail: types, info: `data.${path}` }];
  });
}

/** `evt.data.` → the sample's fields at that path. */
function fieldsOf(context: CompletionContext, sample: TransformSample | undefined): CompletionResult | null {
  const match = context.matchBefore(/(?:evt|headers|queryParams)(?:\??\.\w+|\[\d+\])*\??\.\w*/);
  if (!match || !sample) return null;
  const path = match.text.split(/\??\.|\[|\]/).filter(Boolean);
  const typing = /\.$/.test(match.text) ? "" : (path.pop() ?? "");
  const value = path.reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], sample);
  if (typeof value !== "object" || value === null) return null;
  const options = Object.entries(value).filter(([key]) => /^[\w$]+$/.test(key));
  return {
    from: context.pos - typing.length,
    options: options.map(([label, inner]) => ({ label, type: "property", detail: typeName(inner) })),
  };
}

/** `headers["` → the sample's names. */
function quotedNames(context: CompletionContext, sample: TransformSample | undefined): CompletionResult | null {
  const match = context.matchBefore(/(?:headers|queryParams)\??\.?\[["'][\w-]*/);
  if (!match || !sample) return null;
  const names = Object.keys(match.text.startsWith("headers") ? sample.headers : sample.queryParams);
  const typed = /[\w-]*$/.exec(match.text)?.[0] ?? "";
  return { from: context.pos - typed.length, options: names.map((label) => ({ label, type: "property" })) };
}

function words(context: CompletionContext, known: KnownEvents | undefined): CompletionResult | null {
  const word = context.matchBefore(/[A-Za-z_$]\w*/);
  if (!word && !context.explicit) return null;
  const parameters = Object.entries(PARAMETERS).map(([label, { type, text }]) => ({ label, type: "variable", detail: type, info: text }));
  return { from: word?.from ?? context.pos, options: [...parameters, ...RESULT_FIELDS, ...knownFields(known)] };
}

export function describeParameter(view: EditorView, position: number): Tooltip | null {
  const { from, text } = view.state.doc.lineAt(position);
  const start = text.slice(0, position - from).search(/\w+$/);
  const word = /^\w+/.exec(text.slice(start < 0 ? position - from : start))?.[0] ?? "";
  const known = PARAMETERS[word];
  if (!known) return null;
  return {
    pos: position,
    create: () => {
      const dom = document.createElement("div");
      dom.className = "cm-parameter-doc";
      const head = document.createElement("code");
      head.textContent = `${word}: ${known.type}`;
      dom.append(head, document.createElement("br"), known.text);
      return { dom };
    },
  };
}

function typeName(value: unknown): string {
  return Array.isArray(value) ? `array of ${value.length}` : value === null ? "null" : typeof value;
}
