/** The complete route. This file works in Next unchanged. */

import { serve } from "@inlet/sdk/next";
import { functions, inlet } from "../../inlet.ts";

export const { GET, POST, PUT } = serve({ client: inlet, functions });
