/** The acts of the lab on a chain whose ledger this process keeps. */
import { setImmediate as turn } from 'node:timers/promises'
import type { BlockMode, LedgerTime } from './ledger-journal.ts'
import type { BlockPace, ChainControls } from './local-chain.ts'

type PacedNode = {
  blocks(): BlockMode
  setBlocks(mode: BlockMode): void
  mine(): unknown
  setTime(time: LedgerTime): void
  ledger(): { clock(): number; time: LedgerTime }
}

/** The pace and the time of blocks. `newestMs`: the time of the newest block. */
export const pacedControls = (
  node: PacedNode,
  newestMs: () => number,
): Pick<ChainControls, 'pace' | 'setPace' | 'mine' | 'setTime' | 'freezeTime' | 'releaseTime'> => ({
  pace: async () => paceOf(node.blocks()),
  setPace: async (pace) => node.setBlocks(modeOf(pace)),
  mine: (blocks, intervalS) => mineBlocks(node, newestMs, blocks, intervalS),
  // The time of a block is the clock's, or at least that of the block before.
  setTime: async (nowMs, isFrozen) =>
    node.setTime(isFrozen ? { heldMs: nowMs } : { aheadMs: nowMs - Date.now() }),
  freezeTime: async () => node.setTime({ heldMs: node.ledger().clock() }),
  releaseTime: async () => node.setTime({ aheadMs: node.ledger().clock() - Date.now() }),
})

const paceOf = (mode: BlockMode): BlockPace =>
  mode === 'by_hand' ? 'paused' : mode === 'each_transaction' ? mode : mode.everyMs / 1000

const modeOf = (pace: BlockPace): BlockMode =>
  pace === 'paused' ? 'by_hand' : pace === 'each_transaction' ? pace : { everyMs: pace * 1000 }

const blocksPerTurn = 50

async function mineBlocks(
  node: PacedNode,
  newestMs: () => number,
  blocks: number,
  intervalS = 0,
): Promise<void> {
  for (let made = 0; made < blocks; made++) {
    if (made > 0 && intervalS > 0) leap(node, newestMs() + intervalS * 1000)
    node.mine()
    if (made % blocksPerTurn === blocksPerTurn - 1) await turn()
  }
}

/** Moves the time of the next block away from that of the newest one. */
const leap = (node: PacedNode, atMs: number): void =>
  node.setTime('heldMs' in node.ledger().time ? { heldMs: atMs } : { aheadMs: atMs - Date.now() })
