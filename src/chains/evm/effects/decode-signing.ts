/**
 * Decodes the effects that a signature permits its holder: for messages, typed data and transactions that leave the server
 * signed. As in `decode-call.ts`, a payload not understood completely is undecodable, and nothing here throws.
 */
import type { Hex } from '#lib/hex'
import type { Address } from '../../addresses/types.ts'
import { batchedPaymentsDomain } from '../../crosschain/batched-payments.ts'
import type { Effects } from '../../facets/call-effects.ts'
import { messageEffects } from '../../facets/message-effects.ts'
import { stablecoinNamed, tokenAddress } from '../../network.ts'
import { networkOf, networks } from '../../networks/index.ts'
import { addressesIn, addressesInCode, addressesInHook, addressesInText } from './addresses-in.ts'
import { addBurnIntents } from './decode-burn-intents.ts'
import { addOuterCall, type DecodableCall, effectsOf, type FoundEffects, newEffects } from './decode-call.ts'
import { type DecodableTypedData, dangerousShape, type StructFields } from './typed-data-shapes.ts'

/** Decodes an EIP-191 message. */
export function decodePersonalMessage(bytes: Uint8Array): Effects {
  // The preimage of an EIP-712 digest: 0x19 0x01, the domain's hash and the data's.
  const isPreimage = bytes.length === 66 && bytes[0] === 0x19 && bytes[1] === 0x01
  return isPreimage ? { effects: [], dangers: ['rawHash'], parties: [] } : messageEffects(bytes)
}

type DecodableTransaction = DecodableCall & {
  chainId: number | undefined
  /** Number of its EIP-7702 authorisations. */
  authorizations: number
}

/** Decodes a whole transaction, for the chain of its chain id. */
export function decodeTransaction({ chainId, authorizations, ...call }: DecodableTransaction): Effects {
  const found = newEffects()
  if (chainId === undefined || chainId === 0) found.dangers.add('undecodable')
  if (authorizations > 0) found.dangers.add('setCode')
  addOuterCall(found, blockchainOf(chainId), call)
  return effectsOf(found)
}

/** The blockchain of a chain id as policies name it: `eip155:ID` when it has no name here, `*` without an id. */
function blockchainOf(chainId: number | undefined): string {
  if (chainId === undefined || chainId === 0) return '*'
  return networks.find((network) => network.chainId === chainId)?.blockchain ?? `eip155:${chainId}`
}

/** Decodes EIP-712 data, as parsed from the request. */
export function decodeTypedData(data: DecodableTypedData): Effects {
  const found = newEffects()
  try {
    addTypedData(found, data)
  } catch {
    found.dangers.add('undecodable')
  }
  addMentioned(found, data)
  return effectsOf(found)
}

function addTypedData(
  found: FoundEffects,
  { domain, types, primaryType, message }: DecodableTypedData,
): void {
  const bound = (name: string) => {
    const declared = types['EIP712Domain']
    const signed = declared ? declared.some((field) => field.name === name) : true
    return signed ? domain[name] : undefined
  }
  const chainId = naturalOf(bound('chainId'))
  const blockchain = blockchainOf(
    chainId !== undefined && chainId <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(chainId) : undefined,
  )
  const contract = addressOf(bound('verifyingContract'))
  found.effects.push({ kind: 'typedData', blockchain, contract: contract ?? 'none', primaryType })
  if (addBurnIntents(found, { domain, types, primaryType, message })) return
  const danger = dangerousShape(types, primaryType)
  if (!danger) return
  found.dangers.add(danger)
  // Without a chain or a contract in the domain, the signature is valid on other chains or contracts too.
  if (blockchain === '*' || !contract) found.dangers.add('undecodable')
  const read = readers[primaryType]
  const fields = types[primaryType] ?? []
  const understood =
    read && contract && read({ found, blockchain, contract, name: bound('name'), message, fields, types })
  if (!understood) found.dangers.add('undecodable')
}

/** Adds every address in the contents, whatever they mean. */
function addMentioned(found: FoundEffects, { message }: DecodableTypedData): void {
  const [{ blockchain } = { blockchain: '*' }] = found.effects
  const waiting: unknown[] = [message]
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value === 'object' && value !== null) waiting.push(...Object.values(value))
    for (const address of addressesInValue(value)) found.parties.push({ blockchain, address, guessed: true })
  }
}

