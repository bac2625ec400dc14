/**
 * What the command line prints. Names, payloads, errors and answers are chosen by apps and senders, and must not control the terminal: all
 * output passes through here, and control characters in it are shown as escapes. The styles of the command line itself begin with a mark
 * that nobody else can know.
 */

import { randomBytes } from "node:crypto";
import { styleText as styled } from "node:util";

/** Becomes the escape character in the output. */
export const OWN_ESCAPE = `\u001b${randomBytes(16).toString("hex")}`;

/** Like `styleText` of `node:util`: no style if the output is not a terminal. */
export function styleText(style: Parameters<typeof styled>[0], text: string): string {
  const [begin = "", end = ""] = styled(style, "\n").split("\n");
  return `${own(begin)}${text}${own(end)}`;
}

function own(sequence: string): string {
  return sequence.replaceAll("\u001b", OWN_ESCAPE);
}

/** JSON stays JSON with the same values: control characters are escaped as in its strings, and line ends are whitespace between its tokens. */
export function printable(text: string): string {
  return text.split(OWN_ESCAPE).map(withoutControls).join("\u001b");
}

function withoutControls(text: string): string {
  return (
    text
      .replace(/\r\n?/g, "\n")
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are matched on purpose
      .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`)
  );
}

/** The stream, with everything that is written made printable. */
export function printableStream(stream: NodeJS.WriteStream): NodeJS.WriteStream {
  return Object.assign(Object.create(stream) as NodeJS.WriteStream, { write: (text: string) => stream.write(printable(text)) });
}
