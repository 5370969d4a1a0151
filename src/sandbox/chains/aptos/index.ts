/**
 * Simulated Aptos node: there is no node to install. It serves the REST interface of a full node for transfers of APT and
 * USDC by the rules of the real network, and runs no Move code.
 */
import type { Hex } from '#lib/hex'
import type { Log } from '#runtime/log/log'
import {
  type BlockMode,
  type LedgerTime,
  memoryJournal,
  openLedgerJournal,
  setLedgerTime,
} from '../ledger-journal.ts'
import { type HostedLedger, hostLedger, type OpenedLedger } from '../ledger-node.ts'
import { apt } from './assets.ts'
import { type AptosEndpoint, openEndpoint } from './endpoint.ts'
import { type Order, orders } from './issuer.ts'
import type { LedgerEntry } from './journal.ts'
import { forgetPending, type Ledger, latestBlock, mine, openLedger, pruneLedger } from './ledger.ts'
import { openMining } from './mining.ts'
import { sendOrder } from './orders.ts'
import { balanceIn, readState } from './state.ts'

type AptosNodeOptions = {
  /** 1 main, 2 test network, 4 local. */
  chainId: number
  /** The directory of the journal; undefined for a ledger that ends with its process. */
  directory: string | undefined
  /** Milliseconds since 1970, by which blocks get their time. */
  clock(): number
  blocks?: BlockMode
  /** The port that it prefers; that of its previous run, or any, when left out. */
  port?: number | undefined
  /** Receives the failures of blocks that the node makes by itself. */
  log?: Pick<Log, 'error'>
}

export type AptosNode = AptosEndpoint &
  HostedLedger<Ledger, AptosEndpoint> & {
    /** Makes a block of what is ready, or an empty one though transactions wait. */
    mine(options?: { isEmpty: boolean }): {
      height: number
      hash: Hex
      timestampUs: bigint
      lastVersion: number
    }
    /** Sets the time of the next blocks, at least that of the newest one. */
    setTime(time: LedgerTime): void
    /** Mints APT or another asset, in a transaction whose hash it returns. */
    fund(address: Hex, amountAtomic: bigint, metadata?: Hex): Hex
    deny(metadata: Hex, address: Hex, isDenied: boolean): Hex
    pause(metadata: Hex, isPaused: boolean): Hex
    /** Lets an account hold APT as the older coin: its movements emit events of handles (1), of the module (2) or both (3). */
    emitCoinEvents(address: Hex, kind: bigint): Hex
    /** Forgets the history before a version. */
    prune(version: number): void
    /** Forgets a transaction that waits, or all of them, as a restart of a real node does. */
    forgetPool(hash?: string): void
    /** Hashes of the transactions that wait. */
    pool(): string[]
    balanceOf(address: Hex, metadata?: Hex): bigint
    /** Copies the files that give the ledger as it is now to another directory. */
    copyTo(directory: string): void
  }

/** Opens a ledger, kept or not, which makes blocks until it ends. */
function openKept({
  chainId,
  directory,
  clock,
  blocks = 'each_transaction',
  log,
}: AptosNodeOptions): OpenedLedger<Ledger> {
  const journal =
    directory === undefined
      ? memoryJournal<LedgerEntry>()
      : openLedgerJournal<LedgerEntry>(directory, chainId)
  try {
    const ledger = openLedger(chainId, journal, clock)
    // Block 0 has no time: a first block has it from the clock.
    if (latestBlock(ledger).height === 0) mine(ledger)
    const mining = openMining(ledger, blocks, log)
    return { ledger, mode: mining.mode, setMode: mining.set, stop: mining.stop, close: journal.close }
  } catch (error) {
    journal.close()
    throw error
  }
}

/** Opens a ledger, kept or not, and serves it on a port of this machine. */
export async function openAptosNode(options: AptosNodeOptions): Promise<AptosNode> {
  const { directory, port } = options
  const { first, hosted } = await hostLedger({
    open: () => openKept(options),
    serve: openEndpoint,
    directory,
    port,
  })
  return { ...first, ...hosted, ...controlsOf(hosted.ledger) }
}

function controlsOf(ledger: () => Ledger) {
  const order = (wanted: Order) => sendOrder(ledger(), wanted)
  return {
    mine: (options?: { isEmpty: boolean }) => mine(ledger(), options),
    setTime: (time: LedgerTime) => setLedgerTime(ledger(), time),
    fund: (address: Hex, amountAtomic: bigint, metadata = apt.metadata) =>
      order(orders.mint(metadata, address, amountAtomic)),
    deny: (metadata: Hex, address: Hex, isDenied: boolean) => order(orders.deny(metadata, address, isDenied)),
    pause: (metadata: Hex, isPaused: boolean) => order(orders.pause(metadata, isPaused)),
    emitCoinEvents: (address: Hex, kind: bigint) => order(orders.emitCoinEvents(address, kind)),
    prune: (version: number) => pruneLedger(ledger(), version),
    forgetPool: (hash?: string) => forgetPending(ledger(), hash),
    copyTo: (copy: string) => ledger().journal.copyTo(copy),
    pool: () =>
      ledger()
        .pool.all()
        .map(({ hash }) => hash),
    balanceOf: (address: Hex, metadata = apt.metadata) =>
      balanceIn(readState(ledger().state), address, metadata),
  }
}
