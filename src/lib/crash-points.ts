/**
 * Points between two steps at which tests can make a process die or freeze. A point is armed once at boot, by the
 * environment or by a separate test process, never by a request. Unarmed, a point costs one comparison.
 */

/**
 * All points by their number in the list of 24, followed by those of the treasury. Missing are points in parts that do
 * not exist yet, and P5: a policy decision commits with its request.
 */
export const crashPoints = {
  P1: 'before an accepted request commits',
  P2: 'after an accepted request has committed, before its answer',
  P3: 'before a payout or transfer is screened',
  P4: 'after it was screened, before that is stored',
  P6: 'after signed bytes were leased to be sent',
  P7: 'before nonce and attempt commit',
  P8: 'after nonce and attempt have committed',
  P9: 'after the entry in the signing ledger, before the signature',
  P10: 'after the signature, before the raw bytes are stored',
  P11: 'after the raw bytes were stored, before that commits',
  P12: 'after the journal reached the disk, before sending',
  P13: 'after the request to send was written, before the answer is read',
  P14: 'after the answer was read, before it is stored',
  P15: 'after receipts and logs of a block were read, before they are stored',
  P16: 'before the postings of a block commit',
  P17: 'after the postings of a block have committed',
  P18: 'after a replacement was signed and stored, before sending',
  P19: 'after a replacement was sent, before that is recorded',
  P20: 'after a cancel was mined, before that is recorded',
  P21: 'after a notification was answered, before that is recorded',
  P22: 'after a block was processed, before the cursor moves on',
  P23: 'midway through taking back a block',
  P25: 'before the transaction of a payout, transfer or sweep commits',
  P26: 'after the transaction of a payout, transfer or sweep has committed',
  P27: 'before the end of a payout or transfer commits',
  P28: 'after the end of a payout or transfer has committed',
} as const

export type CrashPoint = keyof typeof crashPoints

/** `kill` ends the process as `kill -9` does; `stop` freezes it until it receives SIGCONT. */
export type CrashAction = 'kill' | 'stop'

/** The process acts at the `hit`-th time (from 1) that it reaches the point. */
export type CrashPlan = { point: CrashPoint; hit: number; action: CrashAction }

let armed: (CrashPlan & { reached: number }) | undefined

/** Marks the point in the code that contains it. Does nothing unless this point is armed. */
export function reachPoint(point: CrashPoint): void {
  if (armed?.point !== point) return
  armed.reached += 1
  if (armed.reached === armed.hit) process.kill(process.pid, armed.action === 'kill' ? 'SIGKILL' : 'SIGSTOP')
}

/** Arms one point of this process in place of the previous one; `undefined` disarms. */
export function armCrashPoint(plan: CrashPlan | undefined): void {
  armed = plan && { ...plan, reached: 0 }
}

export const isCrashPoint = (text: string): text is CrashPoint => Object.hasOwn(crashPoints, text)

/** Parses "P8", "P8:3" or "P8:3:stop"; returns undefined for other text. */
export function parseCrashPlan(text: string): CrashPlan | undefined {
  const [, point, hit = '1', action = 'kill'] =
    /^(P\d{1,2})(?::([1-9]\d{0,5}))?(?::(kill|stop))?$/.exec(text) ?? []
  if (point === undefined || !isCrashPoint(point)) return undefined
  return { point, hit: Number(hit), action: action as CrashAction }
}
