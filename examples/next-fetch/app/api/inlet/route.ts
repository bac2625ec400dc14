/** The whole route: this file works in Next as it stands. */

import { serve } from "@inlet/sdk/next";
import { functions, inlet } from "../../inlet.ts";

export const { GET, POST, PUT } = serve({ client: inlet, functions });
