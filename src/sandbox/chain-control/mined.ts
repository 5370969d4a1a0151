import { setTimeout as delay } from 'node:timers/promises'
import type { ChainControls } from '../chains/local-chain.ts'

/** Time of a request for the block of its transaction, which a timer may make much later. */
export const minedWithinMs = 15_000
const lookEveryMs = 10

export type MinedState = { status: 'mined' | 'reverted' | 'unmined'; blockNumber?: number }

/** Waits for the block of a transaction, because a node answers before it has mined; a chain that is paused has none. */
export async function untilMined(
  chain: Pick<ChainControls, 'pace' | 'outcomeOf'>,
  hash: string,
  deadlineMs = performance.now() + minedWithinMs,
): Promise<MinedState> {
  for (;;) {
    // The mode is read first: what a chain mined before it was paused has its receipt by now.
    const pace = await chain.pace()
    const found = await chain.outcomeOf(hash)
    if (found) return { status: found.isSuccess ? 'mined' : 'reverted', blockNumber: found.blockNumber }
    if (pace === 'paused' || performance.now() > deadlineMs) return { status: 'unmined' }
    await delay(lookEveryMs)
  }
}
