/**
 * Loads a part of the dashboard on demand. A part is missing while the service is away, and after an upgrade, which has other parts;
 * whoever shows the error reloads the dashboard once the service responds.
 */

export class PartUnavailable extends Error {}

export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part> {
  try {
    return await load();
  } catch (error) {
    throw new PartUnavailable("This part of the dashboard could not be loaded.", { cause: error });
  }
}
