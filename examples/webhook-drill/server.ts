/** Serves the function. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@inlet/sdk/node";
import { functions, inlet } from "./charge.ts";

const server = createServer(serve({ client: inlet, functions }));

server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
