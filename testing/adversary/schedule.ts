import { encodeBase58 } from '#chains/addresses/base-encodings'
import {
  type Failpoint,
  type FailpointAction,
  type FailpointPlan,
  failpoints,
} from '#runtime/scheduling/failpoints'
import { type SeededRandom, seededRandom } from './seeded-random.ts'

/** The request of one client. */
export type PlannedTransfer = {
  /** Indices of the wallet that pays and of the API that is asked first. */
  wallet: number
  api: number
  /** Used by no other transfer. */
  to: string
  amountAtomic: bigint
  coin: 'USDC' | 'native'
  /** `little-gas` is used up and reverts in its block; `low-price` is refused by the node, before its pool. */
  flaw: 'none' | 'little-gas' | 'low-price'
  waitMs: number
  /** A request that follows the acceptance after `afterMs`. */
  later?: { verb: 'cancel' | 'accelerate'; afterMs: number }
}

/** A payment by x402: a buyer signs it once, and sellers ask for its settlement. */
export type PlannedPayment = {
  /** Indices of the buyer who pays and of the API that is asked first. */
  buyer: number
  api: number
  /** Used by no other payment. */
  to: string
  amountAtomic: bigint
  waitMs: number
  /** Number of deliveries that are asked for at once. */
  deliveries: number
  /** Time for which the authorization is valid: an hour, or so short that it may expire while it is being settled. */
  validSeconds: number
  /** Time after which each client hangs up, to ask again. */
  hangUpMs: number
  /** When the buyer sends the authorization by hand, after the request. */
  byHandAfterMs?: number
}

/** A fault of the nodes of chains whose transactions expire. */
export type ExpiringNodeFault = 'answers-lost' | 'submissions-lost' | 'pool-forgotten'

/** A fault of a machine or of the chain, `atMs` milliseconds after the start. */
export type ScheduledFault =
  | { kind: 'reorg'; atMs: number; depth: number }
  | { kind: 'wipe'; atMs: number }
  | { kind: 'kill'; atMs: number; worker: number }
  | { kind: 'freeze'; atMs: number; worker: number }
  /** Of the nodes whose transactions expire. */
  | { kind: ExpiringNodeFault; atMs: number; forMs: number }
  /** The time of the blocks whose transactions expire goes forward. */
  | { kind: 'clock'; atMs: number; byMs: number }
  /** Blocks are made at once where transactions live up to a height. */
  | { kind: 'blocks'; atMs: number; count: number }

export type Schedule = {
  seed: number
  point: Failpoint
  /** One plan for each of the two worker processes. */
  plans: readonly (FailpointPlan | undefined)[]
  /** Time until a dead worker is replaced. */
  restartMs: number
  /** Block interval; undefined mines each transaction at once. */
  blockTimeMs: number | undefined
  transfers: PlannedTransfer[]
  payments: PlannedPayment[]
  faults: ScheduledFault[]
}

/** Failpoints that only an accelerated or cancelled transaction reaches. */
const replacing: readonly Failpoint[] = [
  'before-replacement-send',
  'before-replacement-record',
  'before-cancel-record',
]

/** Failpoints of notifications, payouts, sweeps, event histories, snapshots, the flow and the root key; a run makes none of them. */
const foreignPoints: readonly Failpoint[] = [
  'before-screening',
  'before-screening-record',
  'before-delivery-record',
  'before-settlement-commit',
  'after-settlement-commit',
  'before-batch-row-commit',
  'after-batch-row-commit',
  'before-history-commit',
  'after-history-commit',
  'within-snapshot-save',
  'before-snapshot-swap',
  'within-snapshot-swap',
  'after-snapshot-database',
  'after-snapshot-swap',
  'within-flow-count',
  'before-flow-commit',
  'before-acceptance-commit',
  'after-acceptance-commit',
  'before-payments-commit',
  'after-payments-commit',
  'after-root-key-activation',
  'after-root-key-batch',
  'after-root-key-close',
  'after-root-key-wrap',
  'after-wrapped-version',
]

/** Wallets that are keys; one more is a smart account, then there is one on Aptos and one on Solana. */
export const walletCount = 3
const smartAccount = walletCount
const onAptos = walletCount + 1
const onSolana = walletCount + 2
/** The least that an account of Solana may have. */
const solanaRent = 890_880
export const workerCount = 2
/** Keys of no wallet that pay by signatures. */
export const buyerCount = 2

/** The failpoints that a run can reach; some need a requested replacement, some an orphaned block. */
export const matrixPoints = (Object.keys(failpoints) as Failpoint[]).filter(
  (point) => !foreignPoints.includes(point),
)

/** The whole schedule of a run, derived from its seed and its point. */
export function scheduleOf(seed: number, point: Failpoint, chosen?: FailpointAction): Schedule {
  const random = seededRandom(seed)
  const count = random.between(20, 40)
  const replaces = replacing.includes(point)
  const transfers = Array.from({ length: count }, (_, index) => transferOf(random, seed, index, point))
  const drawn: FailpointAction = random.oneIn(5) ? 'stop' : 'kill'
  const action = chosen ?? drawn
  const plans = Array.from({ length: workerCount }, (_, worker) =>
    // Usually both workers are armed; sometimes one has no plan.
    worker > 0 && random.oneIn(4) ? undefined : { point, hit: hitOf(random, point), action },
  )
  const blockTimeMs = blockTimeOf(random, replaces)
  const lastMs = transfers.reduce((sum, { waitMs }) => sum + waitMs, 0)
  const restartMs = random.between(0, 400)
  const faults = faultsOf(random, Math.max(lastMs, 500), point)
  const payments = Array.from({ length: random.between(3, 8) }, (_, index) => paymentOf(random, seed, index))
  return { seed, point, plans, restartMs, blockTimeMs, transfers, payments, faults }
}

