/**
 * Simulated Aptos node: there is no node to install. It serves the REST interface of a full node for transfers of APT and
 * USDC by the rules of the real network, and runs no Move code.
 */
import type { Hex } from '#lib/hex'
import type { Log } from '#runtime/log/log'
import { apt } from './assets.ts'
import { type AptosEndpoint, openEndpoint } from './endpoint.ts'
import { type Order, orders } from './issuer.ts'
import { memoryJournal, openLedgerJournal } from './journal.ts'
import { forgetPool, type Ledger, latestBlock, mine, openLedger, pruneLedger } from './ledger.ts'
import { sendOrder } from './orders.ts'
import { balanceIn, readState } from './state.ts'

/** When blocks are made: after each transaction, on a timer also of nothing, or by `mine` alone. */
type BlockMode = 'each_transaction' | 'by_hand' | { everyMs: number }

type AptosNodeOptions = {
  /** 1 main, 2 test network, 4 local. */
  chainId: number
  /** The directory of the journal; undefined for a ledger that ends with its process. */
  directory: string | undefined
  /** Milliseconds since 1970, by which blocks get their time. */
  clock(): number
  blocks?: BlockMode
  port?: number | undefined
  /** Receives the failures of blocks that the node makes by itself. */
  log?: Pick<Log, 'error'>
}

export type AptosNode = AptosEndpoint & {
  /** A further address of the same ledger, with faults of its own. */
  openEndpoint(port?: number): Promise<AptosEndpoint>
  /** Makes a block of what is ready, or an empty one. */
  mine(): { height: number; hash: Hex; timestampUs: bigint; lastVersion: number }
  setBlocks(mode: BlockMode): void
  /** Mints APT or another asset, in a transaction whose hash it returns. */
  fund(address: Hex, amountAtomic: bigint, metadata?: Hex): Hex
  deny(metadata: Hex, address: Hex, isDenied: boolean): Hex
  pause(metadata: Hex, isPaused: boolean): Hex
  /** Lets an account hold APT as the older coin: its movements emit events of handles (1), of the module (2) or both (3). */
  emitCoinEvents(address: Hex, kind: bigint): Hex
  /** Forgets the history before a version. */
  prune(version: number): void
  /** Forgets the transactions that wait, as a restart of a real node does. */
  forgetPool(): void
  /** Hashes of the transactions that wait. */
  pool(): string[]
  balanceOf(address: Hex, metadata?: Hex): bigint
}

/** Opens a ledger, kept or not, and serves it on a port of this machine. */
export async function openAptosNode(options: AptosNodeOptions): Promise<AptosNode> {
  const { chainId, directory, clock, port, blocks = 'each_transaction', log } = options
  const journal = directory === undefined ? memoryJournal() : openLedgerJournal(directory, chainId)
  const endpoints: AptosEndpoint[] = []
  try {
    const ledger = openLedger(chainId, journal, clock)
    // Block 0 has no time: a first block has it from the clock.
    if (latestBlock(ledger).height === 0) mine(ledger)
    const mining = openMining(ledger, blocks, log)
    const open = async (wanted?: number) => {
      const endpoint = await openEndpoint(ledger, wanted)
      endpoints.push(endpoint)
      return endpoint
    }
    const close = async () => {
      mining.stop()
      await Promise.all(endpoints.map((endpoint) => endpoint.close()))
      journal.close()
    }
    return { ...(await open(port)), ...controlsOf(ledger), setBlocks: mining.set, openEndpoint: open, close }
  } catch (error) {
    journal.close()
    throw error
  }
}

function controlsOf(ledger: Ledger) {
  const order = (wanted: Order) => sendOrder(ledger, wanted)
  return {
    mine: () => mine(ledger),
    fund: (address: Hex, amountAtomic: bigint, metadata = apt.metadata) =>
      order(orders.mint(metadata, address, amountAtomic)),
    deny: (metadata: Hex, address: Hex, isDenied: boolean) => order(orders.deny(metadata, address, isDenied)),
    pause: (metadata: Hex, isPaused: boolean) => order(orders.pause(metadata, isPaused)),
    emitCoinEvents: (address: Hex, kind: bigint) => order(orders.emitCoinEvents(address, kind)),
    prune: (version: number) => pruneLedger(ledger, version),
    forgetPool: () => forgetPool(ledger),
    pool: () => ledger.pool.all().map(({ hash }) => hash),
    balanceOf: (address: Hex, metadata = apt.metadata) =>
      balanceIn(readState(ledger.state), address, metadata),
  }
}

/** Makes blocks by the mode that is set. */
function openMining(ledger: Ledger, first: BlockMode, log?: Pick<Log, 'error'>) {
  let mode: BlockMode = 'by_hand'
  let timer: NodeJS.Timeout | undefined
  let soon: NodeJS.Immediate | undefined
  const isReady = () => ledger.pool.ready(readState(ledger.state)).length > 0
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
        while (isReady()) mine(ledger)
      })
    })
  }
  const stop = () => {
    clearInterval(timer)
    clearImmediate(soon)
    soon = undefined
  }
  const set = (next: BlockMode) => {
    stop()
    mode = next
    if (typeof next === 'object') timer = setInterval(() => attempt(() => mine(ledger)), next.everyMs)
    mineSoon()
  }
  ledger.listeners.add((change) => {
    if (change === 'pool') mineSoon()
  })
  set(first)
  return { set, stop }
}
