import { bytesOf, type Hex, hexOf } from '#lib/hex'

/**
 * Hook data that asks for the delivery of the message on the other chain. Numbers are big-endian.
 *
 *   field    offset  bytes
 *   magic         0     24  "cctp-forward", then zeros
 *   version      24      4  0
 *   length       28      4  of the payload
 *   payload      32      …  data of the destination; the hook data of the depositor may follow
 */
type ForwardHook = { payload: Hex; rest: Hex }

const magic = Buffer.alloc(24)
magic.write('cctp-forward', 'ascii')
const version = 0
const sizeBytes = 32

/** The request to forward in this hook data; undefined where there is none, or one of another form. */
export function forwardHookOf(hookData: Hex): ForwardHook | undefined {
  const bytes = bytesOf(hookData)
  if (bytes.length < sizeBytes || !bytes.subarray(0, magic.length).equals(magic)) return undefined
  if (bytes.readUInt32BE(24) !== version) return undefined
  const end = sizeBytes + bytes.readUInt32BE(28)
  if (bytes.length < end) return undefined
  return { payload: hexOf(bytes.subarray(sizeBytes, end)), rest: hexOf(bytes.subarray(end)) }
}

/** The hook data of a request without payload. */
export const forwardHookData: Hex = hexOf(Buffer.concat([magic, Buffer.alloc(8)]))
