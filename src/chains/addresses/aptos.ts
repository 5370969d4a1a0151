/** 0x and up to 64 hexadecimal digits (AIP-40); short forms only for the reserved addresses 0x0 to 0xf. */
export const isAptosAddress = (text: string): boolean => /^0x([0-9a-fA-F]{64}|[0-9a-fA-F])$/.test(text)
