/**
 * Arrays as PostgreSQL reads them fastest: in its binary form, which nobody has to escape here or take apart there. A Buffer as the
 * value of a parameter is sent as it is. For 800 events that saves half of the client's time and an eighth of the server's.
 *
 * https://github.com/postgres/postgres/blob/REL_17_STABLE/src/backend/utils/adt/arrayfuncs.c, array_recv
 */

const HEADER_BYTES = 20;
const NULL_LENGTH = -1;
const [INT8, INT4, TEXT] = [20, 23, 25];
const TWO_TO_32 = 2 ** 32;

export function integerArray(values: readonly (number | null)[]): Buffer {
  const buffer = withHeader(INT4, values.length, 8 * values.length);
  let at = HEADER_BYTES;
  for (const value of values) {
    at = buffer.writeInt32BE(value === null ? NULL_LENGTH : 4, at);
    if (value !== null) at = buffer.writeInt32BE(value, at);
  }
  return buffer.subarray(0, at);
}

/** Numbers that are whole and safe. */
export function bigintArray(values: readonly (number | null)[]): Buffer {
  const buffer = withHeader(INT8, values.length, 12 * values.length);
  let at = HEADER_BYTES;
  for (const value of values) {
    at = buffer.writeInt32BE(value === null ? NULL_LENGTH : 8, at);
    if (value === null) continue;
    const high = Math.floor(value / TWO_TO_32);
    buffer.writeInt32BE(high, at);
    at = buffer.writeUInt32BE(value - high * TWO_TO_32, at + 4);
  }
  return buffer.subarray(0, at);
}

export function textArray(values: readonly (string | null)[]): Buffer {
  let bytes = 4 * values.length;
  for (const value of values) if (value !== null) bytes += Buffer.byteLength(value);
  const buffer = withHeader(TEXT, values.length, bytes);
  let at = HEADER_BYTES;
  for (const value of values) {
    const length = value === null ? 0 : buffer.write(value, at + 4);
    buffer.writeInt32BE(value === null ? NULL_LENGTH : length, at);
    at += 4 + length;
  }
  return buffer;
}

/** Room for the elements follows. Of one dimension, counted from 1; the flag for nulls is computed anew by who reads it. */
function withHeader(type: number, length: number, bytes: number): Buffer {
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + bytes);
  for (const [index, value] of [1, 0, type, length, 1].entries()) buffer.writeInt32BE(value, 4 * index);
  return buffer;
}
