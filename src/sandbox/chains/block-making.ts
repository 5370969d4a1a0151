import type { Log } from '#runtime/log/log'
import type { BlockMode } from './ledger-journal.ts'

/** The wait between two looks for transactions that expired where blocks follow transactions. */
const expiryCheckMs = 1000

type MadeLedger = {
  /** Makes one block of what is ready. */
  mine(): void
  /** Whether a transaction is ready for a block. */
  isReady(): boolean
  /** Whether one that is not ready has expired: a block shows its sender that it is dead. */
  hasExpired(): boolean
  /** Calls a function after a transaction has joined those that wait. */
  onSubmit(listener: () => void): void
  /** Records the mode, which outlives a restart. */
  record(mode: BlockMode): void
}

type BlockMakingOptions = {
  ledger: MadeLedger
  /** The mode that was set last, before this process perhaps; otherwise the first one. */
  mode: BlockMode
  log?: Pick<Log, 'error'> | undefined
}

/** Makes the blocks of a ledger that this process keeps, by a mode that can be set. */
export function openBlockMaking({ ledger, mode: first, log }: BlockMakingOptions) {
  let mode: BlockMode = 'by_hand'
  let timer: NodeJS.Timeout | undefined
  let soon: NodeJS.Immediate | undefined
  const attempt = (work: () => void) => {
    try {
      work()
    } catch (error) {
      log?.error({ err: error }, 'the local chain did not make a block')
    }
  }
  // A block comes after the answer to the transaction, and has all that arrived meanwhile.
  const mineSoon = () => {
    if (mode !== 'each_transaction') return
    soon ??= setImmediate(() => {
      soon = undefined
      attempt(() => {
        while (ledger.isReady()) ledger.mine()
      })
    })
  }
  const mineExpired = () => {
    if (ledger.hasExpired()) attempt(ledger.mine)
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
    else if (next !== 'by_hand') timer = setInterval(() => attempt(ledger.mine), next.everyMs)
    mineSoon()
  }
  ledger.onSubmit(mineSoon)
  begin(first)
  return {
    mode: () => mode,
    set: (next: BlockMode) => {
      ledger.record(next)
      begin(next)
    },
    stop,
  }
}
