/**
 * Simulated Aptos node: there is no node to install. It serves the REST interface of a full node for transfers of APT and
 * USDC by the rules of the real network, and runs no Move code.
 */
import type { Hex } from '#lib/hex'
import type { Log } from '#runtime/log/log'
import { portFileIn } from '../port-file.ts'
import { apt } from './assets.ts'
import { type AptosEndpoint, openEndpoint } from './endpoint.ts'
import { type Order, orders } from './issuer.ts'
import { type BlockMode, type LedgerTime, memoryJournal, openLedgerJournal } from './journal.ts'
import {
  forgetPending,
  type Ledger,
  latestBlock,
  mine,
  openLedger,
  pruneLedger,
  setLedgerTime,
} from './ledger.ts'
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

export type AptosNode = AptosEndpoint & {
  /** A further address of the same ledger, with faults of its own. */
  openEndpoint(port?: number): Promise<AptosEndpoint>
  /** Makes a block of what is ready, or an empty one though transactions wait. */
  mine(options?: { isEmpty: boolean }): {
    height: number
    hash: Hex
    timestampUs: bigint
    lastVersion: number
  }
  /** The ledger as it is now; a halt replaces it. */
  ledger(): Ledger
  blocks(): BlockMode
  /** Sets the mode, which outlives a restart of a kept ledger, as `setTime` does. */
  setBlocks(mode: BlockMode): void
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
  /** Closes the files, so that others can take their place. Requests wait until the returned function has opened those. */
  halt(): () => Promise<void>
}

type OpenLedger = { ledger: Ledger; mining: ReturnType<typeof openMining>; end(): void }

/** Opens a ledger, kept or not, which makes blocks until it ends. */
function openKept({
  chainId,
  directory,
  clock,
  blocks = 'each_transaction',
  log,
}: AptosNodeOptions): OpenLedger {
  const journal = directory === undefined ? memoryJournal() : openLedgerJournal(directory, chainId)
  try {
    const ledger = openLedger(chainId, journal, clock)
    // Block 0 has no time: a first block has it from the clock.
    if (latestBlock(ledger).height === 0) mine(ledger)
    const mining = openMining(ledger, blocks, log)
    const end = () => {
      mining.stop()
      journal.close()
    }
    return { ledger, mining, end }
  } catch (error) {
    journal.close()
    throw error
  }
}

/** Opens a ledger, kept or not, and serves it on a port of this machine. */
export async function openAptosNode(options: AptosNodeOptions): Promise<AptosNode> {
  const { directory, port } = options
  let current = openKept(options)
  let ready = Promise.resolve()
  const endpoints: AptosEndpoint[] = []
  const open = async (wanted?: number) => {
    const endpoint = await openEndpoint(() => ready.then(() => current.ledger), wanted)
    endpoints.push(endpoint)
    return endpoint
  }
  const close = async () => {
    current.mining.stop()
    await Promise.all(endpoints.map((endpoint) => endpoint.close()))
    current.end()
  }
  const halt = () => {
    let resume: (opened: Promise<void>) => void = () => {}
    ready = new Promise((resolve) => {
      resume = resolve
    })
    ready.catch(() => undefined)
    current.end()
    return async () => {
      const opening = Promise.resolve().then(() => {
        current = openKept(options)
      })
      resume(opening)
      await opening
    }
  }
  try {
    const remembered = directory === undefined ? undefined : portFileIn(directory)
    const first = await open(port ?? remembered?.read())
    remembered?.write(first.port)
    return { ...first, ...controlsOf(() => current), halt, openEndpoint: open, close }
  } catch (error) {
    await close()
    throw error
  }
}

function controlsOf(current: () => OpenLedger) {
  const ledger = () => current().ledger
  const order = (wanted: Order) => sendOrder(ledger(), wanted)
  return {
    ledger,
    mine: (options?: { isEmpty: boolean }) => mine(ledger(), options),
    blocks: () => current().mining.mode(),
    setBlocks: (mode: BlockMode) => current().mining.set(mode),
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
