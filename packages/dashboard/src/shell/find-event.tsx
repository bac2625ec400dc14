/** Search field on every page. `/` focuses it. An id opens its object; other text searches the payloads. */

import { type FormEvent, useEffect, useRef, useState } from "react";
import { Icon } from "../ui/icon.tsx";
import { messageOf } from "../ui/states.tsx";
import { toast } from "../ui/toasts.tsx";
import { isTyping } from "../ui/typing.ts";
import { useFind } from "./palette-entries.ts";

export function FindEvent({ env }: { env: string }) {
  const [text, setText] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const find = useFind(env);

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || isTyping(event)) return;
      event.preventDefault();
      input.current?.focus();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);

  function onSubmit(event: FormEvent) {
    event.preventDefault();
    const wanted = text.trim();
    if (wanted === "") return;
    void find(wanted).then(
      // What was typed meanwhile stays.
      () => setText((typed) => (typed.trim() === wanted ? "" : typed)),
      (error) => toast("bad", messageOf(error)),
    );
    input.current?.blur();
  }

  return (
    <search className="find-event">
      <form onSubmit={onSubmit}>
        <Icon name="search" />
        <input
          ref={input}
          className="input"
          type="search"
          aria-label="Find an event, run, job, request or dedup id, or search payloads"
          placeholder="Find any id, or text"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <kbd>/</kbd>
      </form>
    </search>
  );
}
