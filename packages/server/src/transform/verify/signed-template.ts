/** The template of the signed text: `{raw}`, `{timestamp}`, `{url}` and `{header:Name}` between literal text. */

const PLACEHOLDER = /\{([^{}]*)\}/g;
const KNOWN = /^(?:raw|timestamp|url|header:[!#$%&'*+.^_`|~0-9A-Za-z-]+)$/;

export type TemplatePart = { literal: string } | { raw: true } | { timestamp: true } | { url: true } | { header: string };

export function parseTemplate(template: string): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let end = 0;
  for (const match of template.matchAll(PLACEHOLDER)) {
    if (match.index > end) parts.push({ literal: template.slice(end, match.index) });
    parts.push(placeholder(match[1] as string));
    end = match.index + match[0].length;
  }
  if (end < template.length) parts.push({ literal: template.slice(end) });
  return parts;
}

/** The fault of a template; null if it is valid. */
export function templateFault(template: string, hasTimestampHeader: boolean): string | null {
  const names = [...template.matchAll(PLACEHOLDER)].map((match) => match[1] as string);
  const unknown = names.find((name) => !KNOWN.test(name));
  if (unknown !== undefined) return `has an unknown placeholder {${unknown}}; known are {raw}, {timestamp}, {url} and {header:Name}`;
  if (!names.includes("raw")) return "must contain {raw}: otherwise one signature would be valid for any body";
  if (names.includes("timestamp") && !hasTimestampHeader) return "uses {timestamp}, which needs timestampHeader";
  if (hasTimestampHeader && !names.includes("timestamp"))
    return "must contain {timestamp} if timestampHeader is set: otherwise anyone could change the time";
  return null;
}

function placeholder(name: string): TemplatePart {
  if (name.startsWith("header:")) return { header: name.slice("header:".length) };
  if (name === "timestamp") return { timestamp: true };
  return name === "url" ? { url: true } : { raw: true };
}
