/** The differences between two versions of an event type: declared schemas, or the inferred shape. */

import type { Shape } from "../catalogue/infer-shape.ts";
import { compareOutlines, type Outline, type OutlineChange, outlineOfSchema, outlineOfShape } from "../catalogue/outline.ts";

type Side = { schema: unknown } | { shape: unknown };

export function compareShapes(from: Side, to: Side): OutlineChange[] {
  return compareOutlines(outlineOf(from), outlineOf(to));
}

function outlineOf(side: Side): Outline {
  if ("schema" in side) return outlineOfSchema(side.schema);
  return side.shape ? outlineOfShape(side.shape as Shape) : {};
}
