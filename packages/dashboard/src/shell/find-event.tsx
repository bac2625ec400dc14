/** Search field on every page. `/` focuses it. An Event ID opens the event; other text searches the payloads. */

import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { Icon } from "../ui/icon.tsx";

const EVENT_ID = /^[0-9A-HJKMNP-TV-Z]{26}$/i;

export function FindEvent({ env }: { env: string }) {
  const [text, setText] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const navigate = useNavigate();

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { tagName, isContentEditable } = event.target as HTMLElement;
      if (event.key !== "/" || event.ctrlKey || event.metaKey || isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(tagName)) return;
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
    if (EVENT_ID.test(wanted)) void navigate({ to: "/env/$env/events/$id", params: { env, id: wanted.toUpperCase() } });
    else void navigate({ to: "/env/$env/events", params: { env }, search: { q: wanted } });
    setText("");
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
          aria-label="Find an event by its ID, or search payloads"
          placeholder="Find by Event ID or text"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <kbd>/</kbd>
      </form>
    </search>
  );
}
