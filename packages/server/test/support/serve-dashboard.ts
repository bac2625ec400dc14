/** A dev server with another build of the dashboard, as a process that a test may kill: `node serve-dashboard.ts PORT DATA-FOLDER DASHBOARD-FOLDER`. */

import { pino } from "pino";
import { readConfig } from "../../src/config/config.ts";
import { startService } from "../../src/service.ts";

const [port = "0", dataDir = "", dashboardFolder = ""] = process.argv.slice(2);
const config = readConfig("dev", ["--port", port, "--host", "127.0.0.1", "--data-dir", dataDir, "--discover", "off"], {});
const service = await startService(config, { log: pino({ level: "silent" }), dashboardFolder });
process.stdout.write(`listening on ${service.url}\n`);
