import { keccak256, parseTransaction, serializeTransaction, type TransactionSerializable } from 'viem'
import { bytesOf, type Hex, isHex } from '#lib/hex'
import type { Address } from '../../addresses/types.ts'
import type { Signature } from '../../facets/payments.ts'
import { type TransactionFault, TransactionProblem } from '../../facets/signing.ts'
import { parseEvmAddress } from '../address.ts'
import { packSignature } from './sign-message.ts'
import { splitSignature } from './signature.ts'

/** A transaction that another party sends, complete except for its signature. */
export type Signable = {
  chainId: number
  /** The sender, where the request names one. */
  from: Address | undefined
  /** Absent when a contract is created. */
  to: Address | undefined
  valueAtomic: bigint
  /** The price of all its gas; the blockchain may add the fee of its parent. */
  gasFeeMaxAtomic: bigint
  data: Hex
  nonce: number
  digest: Buffer
  attach(signature: Signature): { signature: Hex; signedTransaction: Hex; txHash: Hex }
}

const bytesMax = 128 * 1024

/** Reads the bytes of an unsigned transaction, as 0x and hexadecimal digits. Throws TransactionProblem, and nothing else. */
export function readRawTransaction(text: string): Signable {
  const problem = (fault: TransactionFault, reason: string) =>
    new TransactionProblem(fault, 'rawTransaction', reason)
  if (!isHex(text) || text.length < 4)
    throw problem('unreadable', 'must be 0x and an even number of hexadecimal digits')
  if (text.length > 2 + 2 * bytesMax) throw problem('tooLarge', `is longer than ${bytesMax} bytes`)
  const raw = text.toLowerCase() as Hex
  const parsed = attempt(() => parseTransaction(raw))
  if (!parsed) throw problem('unreadable', 'is not a transaction')
  if (parsed.r !== undefined || parsed.s !== undefined)
    throw problem('signedBefore', 'carries a signature already: send it without')
  if (parsed.chainId === undefined) throw problem('withoutChainId', 'has no chain id (EIP-155)')
  if (parsed.type === 'eip4844' || parsed.type === 'eip7702')
    throw problem('invalid', `is of the type ${parsed.type}, which is not signed here`)
  // The signature covers the transaction as serialised again: that must equal the request, byte by byte.
  if (attempt(() => serializeTransaction(parsed)) !== raw)
    throw problem('unreadable', 'is not in the canonical form of a transaction')
  return signable(parsed, undefined)
}

/** Reads a transaction from parsed JSON, fields as wallets name them. Throws TransactionProblem, and nothing else. */
export function readTransaction(value: unknown): Signable {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new TransactionProblem('invalid', 'transaction', 'must be an object')
  const fields = new Map(Object.entries(value).filter(([, field]) => field !== null && field !== ''))
  refuseUnknown(fields)
  if (!fields.has('chainId'))
    throw new TransactionProblem('withoutChainId', 'transaction.chainId', 'is missing')
  const data = dataOf(fields)
  const to = addressOf(fields, 'to')
  if (to === undefined && data === '0x')
    throw new TransactionProblem(
      'invalid',
      'transaction.to',
      'is missing, and there is no data to create a contract with',
    )
  const request = {
    chainId: Number(quantityOf(fields, 'chainId', safeMax)),
    nonce: Number(quantityOf(fields, 'nonce', safeMax)),
    gas: quantityOf(fields, fields.has('gasLimit') ? 'gasLimit' : 'gas'),
    value: fields.has('value') ? quantityOf(fields, 'value') : 0n,
    data,
    ...(to && { to }),
    ...feesOf(fields),
  } as TransactionSerializable
  if (data.length > 2 * bytesMax)
    throw new TransactionProblem('tooLarge', 'transaction.data', `is longer than ${bytesMax} bytes`)
  return signable(request, addressOf(fields, 'from'))
}

function signable(request: TransactionSerializable, from: Address | undefined): Signable {
  const unsigned = attempt(() => serializeTransaction(request))
  if (!unsigned) throw new TransactionProblem('invalid', 'transaction', 'has values that no blockchain takes')
  return {
    chainId: request.chainId!,
    from,
    to: request.to ? (request.to.toLowerCase() as Address) : undefined,
    valueAtomic: request.value ?? 0n,
    gasFeeMaxAtomic: (request.gas ?? 0n) * (request.maxFeePerGas ?? request.gasPrice ?? 0n),
    data: (request.data as Hex | undefined) ?? '0x',
    nonce: request.nonce ?? 0,
    digest: bytesOf(keccak256(unsigned)),
    attach: (signature) => {
      const { r, s, yParity } = splitSignature(signature)
      const signedTransaction = serializeTransaction(request, {
        r,
        s,
        yParity,
        v: BigInt(27 + yParity),
      }) as Hex
      return { signature: packSignature(signature), signedTransaction, txHash: keccak256(signedTransaction) }
    },
  }
}

