/** Parses server-sent events. A part without data updates the cursor or is a heartbeat. */

export interface StreamPart {
  /** The cursor after this part, if it has one. */
  id: string | null;
  event: string;
  data: string | null;
}

export async function* streamParts(response: Response, onSound: () => void): AsyncGenerator<StreamPart> {
  if (!response.body) return;
  let text = "";
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    onSound();
    text += chunk;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const message = text.slice(0, end);
      text = text.slice(end + 2);
      yield readPart(message);
    }
  }
}

function readPart(message: string): StreamPart {
  const part: StreamPart = { id: null, event: "message", data: null };
  for (const line of message.split("\n")) {
    const [, field, value = ""] = /^(id|event|data): ?(.*)$/s.exec(line) ?? [];
    if (field === "id") part.id = value;
    else if (field === "event") part.event = value;
    else if (field === "data") part.data = part.data === null ? value : `${part.data}\n${value}`;
  }
  return part;
}
