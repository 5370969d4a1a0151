/**
 * The account that genesis gives APT to. Only it mints, denies and pauses, by functions that no real ledger has: all that a
 * test changes on the ledger is a transaction of it.
 */
import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { bcs } from '@mysten/bcs'
import { type Hex, hexOf } from '#lib/hex'
import { addressBytes, sha3 } from './addresses.ts'

const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')
const seed = sha3(Buffer.from('Bezant: the issuer of a simulated Aptos ledger'))
const privateKey = createPrivateKey({
  key: Buffer.concat([pkcs8Prefix, seed]),
  format: 'der',
  type: 'pkcs8',
})
const publicKey = createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-32)

export const issuerAddress: Hex = hexOf(sha3(publicKey, Buffer.from([0])))
export const issuerFundsOctas = 10n ** 18n

/** An order of the issuer: a function of its own module, with its arguments in BCS. */
export type Order = { name: string; arguments: Buffer[] }

const u64 = (value: bigint) => Buffer.from(bcs.u64().serialize(value).toBytes())
const bool = (value: boolean) => Buffer.from([value ? 1 : 0])

export const orders = {
  mint: (metadata: Hex, to: Hex, amount: bigint): Order => ({
    name: 'mint',
    arguments: [addressBytes(metadata), addressBytes(to), u64(amount)],
  }),
  deny: (metadata: Hex, address: Hex, isDenied: boolean): Order => ({
    name: 'set_denied',
    arguments: [addressBytes(metadata), addressBytes(address), bool(isDenied)],
  }),
  pause: (metadata: Hex, isPaused: boolean): Order => ({
    name: 'set_paused',
    arguments: [addressBytes(metadata), bool(isPaused)],
  }),
  emitCoinEvents: (address: Hex, kind: bigint): Order => ({
    name: 'set_coin_events',
    arguments: [addressBytes(address), u64(kind)],
  }),
}

type OrderPlace = { sequence: bigint; expiryS: bigint; chainId: number }

/** Signs the transaction of an order. */
export function signOrder(
  { name, arguments: values }: Order,
  { sequence, expiryS, chainId }: OrderPlace,
): Buffer {
  const vector = (items: readonly Buffer[]) => Buffer.concat([Buffer.from([items.length]), ...items])
  const text = (value: string) => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)])
  const raw = Buffer.concat([
    addressBytes(issuerAddress),
    u64(sequence),
    Buffer.from([2]),
    addressBytes(issuerAddress),
    text('issuer'),
    text(name),
    vector([]),
    vector(values.map((value) => Buffer.concat([Buffer.from([value.length]), value]))),
    u64(10_000n),
    u64(100n),
    u64(expiryS),
    Buffer.from([chainId]),
  ])
  const signature = sign(null, Buffer.concat([sha3(Buffer.from('APTOS::RawTransaction')), raw]), privateKey)
  return Buffer.concat([raw, Buffer.from([0, 32]), publicKey, Buffer.from([64]), signature])
}
