// An app as a user writes it for Inngest's SDK v3. It knows nothing of Inlet: where to find it is in its variables.
import { createServer } from "node:http";
import { Inngest } from "inngest-v3";
import { serve } from "inngest-v3/node";

const inngest = new Inngest({ id: "shop" });

const ship = inngest.createFunction({ id: "ship" }, { event: "shop/order.created" }, async ({ event, step }) => {
  const label = await step.run("buy label", () => `label for ${event.data.order}`);
  await step.sleep("let the parcel leave", "1s");
  await step.sendEvent("tell", { name: "shop/order.shipped", data: { label } });
  return { label };
});

const thank = inngest.createFunction({ id: "thank" }, { event: "shop/order.shipped" }, ({ event }) => `thanks, ${event.data.label}`);

const server = createServer(serve({ client: inngest, functions: [ship, thank] }));
server.listen(0, "127.0.0.1", () => process.stdout.write(`http://127.0.0.1:${server.address().port}/api/inngest\n`));