/** Failpoints that are reached for each request or block; the others once for each batch. */
const frequent: readonly Failpoint[] = [
  'before-request-commit',
  'after-request-commit',
  'before-block-insert',
  'before-block-commit',
  'after-block-commit',
  'before-cursor-advance',
]

/** Number of the hit to act on. */
function hitOf(random: SeededRandom, point: Failpoint): number {
  return frequent.includes(point) ? random.between(1, 8) : random.between(1, 2)
}

/** Chooses a block time: with instant mining there is nothing to replace, and a wiped pool is empty. */
function blockTimeOf(random: SeededRandom, replaces: boolean): number | undefined {
  if (replaces) return random.between(600, 1_000)
  return random.oneIn(3) ? undefined : random.between(150, 500)
}

function transferOf(random: SeededRandom, seed: number, index: number, point: Failpoint): PlannedTransfer {
  const replaces = replacing.includes(point)
  const flawed = random.below(20)
  const wallet = random.below(walletCount + 3)
  const isKey = wallet !== smartAccount
  const coin = isKey && random.oneIn(5) ? ('native' as const) : ('USDC' as const)
  const made: PlannedTransfer = {
    wallet,
    api: random.below(workerCount),
    to: recipientOf(wallet, (BigInt(seed >>> 0) << 32n) + 0xad00_0000n + BigInt(index)),
    amountAtomic: BigInt(1 + index + (wallet === onSolana && coin === 'native' ? solanaRent : 0)),
    coin,
    flaw:
      coin === 'native' || !isKey || wallet >= onAptos
        ? 'none'
        : flawed === 0
          ? 'little-gas'
          : flawed === 1
            ? 'low-price'
            : 'none',
    waitMs: random.oneIn(2) ? random.between(0, 200) : 0,
  }
  const asked = random.oneIn(replaces ? 2 : 6)
  const verb =
    random.oneIn(2) || point === 'before-cancel-record' ? ('cancel' as const) : ('accelerate' as const)
  const afterMs = random.between(0, 300)
  // Signed payments on Solana are neither cancelled nor accelerated.
  return asked && isKey && wallet !== onSolana ? { ...made, later: { verb, afterMs } } : made
}

function recipientOf(wallet: number, number: bigint): string {
  const digits = number.toString(16)
  if (wallet !== onSolana) return `0x${digits.padStart(wallet === onAptos ? 64 : 40, 'c')}`
  return encodeBase58(Buffer.from(digits.padStart(64, 'c'), 'hex'))
}

function paymentOf(random: SeededRandom, seed: number, index: number): PlannedPayment {
  const number = (BigInt(seed >>> 0) << 32n) + 0xbd00_0000n + BigInt(index)
  return {
    buyer: random.below(buyerCount),
    api: random.below(workerCount),
    to: `0x${number.toString(16).padStart(40, 'c')}`,
    amountAtomic: BigInt(1 + index),
    waitMs: random.between(0, 500),
    deliveries: random.oneIn(3) ? random.between(2, 3) : 1,
    validSeconds: random.oneIn(4) ? random.between(8, 14) : 3_600,
    hangUpMs: random.oneIn(3) ? random.between(50, 600) : 2_500,
    ...(random.oneIn(5) && { byHandAfterMs: random.between(0, 1_500) }),
  }
}

function faultsOf(random: SeededRandom, lastMs: number, point: Failpoint): ScheduledFault[] {
  const at = () => random.between(100, lastMs + 1_500)
  const faults: ScheduledFault[] = []
  for (let count = random.between(point === 'during-block-rollback' ? 2 : 0, 3); count > 0; count--)
    faults.push({ kind: 'reorg', atMs: at(), depth: random.between(1, 3) })
  for (let count = random.below(3); count > 0; count--) faults.push({ kind: 'wipe', atMs: at() })
  if (random.oneIn(3)) faults.push({ kind: 'kill', atMs: at(), worker: random.below(workerCount) })
  if (random.oneIn(12)) faults.push({ kind: 'freeze', atMs: at(), worker: random.below(workerCount) })
  for (let count = random.below(4); count > 0; count--) {
    const kind = (['answers-lost', 'submissions-lost', 'pool-forgotten'] as const)[random.below(3)]!
    faults.push({ kind, atMs: at(), forMs: random.between(100, 1_500) })
  }
  // About the life of a transaction: some expire, others are included just before.
  for (let count = random.below(3); count > 0; count--)
    faults.push({ kind: 'clock', atMs: at(), byMs: random.between(300_000, 650_000) })
  if (random.oneIn(2)) faults.push({ kind: 'blocks', atMs: at(), count: random.between(60, 190) })
  return faults.sort((one, other) => one.atMs - other.atMs)
}