type TransactionFields = ReadonlyMap<string, unknown>

const known = new Set(
  'from to value gas gasLimit gasPrice maxFeePerGas maxPriorityFeePerGas nonce data input chainId type'.split(
    ' ',
  ),
)

/** A member that is not signed must not look as if it were; an empty access list changes nothing. */
function refuseUnknown(fields: TransactionFields): void {
  for (const [name, value] of fields) {
    if (known.has(name) || (name === 'accessList' && Array.isArray(value) && value.length === 0)) continue
    throw new TransactionProblem(
      'invalid',
      `transaction.${name.slice(0, 100)}`,
      'is not signed here: leave it out',
    )
  }
  for (const [one, other] of [
    ['gas', 'gasLimit'],
    ['data', 'input'],
  ] as const)
    if (fields.has(one) && fields.has(other))
      throw new TransactionProblem('invalid', `transaction.${other}`, `cannot be combined with ${one}`)
}

const safeMax = BigInt(Number.MAX_SAFE_INTEGER)
const wordMax = 2n ** 256n - 1n

function quantityOf(fields: TransactionFields, name: string, max = wordMax): bigint {
  const value = fields.get(name)
  const location = `transaction.${name}`
  if (value === undefined) throw new TransactionProblem('invalid', location, 'is missing')
  const isText = typeof value === 'string' && /^((0|[1-9]\d{0,77})|0x[0-9a-fA-F]{1,64})$/.test(value)
  const isNumber = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
  if ((isText || isNumber) && BigInt(value) <= max) return BigInt(value)
  throw new TransactionProblem('invalid', location, 'must be a whole number, as text when it is large')
}

function feesOf(fields: TransactionFields) {
  const type = typeOf(fields)
  if (type === 'legacy') {
    const capped = ['maxFeePerGas', 'maxPriorityFeePerGas'].find((name) => fields.has(name))
    if (capped)
      throw new TransactionProblem('invalid', `transaction.${capped}`, 'cannot be combined with gasPrice')
    return { type, gasPrice: quantityOf(fields, 'gasPrice') }
  }
  const maxFeePerGas = quantityOf(fields, 'maxFeePerGas')
  const maxPriorityFeePerGas = quantityOf(fields, 'maxPriorityFeePerGas')
  if (maxPriorityFeePerGas <= maxFeePerGas) return { type, maxFeePerGas, maxPriorityFeePerGas }
  throw new TransactionProblem('invalid', 'transaction.maxPriorityFeePerGas', 'is above maxFeePerGas')
}

const types = new Map<unknown, 'legacy' | 'eip1559'>([
  ...['legacy', '0x0', 0, '0'].map((name) => [name, 'legacy'] as const),
  ...['eip1559', '0x2', 2, '2'].map((name) => [name, 'eip1559'] as const),
])

function typeOf(fields: TransactionFields): 'legacy' | 'eip1559' {
  const implied = fields.has('gasPrice') ? 'legacy' : 'eip1559'
  if (!fields.has('type') || types.get(fields.get('type')) === implied) return implied
  throw new TransactionProblem('invalid', 'transaction.type', 'does not go with the fee fields: leave it out')
}

function addressOf(fields: TransactionFields, name: 'from' | 'to'): Address | undefined {
  const value = fields.get(name)
  const address = parseEvmAddress(value)
  if (value === undefined || address) return address
  throw new TransactionProblem('invalid', `transaction.${name}`, 'is not an address')
}

function dataOf(fields: TransactionFields): Hex {
  const name = fields.has('input') ? 'input' : 'data'
  const data = fields.get(name) ?? '0x'
  if (isHex(data)) return data.toLowerCase() as Hex
  throw new TransactionProblem(
    'invalid',
    `transaction.${name}`,
    'must be 0x and an even number of hexadecimal digits',
  )
}

/** Returns `undefined` when a library throws: its own messages are not shown. */
function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
