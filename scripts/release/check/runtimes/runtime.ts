/** A runtime or framework in which a release serves functions: a project that is installed, built and started as its users do. */

export interface Runtime {
  name: string;
  packages: readonly string[];
  /** Install scripts are run only where one brings the runtime itself. */
  installScripts?: true;
  /** Files of the project beside `inlet.js`, which exports `shop`: what `serve` takes. */
  files: Readonly<Record<string, string>>;
  /** Words of commands that build the project; the first is a program of the packages. */
  build?: readonly string[];
  /** Words of the command that serves it and prints `port` and the port; the first is `node` or a program of the packages. */
  serve?: readonly string[];
}

export const SERVE = ["node", "serve.js"];

/** In dev, so that calls are not signed: each runtime reads its variables in its own way. */
export const INLET_FILE = `
import { Inlet } from "@inlet/sdk";

export function shop(variables) {
  const client = new Inlet({ id: "shop", isDev: true, ...(variables && { variables }) });
  const ship = client.createFunction({ id: "ship" }, { event: "shop/order.created" }, async ({ event, step }) => {
    const both = await Promise.all([step.run("a", () => event.data.n), step.run("b", () => 2)]);
    await step.sleep("rest", "10ms");
    await step.sendEvent("tell", { name: "shop/order.shipped", data: { both } });
    return both;
  });
  return { client, functions: [ship] };
}
`;

/** A file that serves a handler of Node's requests. `handler` is an expression, after the statements that it needs. */
export function listening(statements: string, handler: string): string {
  return `
import { createServer } from "node:http";
${statements}
const server = createServer(${handler}).listen(0, "127.0.0.1", () => console.log("port", server.address().port));
`;
}