/** Numbers stand for addresses in some forms, and texts in others. */
function addressesInValue(value: unknown): Address[] {
  if (typeof value === 'bigint')
    return addressesIn(`0x${BigInt.asUintN(256, value).toString(16).padStart(64, '0')}`)
  if (typeof value !== 'string') return []
  const inText = addressesInText(value)
  if (!/^0x([0-9a-fA-F]{2})*$/.test(value)) return inText
  return [...inText, ...addressesInHook(value as Hex), ...addressesInCode(value as Hex)]
}

type Reading = {
  found: FoundEffects
  blockchain: string
  contract: Address
  /** The name in the domain. */
  name: unknown
  message: Record<string, unknown>
  fields: StructFields
  types: Record<string, StructFields>
}

/** Adds the effects of a known form; returns false when the data is not exactly of that form. */
type TypedDataReader = (reading: Reading) => boolean

const namesAre = (fields: StructFields, names: string) => fields.map((field) => field.name).join() === names

function add(
  { found, blockchain }: Reading,
  kind: 'transfer' | 'approval',
  token: Address | undefined,
  destination: Address | undefined,
  amountAtomic: bigint | undefined,
): boolean {
  if (!token || !destination || amountAtomic === undefined) return false
  found.effects.push({ kind, blockchain, token, destination, amountAtomic })
  return true
}

const everything = 2n ** 256n - 1n

/** EIP-2612, and its older form that allows everything or nothing. */
const permit: TypedDataReader = (reading) => {
  const { message, fields, contract } = reading
  const spender = addressOf(message['spender'])
  if (namesAre(fields, 'owner,spender,value,nonce,deadline'))
    return add(reading, 'approval', contract, spender, naturalOf(message['value']))
  if (!namesAre(fields, 'holder,spender,nonce,expiry,allowed')) return false
  const allowed = message['allowed']
  if (typeof allowed !== 'boolean') return false
  return add(reading, 'approval', contract, spender, allowed ? everything : 0n)
}

/**
 * EIP-3009: its holder can move the tokens. One for the wallet contract of unified balances, whose domain has a name of its own, moves
 * the USDC that the contract holds for the signer.
 */
const transferAuthorization: TypedDataReader = (reading) => {
  const { message, fields, contract, name, blockchain } = reading
  if (!namesAre(fields, 'from,to,value,validAfter,validBefore,nonce')) return false
  const token = name === batchedPaymentsDomain.name ? usdcOn(blockchain) : contract
  return add(reading, 'transfer', token, addressOf(message['to']), naturalOf(message['value']))
}

function usdcOn(blockchain: string): Address | undefined {
  const network = networkOf(blockchain)
  const usdc = network && stablecoinNamed(network, 'USDC')
  return usdc && tokenAddress(usdc)
}

/** Permit2, whose data names the tokens, in `member` of the type `within`. */
const permit2 =
  (outer: string, within: string): TypedDataReader =>
  (reading) => {
    const { message, fields, types } = reading
    const [member = ''] = outer.split(',')
    const type = fields[0]?.type.replace(/\[\]$/, '') ?? ''
    if (!namesAre(fields, outer) || !namesAre(types[type] ?? [], within)) return false
    const given = message[member]
    const list = Array.isArray(given) ? given : [given]
    const spender = addressOf(message['spender'])
    if (list.length === 0 || list.length > 64) return false
    return list.every((item: unknown) => {
      if (typeof item !== 'object' || item === null) return false
      const { token, amount } = item as Record<string, unknown>
      return add(reading, 'approval', addressOf(token), spender, naturalOf(amount))
    })
  }

const allowance = permit2('details,spender,sigDeadline', 'token,amount,expiration,nonce')
const signatureTransfer = permit2('permitted,spender,nonce,deadline', 'token,amount')

const readers: Record<string, TypedDataReader | undefined> = {
  Permit: permit,
  TransferWithAuthorization: transferAuthorization,
  ReceiveWithAuthorization: transferAuthorization,
  PermitSingle: allowance,
  PermitBatch: allowance,
  PermitTransferFrom: signatureTransfer,
  PermitBatchTransferFrom: signatureTransfer,
}
Object.setPrototypeOf(readers, null)

const addressOf = (value: unknown): Address | undefined =>
  typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value) ? (value.toLowerCase() as Hex) : undefined

/** A whole number from zero on, in any way that JSON carries one. */
function naturalOf(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value >= 0n ? value : undefined
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : undefined
  if (typeof value !== 'string' || !/^(\d{1,78}|0x[0-9a-fA-F]{1,64})$/.test(value)) return undefined
  return BigInt(value)
}
