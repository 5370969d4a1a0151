import type { Log } from '#runtime/log/log'
import type { BlockMode } from './journal.ts'
import { type Ledger, mine, setBlockMode } from './ledger.ts'
import { readState } from './state.ts'

/** The wait between two looks for transactions that expired where blocks follow transactions. */
const expiryCheckMs = 1000

/** Makes blocks by the mode that was set last, before this process perhaps; otherwise by the first one. */
export function openMining(ledger: Ledger, first: BlockMode, log?: Pick<Log, 'error'>) {
  let mode: BlockMode = 'by_hand'
  let timer: NodeJS.Timeout | undefined
  let soon: NodeJS.Immediate | undefined
  const attempt = (work: () => void) => {
    try {
      work()
    } catch (error) {
      log?.error({ err: error }, 'the simulated Aptos node did not make a block')
    }
  }
  // A block comes after the answer to the transaction, and has all that arrived meanwhile.
  const mineSoon = () => {
    if (mode !== 'each_transaction') return
    soon ??= setImmediate(() => {
      soon = undefined
      attempt(() => {
        while (ledger.pool.ready(readState(ledger.state)).length > 0) mine(ledger)
      })
    })
  }
  // A transaction that waits for another one expires in a block, which shows senders that it is dead.
  const mineExpired = () => {
    if (hasExpired(ledger)) attempt(() => mine(ledger))
  }
  const stop = () => {
    clearInterval(timer)
    clearImmediate(soon)
    soon = undefined
  }
  const begin = (next: BlockMode) => {
    stop()
    mode = next
    if (next === 'each_transaction') timer = setInterval(mineExpired, expiryCheckMs)
    else if (next !== 'by_hand') timer = setInterval(() => attempt(() => mine(ledger)), next.everyMs)
    mineSoon()
  }
  ledger.listeners.add((change) => {
    if (change === 'pool') mineSoon()
  })
  begin(ledger.blockMode ?? first)
  return {
    mode: () => mode,
    set: (next: BlockMode) => {
      setBlockMode(ledger, next)
      begin(next)
    },
    stop,
  }
}

function hasExpired(ledger: Ledger): boolean {
  const nowS = BigInt(Math.floor(ledger.clock() / 1000))
  return ledger.pool.all().some(({ transaction }) => transaction.expiryS <= nowS)
}
