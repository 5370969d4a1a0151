import type { Hex } from '#lib/hex'

/** An address in canonical form, as the parser of its family returns it: compared as it is. */
export type Address = Hex
