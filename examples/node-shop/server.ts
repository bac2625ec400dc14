/** The shop's web server: accepts orders and serves the functions. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { serve } from "@inlet/sdk/node";
import { functions, inlet } from "./shop.ts";

const handler = serve({ client: inlet, functions });

const server = createServer(async (request, response) => {
  if (request.url?.startsWith("/api/inlet")) return handler(request, response);
  if (request.method === "POST" && request.url === "/orders") {
    const order = (await json(request)) as { orderId: string };
    const { ids } = await inlet.send({ name: "shop/order.created", data: order, id: `order.created-${order.orderId}` });
    response.writeHead(202, { "content-type": "application/json" }).end(JSON.stringify({ eventId: ids[0] }));
    return;
  }
  response.writeHead(404).end();
});

server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
