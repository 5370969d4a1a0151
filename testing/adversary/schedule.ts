import { type Failpoint, type FailpointAction, type FailpointPlan, failpoints } from '#lib/failpoints'
import { type Dice, diceOf } from './dice.ts'

/** The request of one customer. */
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

/** A fault of a machine or of the chain, `atMs` milliseconds after the start. */
export type Fault =
  | { kind: 'reorg'; atMs: number; depth: number }
  | { kind: 'wipe'; atMs: number }
  | { kind: 'kill'; atMs: number; worker: number }
  | { kind: 'freeze'; atMs: number; worker: number }

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
  faults: Fault[]
}

/** Failpoints that only an accelerated or cancelled transaction reaches. */
const replacing: readonly Failpoint[] = [
  'before-replacement-send',
  'before-replacement-record',
  'before-cancel-record',
]

/** Failpoints of notifications, payouts, transfers and sweeps; a run makes none of them. */
const foreignPoints: readonly Failpoint[] = [
  'before-screening',
  'before-screening-record',
  'before-delivery-record',
  'before-treasury-commit',
  'after-treasury-commit',
  'before-settlement-commit',
  'after-settlement-commit',
]

export const walletCount = 3
export const workerCount = 2

/** The failpoints that a run can reach; some need a requested replacement, some an orphaned block. */
export const matrixPoints = (Object.keys(failpoints) as Failpoint[]).filter(
  (point) => !foreignPoints.includes(point),
)

/** The whole schedule of a run, derived from its seed and its point. */
export function scheduleOf(seed: number, point: Failpoint, chosen?: FailpointAction): Schedule {
  const dice = diceOf(seed)
  const count = dice.between(20, 40)
  const replaces = replacing.includes(point)
  const transfers = Array.from({ length: count }, (_, index) => transferOf(dice, seed, index, point))
  const rolled: FailpointAction = dice.oneIn(5) ? 'stop' : 'kill'
  const action = chosen ?? rolled
  const plans = Array.from({ length: workerCount }, (_, worker) =>
    // Usually both workers are armed; sometimes one has no plan.
    worker > 0 && dice.oneIn(4) ? undefined : { point, hit: hitOf(dice, point), action },
  )
  const blockTimeMs = blockTimeOf(dice, replaces)
  const lastMs = transfers.reduce((sum, { waitMs }) => sum + waitMs, 0)
  const restartMs = dice.between(0, 400)
  const faults = faultsOf(dice, Math.max(lastMs, 500), point)
  return { seed, point, plans, restartMs, blockTimeMs, transfers, faults }
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
function hitOf(dice: Dice, point: Failpoint): number {
  return frequent.includes(point) ? dice.between(1, 8) : dice.between(1, 2)
}

/** Chooses a block time: with instant mining there is nothing to replace, and a wiped pool is empty. */
function blockTimeOf(dice: Dice, replaces: boolean): number | undefined {
  if (replaces) return dice.between(600, 1_000)
  return dice.oneIn(3) ? undefined : dice.between(150, 500)
}

function transferOf(dice: Dice, seed: number, index: number, point: Failpoint): PlannedTransfer {
  const replaces = replacing.includes(point)
  const flawed = dice.roll(20)
  const coin = dice.oneIn(5) ? ('native' as const) : ('USDC' as const)
  const made: PlannedTransfer = {
    wallet: dice.roll(walletCount),
    api: dice.roll(workerCount),
    to: `0x${((BigInt(seed >>> 0) << 32n) + 0xad00_0000n + BigInt(index)).toString(16).padStart(40, 'c')}`,
    amountAtomic: BigInt(1 + index),
    coin,
    flaw: coin === 'native' ? 'none' : flawed === 0 ? 'little-gas' : flawed === 1 ? 'low-price' : 'none',
    waitMs: dice.oneIn(2) ? dice.between(0, 200) : 0,
  }
  const asked = dice.oneIn(replaces ? 2 : 6)
  const verb =
    dice.oneIn(2) || point === 'before-cancel-record' ? ('cancel' as const) : ('accelerate' as const)
  const afterMs = dice.between(0, 300)
  return asked ? { ...made, later: { verb, afterMs } } : made
}

function faultsOf(dice: Dice, lastMs: number, point: Failpoint): Fault[] {
  const at = () => dice.between(100, lastMs + 1_500)
  const faults: Fault[] = []
  for (let count = dice.between(point === 'during-block-rollback' ? 2 : 0, 3); count > 0; count--)
    faults.push({ kind: 'reorg', atMs: at(), depth: dice.between(1, 3) })
  for (let count = dice.roll(3); count > 0; count--) faults.push({ kind: 'wipe', atMs: at() })
  if (dice.oneIn(3)) faults.push({ kind: 'kill', atMs: at(), worker: dice.roll(workerCount) })
  if (dice.oneIn(12)) faults.push({ kind: 'freeze', atMs: at(), worker: dice.roll(workerCount) })
  return faults.sort((one, other) => one.atMs - other.atMs)
}
