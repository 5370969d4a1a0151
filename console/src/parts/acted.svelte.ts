/** When the reader last did something: rows that come of it are shown at once, wherever the pointer is. */
export const acted = $state({ atMs: 0 })
