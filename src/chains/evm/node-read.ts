/** Reads that a page asks for. What it sends is checked and copied field by field, so that a node is sent nothing else. */
import { type Hex, isHex } from '#lib/hex'
import type { NodeReadMethod, NodeReadOutcome } from '../facets/node-read.ts'
import { ValueProblem } from '../invalid-value.ts'
import { parseEvmAddress } from './address.ts'
import { isRevert } from './contracts/revert.ts'
import { callDataBytesMax } from './payments/build.ts'
import { callLimits, pageGasMax } from './rpc/call-bounds.ts'
import { toQuantity } from './rpc/quantities.ts'
import { NodeUnreachable, type Rpc, RpcError } from './rpc/rpc.ts'
import { AnswerTooLarge, isLimitCode } from './rpc/rpc-errors.ts'

const messageMax = 300

/** One parameter as it is sent to the node; `at` is its location in messages. */
type ReadParameter = (value: unknown, at: string) => unknown

const address: ReadParameter = (value, at) => {
  const read = parseEvmAddress(value)
  if (read) return read
  throw new ValueProblem(
    at,
    'must be an address of 0x and 40 hexadecimal digits, in lower case or with its checksum',
  )
}

const isQuantity = (value: unknown): value is Hex =>
  typeof value === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(value)

const tags: readonly unknown[] = ['latest', 'pending', 'safe', 'finalized', 'earliest']

const block: ReadParameter = (value = 'latest', at) => {
  if (tags.includes(value) || isQuantity(value)) return value
  throw new ValueProblem(at, `must be a block number as 0x and hexadecimal digits, or ${tags.join(', ')}`)
}

/** A block with its transactions is as large as its chain allows, and a page has no use for them. */
const withoutTransactions: ReadParameter = (value = false, at) => {
  if (value === false) return false
  throw new ValueProblem(at, 'must be false: blocks are shown without the contents of their transactions')
}

const bytes: ReadParameter = (value, at) => {
  if (!isHex(value)) throw new ValueProblem(at, 'must be 0x and an even number of hexadecimal digits')
  if (value.length / 2 - 1 <= callDataBytesMax) return value
  throw new ValueProblem(at, `exceeds ${callDataBytesMax} bytes, the maximum of nodes`)
}

const quantity: ReadParameter = (value, at) => {
  if (isQuantity(value)) return value
  throw new ValueProblem(at, 'must be a quantity as 0x and at most 64 hexadecimal digits')
}

const gas: ReadParameter = (value, at) => {
  const asked = BigInt(quantity(value, at) as Hex)
  return toQuantity(asked < pageGasMax ? asked : pageGasMax)
}

const callFields: Record<string, ReadParameter> = {
  from: address,
  to: address,
  data: bytes,
  input: bytes,
  value: quantity,
  gas,
}

const call: ReadParameter = (value, at) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ValueProblem(at, 'must be an object with to and data')
  const read: Record<string, unknown> = { gas: toQuantity(pageGasMax) }
  for (const [name, field] of Object.entries(value)) {
    const reader = Object.hasOwn(callFields, name) ? callFields[name] : undefined
    if (!reader)
      throw new ValueProblem(`${at}.${name}`, `is not taken: send ${Object.keys(callFields).join(', ')}`)
    if (field !== undefined && field !== null) read[name] = reader(field, `${at}.${name}`)
  }
  return read
}

const parameters: Record<NodeReadMethod, readonly ReadParameter[]> = {
  eth_getBalance: [address, block],
  eth_blockNumber: [],
  eth_call: [call, block],
  eth_getBlockByNumber: [block, withoutTransactions],
  eth_gasPrice: [],
  eth_getCode: [address, block],
}

/** Throws `ValueProblem` for a bad parameter and `NodeUnreachable` without an answer that can be trusted. */
export async function readFromNode(
  rpc: Rpc,
  method: NodeReadMethod,
  given: readonly unknown[],
): Promise<NodeReadOutcome> {
  const readers = parameters[method]
  if (given.length > readers.length)
    throw new ValueProblem(`params[${readers.length}]`, `is not taken by ${method}`)
  const params = readers.map((read, index) => read(given[index], `params[${index}]`))
  try {
    return { kind: 'answered', result: resultOf(method, await rpc.call<unknown>(method, params, callLimits)) }
  } catch (error) {
    if (error instanceof AnswerTooLarge)
      return {
        kind: 'refused',
        code: -32005,
        message: `the answer has more than ${callLimits.answerBytesMax} bytes: ask for less of it at a time`,
      }
    if (!(error instanceof RpcError) || isLimitCode(error.rpcCode)) throw error
    const { message, data, rpcCode } = error
    // A message may quote the URL of the node, which may hold a key.
    const shown = message.replaceAll(/\w+:\/\/\S+/g, '…').slice(0, messageMax)
    if (!isRevert(error)) return { kind: 'refused', code: rpcCode, message: shown }
    return { kind: 'refused', code: 3, message: shown, ...(isHex(data) && { data }) }
  }
}

function resultOf(method: NodeReadMethod, result: unknown): unknown {
  const isBlock = method === 'eth_getBlockByNumber'
  if (isBlock ? typeof result === 'object' : /^0x[0-9a-fA-F]*$/.test(String(result))) return result
  throw new NodeUnreachable(`the answer to ${method} has another form`)
}
