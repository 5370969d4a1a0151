/** An address in canonical form, as the parser of its family returns it: compared as it is. */
export type Address = string

/** The hash or signature by which a family identifies a transaction, in canonical form. */
export type TxId = string

/** The hash of a block, as its family writes it: hexadecimal in lower case, or base58. */
export type BlockHash = string
