/** What the size of stored rows counts, besides their texts. */

/** What surrounds the texts of a row: its ids, times and name. */
export const ROW_BYTES = 32;
