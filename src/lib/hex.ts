export type Hex = `0x${string}`

/** Whether `text` is `0x` and an even number of hexadecimal digits; `bytes` fixes the length. Total: never throws. */
export function isHex(text: unknown, bytes?: number): text is Hex {
  if (typeof text !== 'string' || !/^0x([0-9a-fA-F]{2})*$/.test(text)) return false
  return bytes === undefined || text.length === 2 + bytes * 2
}

export const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`

export const bytesOf = (hex: Hex): Buffer => Buffer.from(hex.slice(2), 'hex')
