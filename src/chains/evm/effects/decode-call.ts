/**
 * Decodes the effects of a call from its bytes alone, for policy to evaluate. A call not understood to the last byte is
 * undecodable: unknown arguments, bytes that another encoder would write differently (dirty upper bits, trailing bytes,
 * overlapping offsets), nesting beyond the limits. Never throws.
 */
import { type Hex, isHex } from '#lib/hex'
import type { Address } from '../../addresses/types.ts'
import type { TransferSpec } from '../../crosschain/transfer-spec.ts'
import type { Danger, Effects, Party } from '../../facets/call-effects.ts'
import { tokenAddress, unitsOfBooks } from '../../network.ts'
import { networkOf } from '../../networks/index.ts'
import { addressesIn, addressesInCode } from './addresses-in.ts'
import { arrivalOf } from './arrival.ts'
import { decodeExactly } from './decode-exactly.ts'
import { knownCall } from './known-calls.ts'
import { metBySpec } from './known-crosschain-calls.ts'
import type { KnownEffect } from './known-effect.ts'

/** A call as it is signed; without `to` it creates a contract. */
export type DecodableCall = { to: Address | undefined; valueAtomic: bigint; data: Hex }

const depthMax = 4
const callsMax = 64
const dataBytesMax = 131_072

export function decodeCall(blockchain: string, call: DecodableCall): Effects {
  const found = newEffects()
  addOuterCall(found, blockchain, call)
  return effectsOf(found)
}

export type FoundEffects = Pick<Effects, 'effects' | 'parties'> & { dangers: Set<Danger>; calls: number }

export const newEffects = (): FoundEffects => ({ effects: [], dangers: new Set(), parties: [], calls: 0 })

export const effectsOf = ({ effects, dangers, parties }: FoundEffects): Effects => ({
  effects: effects.map(inNativeUnits),
  dangers: [...dangers],
  parties,
})

const uint256Max = 2n ** 256n - 1n

/** The same effect; what the contract of the native coin moves is native coins, so that one rule covers both forms. */
function inNativeUnits(effect: Effects['effects'][number]): Effects['effects'][number] {
  if (effect.kind !== 'transfer' && effect.kind !== 'approval') return effect
  const network = networkOf(effect.blockchain)
  const contract = network?.nativeToken.contract
  if (!contract || effect.token !== tokenAddress(contract)) return effect
  const atomic = effect.amountAtomic * unitsOfBooks(network, contract)
  // The largest amount stands for any.
  const amountAtomic = atomic > uint256Max ? uint256Max : atomic
  return { ...effect, token: 'native', movedBy: effect.token, amountAtomic }
}

/** Adds the effects of a call, and every address in its data: also those in arguments of functions that are not known. */
export function addOuterCall(found: FoundEffects, blockchain: string, call: DecodableCall): void {
  addCall(found, blockchain, call, 0)
  const data = call.data.slice(0, 2 + 2 * dataBytesMax) as Hex
  const words = call.to === undefined ? lastWords(call.data) : data
  // Calls can carry code too, for a contract that creates others.
  for (const address of new Set([...addressesIn(words), ...addressesInCode(data)]))
    found.parties.push({ blockchain, address, guessed: true })
}

const constructorWordsMax = 64

/** The end of a creation, where the arguments of the constructor stand behind code of any length. */
const lastWords = (data: Hex): Hex =>
  `0x${data.slice(Math.max(2 + ((data.length - 2) % 64), data.length - 64 * constructorWordsMax))}`

/** Adds the effects of one call and of the calls nested in it. */
function addCall(found: FoundEffects, blockchain: string, call: DecodableCall, depth: number): void {
  found.calls += 1
  if (depth > depthMax || found.calls > callsMax) return void found.dangers.add('undecodable')
  const { to, valueAtomic } = call
  const data = call.data.toLowerCase() as Hex
  if (!isHex(data) || data.length > 2 + 2 * dataBytesMax) return void found.dangers.add('undecodable')
  if (to === undefined) {
    found.dangers.add('contractCreation')
    if (valueAtomic > 0n) addNative(found, blockchain, undefined, valueAtomic)
    return
  }
  const contract = to.toLowerCase() as Address
  if (data === '0x') return void addNative(found, blockchain, contract, valueAtomic)
  if (valueAtomic > 0n) addNative(found, blockchain, undefined, valueAtomic)
  const selector = data.slice(0, 10) as Hex
  const known = data.length >= 10 ? knownCall(selector) : undefined
  found.effects.push({ kind: 'call', blockchain, contract, selector, known: known?.byName === false })
  if (!known) return
  if (known.danger) found.dangers.add(known.danger)
  const args = decodeExactly(known.inputs, `0x${data.slice(10)}`)
  if (!args) return void found.dangers.add('undecodable')
  for (const deed of known.read(args as never)) addDeed(found, blockchain, contract, deed, depth)
}

/** Adds one effect of a call of `contract`. */
export function addDeed(
  found: FoundEffects,
  blockchain: string,
  contract: Address,
  deed: KnownEffect,
  depth: number,
): void {
  if (deed.does === 'danger') return void found.dangers.add(deed.danger)
  if (deed.does === 'call') {
    const { to = contract, valueAtomic = 0n, data } = deed
    return void addCall(found, blockchain, { to, valueAtomic, data }, depth + 1)
  }
  if (deed.does === 'meets') {
    const party = arrivalOf(blockchain, deed.domain, deed.account)
    if (party.address !== undefined)
      found.parties.push({ blockchain: party.blockchain, address: party.address })
    return
  }
  if (deed.does === 'burn') return void addBurn(found, blockchain, deed)
  const { does: kind, token = contract, to: destination, amountAtomic } = deed
  found.effects.push({ kind, blockchain, token, destination, amountAtomic })
}

/** The accounts of a transfer of a unified balance, whose chains are in the environment of `blockchain`. */
export function partiesOfSpec(blockchain: string, spec: TransferSpec): Party[] {
  const found = newEffects()
  for (const deed of metBySpec(spec)) addDeed(found, blockchain, '0x', deed, 0)
  return found.parties
}

/** Adds a transfer to another chain; an account whose form is not that of an address there may stand for any. */
export function addBurn(
  found: FoundEffects,
  blockchain: string,
  { token, account, domain, amountAtomic }: Omit<Extract<KnownEffect, { does: 'burn' }>, 'does'>,
): void {
  const arrival = arrivalOf(blockchain, domain, account)
  const { address: destination = account, blockchain: destinationChain } = arrival
  found.effects.push({ kind: 'transfer', blockchain, token, destination, destinationChain, amountAtomic })
  if (!arrival.isOwner) found.dangers.add('undecodable')
}

function addNative(
  found: FoundEffects,
  blockchain: string,
  destination: Address | undefined,
  amountAtomic: bigint,
): void {
  const to = destination === undefined ? {} : { destination }
  found.effects.push({ kind: 'transfer', blockchain, token: 'native', ...to, amountAtomic })
}
