import { randomBytes } from 'node:crypto'
import { keccak256, toBytes } from 'viem'
import { devAccounts } from '#sandbox/constants'
import { quantity, rpc, rpcBatch } from '#testing/platform/json-rpc'
import { type Node, nonceOf } from './chain.ts'

/** A contract without a state that emits ERC-20 transfers, as many in one transaction as its caller says. */
export const emittedEvent = 'Transfer(address,address,uint256)'

const topic = keccak256(toBytes(emittedEvent)).slice(2)

/**
 * Counts the first word of the call down to 1. Each round emits a transfer of that many units from the caller to the address
 * that is as far above the second word, so that recipients differ.
 */
const code = `0x6000355b8015604057806000528060203501337f${topic}60206000a3600190036003565b00`

export type Emission = { count: number; first: number }

export type Emitter = {
  address: `0x${string}`
  /** Sends a transaction for each of these, in their order; returns their hashes. */
  emit(emissions: readonly Emission[]): Promise<string[]>
}

/** Places the contract at an unused address. One emitter of a node sends at a time: they share an account. */
export async function openEmitter(node: Node): Promise<Emitter> {
  const address = `0x${randomBytes(20).toString('hex')}` as const
  await rpc(node.url, 'anvil_setCode', [address, code])
  const from = devAccounts[1]!.address
  let nonce = await nonceOf(node, from)
  const emit = (emissions: readonly Emission[]) => {
    const sends = emissions.map(({ count, first }) => {
      const gas = quantity(60_000 + count * 2_500)
      const transaction = { from, to: address, data: `0x${word(count)}${word(first)}`, gas }
      return { method: 'eth_sendTransaction', params: [{ ...transaction, nonce: quantity(nonce++) }] }
    })
    return rpcBatch<string>(node.url, sends)
  }
  return { address, emit }
}

const word = (value: number) => value.toString(16).padStart(64, '0')
