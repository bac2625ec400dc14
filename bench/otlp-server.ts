/** A collector that reads what it is sent and keeps nothing. */

import { createServer } from "node:http";
import { listen } from "./loopback-server.ts";

listen(
  createServer((request, response) => {
    request.resume();
    request.on("end", () => response.writeHead(200, { "content-type": "application/x-protobuf" }).end());
  }),
);
