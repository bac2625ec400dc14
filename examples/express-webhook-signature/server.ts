/** Express with the functions mounted at /api/inlet, before any body parser. */

import type { AddressInfo } from "node:net";
import { serve } from "@inlet/sdk/express";
import express from "express";
import { functions, inlet } from "./payments.ts";

const app = express();
app.use("/api/inlet", serve({ client: inlet, functions }));
app.get("/", (_request, response) => {
  response.send("payments");
});

const server = app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
