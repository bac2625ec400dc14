/** The inline Markdown that the documentation uses, as HTML: code, links, images, bold and emphasis. Everything else is text, and escaped. */

/** Turns the target of a link or an image into a URL. */
export type ResolveTarget = (target: string) => string;

const INLINE = new RegExp(
  [
    /`(?<code>[^`]+)`/,
    /!\[(?<alt>[^\]]*)\]\((?<image>[^)\s]+)\)/,
    /\[(?<text>(?:`[^`]*`|[^\]`])+)\]\((?<link>[^)\s]+)\)/,
    /<(?<url>https?:\/\/[^>\s]+)>/,
    /\*\*(?<bold>(?:`[^`]*`|[^*`])+)\*\*/,
    /(?<![\w*])\*(?<emphasis>(?! )(?:`[^`]*`|[^*`\n])+)(?<! )\*(?![\w*])/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "g",
);

export function renderInline(text: string, resolve: ResolveTarget): string {
  let html = "";
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    html += escapeHtml(text.slice(end, match.index)) + renderMatch(match.groups ?? {}, resolve);
    end = match.index + match[0].length;
  }
  return html + escapeHtml(text.slice(end));
}

function renderMatch(found: Record<string, string | undefined>, resolve: ResolveTarget): string {
  const { code, alt, image, text, link, url, bold, emphasis } = found;
  if (code !== undefined) return `<code>${escapeHtml(code)}</code>`;
  if (image !== undefined) return `<img src="${escapeHtml(resolve(image))}" alt="${escapeHtml(alt ?? "")}" loading="lazy">`;
  if (link !== undefined) return `<a href="${escapeHtml(resolve(link))}">${renderInline(text ?? "", resolve)}</a>`;
  if (url !== undefined) return `<a href="${escapeHtml(url)}">${escapeHtml(url)}</a>`;
  if (bold !== undefined) return `<strong>${renderInline(bold, resolve)}</strong>`;
  return `<em>${renderInline(emphasis ?? "", resolve)}</em>`;
}

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] as string);
}

/** The text without its marks, for titles, results and search. */
export function withoutMarks(text: string): string {
  return text
    .replace(/!?\[((?:`[^`]*`|[^\]`])+)\]\([^)\s]+\)/g, "$1")
    .replace(/\*\*([^*]+)\*\*/g, "$1")
    .replaceAll("`", "");
}
