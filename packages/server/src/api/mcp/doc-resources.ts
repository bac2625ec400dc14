/** The pages of the documentation as resources: the same as under /docs. */

import { type Documentation, summaryOf } from "../docs/documentation.ts";

export interface Resource {
  uri: string;
  name: string;
  title: string;
  description: string;
  mimeType: string;
}

const PREFIX = "inlet://docs/";

export function docResources({ pages, groups }: Documentation): Resource[] {
  const about = new Map(groups.flatMap(({ entries }) => entries.map((entry) => [entry.path, entry.about])));
  return [...pages.values()].map((page) => ({
    uri: `${PREFIX}${page.path}`,
    name: page.path,
    title: page.title,
    description: about.get(page.path) ?? summaryOf(page),
    mimeType: "text/markdown",
  }));
}

/** Only pages that were read are found, so no URI leads to another file. */
export function docText({ pages }: Documentation, uri: string): string | null {
  if (!uri.startsWith(PREFIX)) return null;
  return pages.get(uri.slice(PREFIX.length).replace(/\.md$/, ""))?.text ?? null;
}
