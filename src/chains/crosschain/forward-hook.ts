import { bytesOf, type Hex, hexOf } from '#lib/hex'

/**
 * Hook data that asks for the delivery of the message on the other chain. Numbers are big-endian.
 *
 *   field    offset  bytes
 *   magic         0     24  "cctp-forward", then zeros
 *   version      24      4  0, or 1 for a delivery by the executor
 *   length       28      4  of the payload
 *   payload      32      …  data of the destination; the hook data of the depositor may follow
 *
 * Behind a frame of version 1 stands the call by which the executor of the destination uses the minted coins:
 *
 *   magic        32     24  "circle-generic-executor", then zeros
 *   version      56      4  1
 *   length       60      4  of the rest
 *   call         64      …  abi.encode(uint8 version, bytes32 recovery, address handler, bytes data)
 */
type ForwardHook = { payload: Hex; rest: Hex; isExecuted: boolean }

const magic = magicOf('cctp-forward')
const executorMagic = magicOf('circle-generic-executor')
const versions = { delivered: 0, executed: 1 }
const sizeBytes = 32

function magicOf(text: string): Buffer {
  const bytes = Buffer.alloc(24)
  bytes.write(text, 'ascii')
  return bytes
}

/** The request to forward in this hook data; undefined where there is none, or one of another form. */
export function forwardHookOf(hookData: Hex): ForwardHook | undefined {
  const bytes = bytesOf(hookData)
  if (!asksToForward(hookData) || bytes.length < sizeBytes) return undefined
  const version = bytes.readUInt32BE(24)
  if (version !== versions.delivered && version !== versions.executed) return undefined
  const end = sizeBytes + bytes.readUInt32BE(28)
  if (bytes.length < end) return undefined
  return {
    payload: hexOf(bytes.subarray(sizeBytes, end)),
    rest: hexOf(bytes.subarray(end)),
    isExecuted: version === versions.executed,
  }
}

/** Whether hook data begins as the contract that takes prepaid fees looks for it. */
export const asksToForward = (hookData: Hex): boolean =>
  bytesOf(hookData).subarray(0, magic.length).equals(magic)

/** Whether an executor may find a call in this hook data. That of another operator may look for it without the frame before. */
export const isForExecutor = (hookData: Hex): boolean => bytesOf(hookData).includes(executorMagic)

/** The call for the executor in this hook data, encoded; undefined where there is none. The executor does not look at the frame. */
export function executorCallOf(hookData: Hex): Hex | undefined {
  const bytes = bytesOf(hookData).subarray(sizeBytes)
  const isMarked = bytes.length >= sizeBytes && bytes.subarray(0, executorMagic.length).equals(executorMagic)
  if (!isMarked || bytes.readUInt32BE(24) !== 1) return undefined
  const end = sizeBytes + bytes.readUInt32BE(28)
  return bytes.length < end ? undefined : hexOf(bytes.subarray(sizeBytes, end))
}

/** The hook data of a request without payload. */
export const forwardHookData: Hex = hexOf(Buffer.concat([magic, Buffer.alloc(8)]))
