/** Thrown while a schema is read: why it is refused, and where. */

export class SchemaRefused extends Error {
  /** `place`: a JSON Pointer into the schema, such as `#/properties/a`. */
  constructor(message: string, place: string) {
    super(place === "#" ? message : `${message} (at ${shortened(place)})`);
  }
}

const PLACE_LENGTH_MAX = 200;

function shortened(place: string): string {
  return place.length > PLACE_LENGTH_MAX ? `${place.slice(0, PLACE_LENGTH_MAX)}…` : place;
}
