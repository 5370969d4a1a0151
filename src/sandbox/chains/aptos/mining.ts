import type { Log } from '#runtime/log/log'
import { openBlockMaking } from '../block-making.ts'
import { type BlockMode, setBlockMode } from '../ledger-journal.ts'
import { type Ledger, mine } from './ledger.ts'
import { readState } from './state.ts'

/** Makes blocks by the mode that was set last, before this process perhaps; otherwise by the first one. */
export const openMining = (ledger: Ledger, first: BlockMode, log?: Pick<Log, 'error'>) =>
  openBlockMaking({
    ledger: {
      mine: () => void mine(ledger),
      isReady: () => ledger.pool.ready(readState(ledger.state)).length > 0,
      // A transaction that waits for another one.
      hasExpired: () => hasExpired(ledger),
      onSubmit: (listener) =>
        ledger.listeners.add((change) => {
          if (change === 'pool') listener()
        }),
      record: (mode) => setBlockMode(ledger, mode),
    },
    mode: ledger.blockMode ?? first,
    log,
  })

function hasExpired(ledger: Ledger): boolean {
  const nowS = BigInt(Math.floor(ledger.clock() / 1000))
  return ledger.pool.all().some(({ transaction }) => transaction.expiryS <= nowS)
}
