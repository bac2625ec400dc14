/** The curl commands our documents and our first start print, run without curl: tests must not depend on it being installed. */

export interface CurlCommand {
  url: string;
  init: RequestInit & { headers: Record<string, string> };
}

/** Every command of a text; a backslash joins lines, as in a shell. */
export function curlCommands(text: string): CurlCommand[] {
  return [...text.replaceAll("\\\n", " ").matchAll(/^\s*curl (.+)$/gm)].map(([, words]) => parseCurl(words ?? ""));
}

function parseCurl(command: string): CurlCommand {
  const words = [...command.matchAll(/'([^']*)'|"((?:[^"\\]|\\.)*)"|(\S+)/g)].map(
    (match) => match[1] ?? match[2]?.replace(/\\(.)/g, "$1") ?? match[3] ?? "",
  );
  const headers: Record<string, string> = {};
  let url = "";
  let body: string | null = null;
  let method: string | null = null;
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? "";
    if (word === "-H") {
      const [name = "", value = ""] = (words[++i] ?? "").split(/: (.*)/s);
      headers[name] = value;
    } else if (word === "-d") body = words[++i] ?? "";
    else if (word === "-X") method = words[++i] ?? "";
    else if (!word.startsWith("-")) url = word.startsWith("http") ? word : `http://${word}`;
  }
  // Without a header of its own, curl sends a form.
  if (body !== null && !headers["Content-Type"]) headers["Content-Type"] = "application/x-www-form-urlencoded";
  return { url, init: { headers, ...(body !== null && { method: "POST", body }), ...(method !== null && { method }) } };
}
