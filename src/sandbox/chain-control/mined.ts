import { setTimeout as delay } from 'node:timers/promises'
import type { LocalChain } from '../chains/index.ts'
import { miningOf } from './state.ts'

/** Time of a request for the block of its transaction, which a timer may make much later. */
export const minedWithinMs = 15_000
const lookEveryMs = 10

type MinedReceipt = { blockNumber: string; status: string }
export type MinedState = { status: 'mined' | 'reverted' | 'unmined'; blockNumber?: number }

/** Waits for the block of a transaction, because a node answers before it has mined; a chain that is paused has none. */
export async function untilMined(
  chain: LocalChain,
  hash: string,
  deadlineMs = performance.now() + minedWithinMs,
): Promise<MinedState> {
  for (;;) {
    // The mode is read first: what a chain mined before it was paused has its receipt by now.
    const { isPaused } = await miningOf(chain)
    const receipt = await chain.ask<MinedReceipt | null>('eth_getTransactionReceipt', [hash])
    if (receipt)
      return {
        status: Number(receipt.status) === 1 ? 'mined' : 'reverted',
        blockNumber: Number(receipt.blockNumber),
      }
    if (isPaused || performance.now() > deadlineMs) return { status: 'unmined' }
    await delay(lookEveryMs)
  }
}
