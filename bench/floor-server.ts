/**
 * The floor: a bare HTTP server that reads the body, parses it, and answers the bytes Inlet would answer, storing nothing.
 * What a Node process can do at most; Inlet's figures are given as a share of it.
 */

import { createServer } from "node:http";
import { answerIds, countEvents, listen, onJson } from "./loopback-server.ts";

const ID = "01JCQ7V8Z0ABCDEFGHJKMNPQRS";

listen(createServer((request, response) => onJson(request, (body) => answerIds(response, Array(countEvents(body)).fill(ID)))));
