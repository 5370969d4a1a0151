/**
 * Local network of Solana: the real virtual machine of the network executes transactions, and this process keeps what is around it:
 * slots, blocks, forks, commitments, blockhashes and their age. It serves the JSON-RPC of a node.
 */
import type { Log } from '#runtime/log/log'
import { openBlockMaking } from '../block-making.ts'
import {
  type BlockMode,
  type LedgerTime,
  memoryJournal,
  openLedgerJournal,
  setBlockMode,
  setLedgerTime,
} from '../ledger-journal.ts'
import { type HostedLedger, hostLedger, type OpenedLedger } from '../ledger-node.ts'
import type { SlotBlock } from './blocks.ts'
import { openRpcEndpoint, type SolanaEndpoint } from './endpoint.ts'
import { issuerInstructions } from './issuer.ts'
import type { SolanaEntry } from './journal.ts'
import {
  dropWaiting,
  type ForkOptions,
  fork,
  headBlock,
  isTooOld,
  type LedgerChange,
  makeNextBlock,
  openSolanaLedger,
  type SolanaLedger,
  setSkipPercent,
  skipSlots,
} from './ledger.ts'
import { sendIssued } from './send-methods.ts'

type SolanaNodeOptions = {
  /** Tells local networks apart: their genesis hashes differ. */
  chainId: number
  /** The directory of the journal; undefined for a ledger that ends with its process. */
  directory: string | undefined
  /** Milliseconds since 1970, by which blocks get their time. */
  clock(): number
  blocks?: BlockMode
  /** Number of blocks after which one is final, as on the network where it is left out. */
  finalizedAfter?: number
  /** The port that it prefers; that of its previous run, or any, when left out. */
  port?: number | undefined
  /** Receives the failures of blocks that the node makes by itself. */
  log?: Pick<Log, 'error'>
}

export type SolanaNode = SolanaEndpoint &
  HostedLedger<SolanaLedger, SolanaEndpoint> & {
    /** Makes a block of what waits, or an empty one though transactions wait. */
    mine(options?: { isEmpty: boolean }): SlotBlock
    /** Sets the time of the next blocks, at least that of the newest one. */
    setTime(time: LedgerTime): void
    /** Leaves slots without a block: of a hundred, so many; or the next ones. */
    setSkips(percent: number): void
    skip(slots: number): void
    /** Takes back the blocks after a slot, as a fork does that loses. Their transactions wait again, or are gone. */
    fork(slot: number, options?: ForkOptions): SlotBlock[]
    /** Pays SOL or a token, in a transaction whose signature it returns. */
    fund(address: string, amountAtomic: bigint, mint?: string): string
    /** Freezes an account of a token, or ends that. */
    freeze(mint: string, account: string, isFrozen: boolean): string
    /** Forgets a transaction that waits, or all of them, as a restart of a real node does. */
    forgetPending(signature?: string): void
    /** Signatures of the transactions that wait. */
    pending(): string[]
    /** Copies the files that give the ledger as it is now to another directory. */
    copyTo(directory: string): void
  }

/** As on the network, where a vote for a block is final after 32 more. */
const finalizedAfterUsual = 31

/** Opens a ledger, kept or not, which makes blocks until it ends. */
function openKept(options: SolanaNodeOptions): OpenedLedger<SolanaLedger> {
  const { chainId, directory, clock, blocks = 'each_transaction', log } = options
  const { finalizedAfter = finalizedAfterUsual } = options
  const journal =
    directory === undefined
      ? memoryJournal<SolanaEntry>()
      : openLedgerJournal<SolanaEntry>(directory, chainId)
  try {
    const ledger = openSolanaLedger({ chainId, journal, clock, finalizedAfter })
    // Genesis has no time: a first block has it from the clock.
    if (headBlock(ledger).height === 0) makeNextBlock(ledger)
    const making = openBlockMaking({ ledger: madeLedger(ledger), mode: ledger.blockMode ?? blocks, log })
    return { ledger, mode: making.mode, setMode: making.set, stop: making.stop, close: journal.close }
  } catch (error) {
    journal.close()
    throw error
  }
}

const madeLedger = (ledger: SolanaLedger): Parameters<typeof openBlockMaking>[0]['ledger'] => ({
  mine: () => void makeNextBlock(ledger),
  isReady: () => [...ledger.pending.values()].some(({ wasTried }) => !wasTried),
  // One that was tried is tried again with each block, and dropped once its blockhash is too old.
  hasExpired: () =>
    [...ledger.pending.values()].some(({ transaction }) => isTooOld(ledger, transaction, headBlock(ledger))),
  onSubmit: (listener) =>
    ledger.listeners.add((change) => {
      if (change === 'pending') listener()
    }),
  record: (mode) => setBlockMode(ledger, mode),
})

/** Opens a ledger, kept or not, and serves it on a port of this machine. */
export async function openSolanaNode(options: SolanaNodeOptions): Promise<SolanaNode> {
  const { directory, port } = options
  const listeners = new Set<(change: LedgerChange) => void>()
  const { first, hosted } = await hostLedger({
    open: () => {
      const opened = openKept(options)
      opened.ledger.listeners.add((change) => {
        for (const listener of listeners) listener(change)
      })
      return opened
    },
    serve: (ledger, wanted) => openRpcEndpoint({ ledger, listeners }, wanted),
    directory,
    port,
  })
  return { ...first, ...hosted, ...controlsOf(hosted.ledger) }
}

function controlsOf(ledger: () => SolanaLedger) {
  return {
    mine: (options?: { isEmpty: boolean }) => makeNextBlock(ledger(), options),
    setTime: (time: LedgerTime) => setLedgerTime(ledger(), time),
    setSkips: (percent: number) => setSkipPercent(ledger(), percent),
    skip: (slots: number) => skipSlots(ledger(), slots),
    fork: (slot: number, options?: ForkOptions) => fork(ledger(), slot, options),
    fund: (address: string, amountAtomic: bigint, mint?: string) =>
      sendIssued(
        ledger(),
        mint === undefined
          ? issuerInstructions.pay(address, amountAtomic)
          : issuerInstructions.mint(mint, address, amountAtomic),
      ),
    freeze: (mint: string, account: string, isFrozen: boolean) =>
      sendIssued(ledger(), issuerInstructions.freeze(mint, account, isFrozen)),
    forgetPending: (signature?: string) => dropWaiting(ledger(), signature),
    copyTo: (copy: string) => ledger().journal.copyTo(copy),
    pending: () => [...ledger().pending.keys()],
  }
}
