/**
 * The floor: a bare HTTP server that reads the body, parses it, and answers the bytes Inlet would answer, storing nothing.
 * What a Node process can do at most; Inlet's figures are given as a share of it.
 */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const ID = "01JCQ7V8Z0ABCDEFGHJKMNPQRS";

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString());
    const count = Array.isArray(value) ? value.length : 1;
    const body = `{"ids":["${Array(count).fill(ID).join('","')}"],"status":200}`;
    response.writeHead(200, { "content-type": "application/json", "content-length": body.length, "access-control-allow-origin": "*" });
    response.end(body);
  });
});

server.listen(0, "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`));
