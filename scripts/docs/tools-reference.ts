/** docs/reference/tools.md, generated from the tools that a running service lists. */

import { type Schema, valueText } from "../rest-reference.ts";
import { askService } from "./ask-service.ts";

interface Tool {
  name: string;
  description: string;
  inputSchema: { properties: Record<string, Schema>; required?: string[] };
  annotations: { readOnlyHint: boolean; destructiveHint: boolean };
}

export async function toolsReference(header: string): Promise<string> {
  const tools = (await listTools()).sort((a, b) => a.name.localeCompare(b.name));
  return `${header}

# Tools

What [agents](../how-to/agents.md) can call at \`/mcp\` and through \`inlet mcp\`. Tools are generated from the routes of the [REST API](rest-api.md), which also describes their responses. Tools
whose names end in \`_write\` exist only with \`--mcp write\`.

${tools.map(toolText).join("\n\n")}
`;
}

async function listTools(): Promise<Tool[]> {
  return askService(["--mcp", "write"], async (url, apiKey) => {
    const headers = {
      authorization: `Bearer ${apiKey}`,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
    };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
    const text = await (await fetch(`${url}/mcp`, { method: "POST", headers, body })).text();
    const message = text.split("\n").find((line) => line.startsWith("data: "));
    return (JSON.parse(message?.slice("data: ".length) ?? text) as { result: { tools: Tool[] } }).result.tools;
  });
}

function toolText({ name, description, inputSchema, annotations }: Tool): string {
  const kind = annotations.readOnlyHint
    ? "This tool only reads."
    : annotations.destructiveHint
      ? "This tool can change, replace or remove things."
      : "This tool only adds things.";
  const uses = description.split("\n").map((line) => `- ${line}`);
  const rows = Object.entries(inputSchema.properties).map(([field, schema]) => {
    const required = inputSchema.required?.includes(field) ? ", required" : "";
    return `| \`${field}\` | ${valueText(schema)}${required} | ${schema.description ?? ""} |`;
  });
  return [`## ${name}`, kind, uses.join("\n"), ["| argument | value | meaning |", "|---|---|---|", ...rows].join("\n")].join("\n\n");
}
