import type { UserKey } from '#custody/index'
import type { Ctx } from '#engines/ctx'

/** The kinds of challenges that an app can make, with the last part of their `challenges.*` notifications. */
export const challengeTypes = {
  INITIALIZE: 'initialize',
  SET_PIN: 'setPin',
  CHANGE_PIN: 'changePin',
  RESTORE_PIN: 'restorePin',
  CREATE_WALLET: 'createWallet',
  CREATE_TRANSACTION: 'createTransaction',
  CONTRACT_EXECUTION: 'contractExecution',
  WALLET_UPGRADE: undefined,
  ACCELERATE_TRANSACTION: 'accelerateTransaction',
  CANCEL_TRANSACTION: 'cancelTransaction',
  SIGN_MESSAGE: undefined,
  SIGN_TYPEDDATA: undefined,
  SIGN_TRANSACTION: undefined,
} as const

export type ChallengeType = keyof typeof challengeTypes

/** One line of what the user approves. `name` is for programs and translations. */
export type SummaryLine = { name: string; label: string; value: string }

/** The description of a request that a user is shown before the PIN is asked: plain text that others may have chosen. */
export type Summary = { details: SummaryLine[]; warnings: { name: string; text: string }[] }

/** A summary, with the limit of the fee that it shows, in base units: the approval is good for no more. */
export type PricedSummary = Summary & { feeMax?: string }

/** The limit of the fee beside the request of a challenge. */
type WithFeeMax<Request> = Request & { feeMax?: string }

/** The resources that came of an approved challenge, and the `result` that the page alone gets. */
export type ChallengeOutcome = { correlationIds: string[]; result?: object }

/** The rules of one kind of challenge. */
export type ChallengeKind<Request extends object> = {
  type: ChallengeType
  /** How the user approves it: by a change of what opens the key, or by opening it. */
  approval: 'initialize' | 'setPin' | 'changePin' | 'restorePin' | 'open'
  /** The part of the request that this server can carry out, where an app asks for more; outside of a `tx`. */
  narrow?: (ctx: Ctx, request: Request) => Promise<Request>
  /** Checks and describes the request, outside of a `tx`. Throws the documented error of one that cannot be carried out. */
  check: (ctx: Ctx, request: Request) => Promise<PricedSummary>
  /** Asks the chain what the approval depends on, outside of a `tx` and before a guess is counted. */
  ready?: (ctx: Ctx, request: Request) => Promise<void>
  /** Carries the request out, in the `tx` of the approval, where no node may be waited for. `walletSetId` is the wallet set of the user. */
  execute: (
    ctx: Ctx,
    request: WithFeeMax<Request>,
    key: UserKey,
    walletSetId: string,
  ) => Promise<ChallengeOutcome>
}
