/**
 * Decodes the effects of a call from its bytes alone, for policy to evaluate. A call not understood to the last byte is
 * undecodable: unknown arguments, bytes that another encoder would write differently (dirty upper bits, trailing bytes,
 * overlapping offsets), nesting beyond the limits. Never throws.
 */
import { type AbiParameter, decodeAbiParameters, encodeAbiParameters } from 'viem'
import { type Hex, isHex } from '#lib/hex'
import type { Address } from '../chain.ts'
import type { Danger, Effects } from '../effects.ts'
import { type KnownEffect, knownCall } from './known-calls.ts'

/** A call as it is signed; without `to` it creates a contract. */
export type DecodableCall = { to: Address | undefined; valueAtomic: bigint; data: Hex }

const depthMax = 4
const callsMax = 64
const dataBytesMax = 131_072

export function decodeCall(blockchain: string, call: DecodableCall): Effects {
  const found = newEffects()
  addCall(found, blockchain, call, 0)
  return effectsOf(found)
}

export type FoundEffects = { effects: Effects['effects']; dangers: Set<Danger>; calls: number }

export const newEffects = (): FoundEffects => ({ effects: [], dangers: new Set(), calls: 0 })

export const effectsOf = ({ effects, dangers }: FoundEffects): Effects => ({ effects, dangers: [...dangers] })

/** Adds the effects of one call and of the calls nested in it. */
export function addCall(found: FoundEffects, blockchain: string, call: DecodableCall, depth: number): void {
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
  found.effects.push({ kind: 'call', blockchain, contract, selector, known: known !== undefined })
  if (!known) return
  if (known.danger) found.dangers.add(known.danger)
  const args = decodeExactly(known.inputs, `0x${data.slice(10)}`)
  if (!args) return void found.dangers.add('undecodable')
  for (const deed of known.read(args as never)) addDeed(found, blockchain, contract, deed, depth)
}

function addDeed(
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
  const { does: kind, token = contract, to: destination, amountAtomic } = deed
  found.effects.push({ kind, blockchain, token, destination, amountAtomic })
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

/** The values of `data`, or `undefined` unless encoding them again gives the same bytes. */
function decodeExactly(inputs: readonly AbiParameter[], data: Hex): readonly unknown[] | undefined {
  try {
    if (inputs.length === 0) return data === '0x' ? [] : undefined
    const values = decodeAbiParameters(inputs, data) as readonly unknown[]
    return encodeAbiParameters(inputs, values) === data ? values : undefined
  } catch {
    return undefined
  }
}
