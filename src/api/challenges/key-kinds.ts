import {
  makeWallets,
  planWallets,
  requireAccountContracts,
  type WalletPlan,
} from '#api/wallets/create-wallets'
import { type Blockchain, environmentOf } from '#chains/blockchains'
import { capabilitiesOf } from '#chains/capabilities'
import type { UserKey } from '#custody/index'
import type { WalletMetadata } from '#custody/wallets/index'
import type { Ctx } from '#engines/ctx'
import { opensByLogin } from '#identity/command-logins/index'
import { logsIn } from '#identity/index'
import { type UserKeyState, userKeyStateOf } from '#identity/user-keys/index'
import { ApiError, invalid } from '#lib/errors'
import { details } from './summarize.ts'
import type { ChallengeKind, ChallengeOutcome, Summary } from './types.ts'

type NewWallets = {
  blockchains: string[]
  accountType?: 'EOA' | 'SCA'
  /** One for each of `blockchains`. */
  metadata?: WalletMetadata[]
}

/**
 * `logsIn` says that the user was made by a login, and so approves on a device and never with a PIN; `opensByLogin`, that each login
 * lets its device approve.
 */
export type ApproverState = UserKeyState & { logsIn: boolean; opensByLogin: boolean }

/** The keys and locks of the user of this request. */
export async function keyStateOf(ctx: Ctx): Promise<ApproverState> {
  const { db, entity, user, clock } = ctx
  const state = await userKeyStateOf(db, { entityId: entity.id, userId: user!.id }, clock.nowMs())
  return {
    ...state,
    logsIn: await logsIn(db, entity.id, user!.userId),
    opensByLogin: await opensByLogin(ctx, user!.userId),
  }
}

export const approvesOnDevice = () =>
  new ApiError('deviceUnknown', 'This user approves on a device: let the user log in there.')

/** Refuses PINs of users who log in by e-mail or a social provider: their key opens with their device. */
async function requirePinUser(ctx: Ctx): Promise<UserKeyState> {
  const state = await keyStateOf(ctx)
  if (state.logsIn)
    throw new ApiError('challengeInvalid', 'Users who log in by e-mail or a social provider have no PIN.')
  return state
}

async function requirePin(ctx: Ctx): Promise<UserKeyState> {
  const state = await requirePinUser(ctx)
  if (!state.opensWith) throw new ApiError('pinMissing')
  return state
}

const nothing: Summary = { details: [], warnings: [] }

export const setPinChallenge: ChallengeKind<object> = {
  type: 'SET_PIN',
  approval: 'setPin',
  check: async (ctx) => {
    const { opensWith } = await requirePinUser(ctx)
    if (opensWith) throw new ApiError('pinSet')
    return nothing
  },
  execute: async () => ({ correlationIds: [] }),
}

export const changePinChallenge: ChallengeKind<object> = {
  type: 'CHANGE_PIN',
  approval: 'changePin',
  check: async (ctx) => {
    await requirePin(ctx)
    return nothing
  },
  execute: async () => ({ correlationIds: [] }),
}

export const restorePinChallenge: ChallengeKind<object> = {
  type: 'RESTORE_PIN',
  approval: 'restorePin',
  check: async (ctx) => {
    const { questions } = await requirePin(ctx)
    if (questions.length === 0) throw new ApiError('questionsMissing')
    return nothing
  },
  execute: async () => ({ correlationIds: [] }),
}

/** Sets up a user: the first PIN, or device, and with it the first wallets. */
export const initializeChallenge: ChallengeKind<Partial<NewWallets>> = {
  type: 'INITIALIZE',
  approval: 'initialize',
  narrow: ownChainsOf,
  check: async (ctx, request) => {
    const { opensWith, logsIn } = await keyStateOf(ctx)
    if (opensWith) throw new ApiError('userInitialized')
    if (logsIn && ctx.user!.deviceId === undefined) throw approvesOnDevice()
    if (request.metadata) requireMetadataFor(request.blockchains ?? [], request.metadata)
    return request.blockchains?.length ? checkWallets(ctx, request as NewWallets) : nothing
  },
  execute: async (ctx, request, key, walletSetId) =>
    request.blockchains?.length
      ? makeWalletsOf(ctx, request as NewWallets, key, walletSetId)
      : { correlationIds: [] },
}

const noDevice =
  'The user has not approved on a device yet: make the first wallets with POST /v1/w3s/user/initialize.'

export const createWalletChallenge: ChallengeKind<NewWallets> = {
  type: 'CREATE_WALLET',
  approval: 'open',
  narrow: ownChainsOf,
  check: async (ctx, request) => {
    const state = await keyStateOf(ctx)
    if (!state.opensWith) throw new ApiError('pinMissing', state.logsIn ? noDevice : undefined)
    return checkWallets(ctx, request)
  },
  execute: makeWalletsOf,
}

/** A command-line tool asks for smart accounts on all networks that it knows: its users get those of this server. */
async function ownChainsOf<Request extends Partial<NewWallets>>(
  ctx: Ctx,
  request: Request,
): Promise<Request> {
  const { blockchains = [], accountType, metadata } = request
  if (accountType !== 'SCA' || blockchains.length < 2 || !(await opensByLogin(ctx, ctx.user!.userId)))
    return request
  const isOwn = (name: string) =>
    environmentOf(name as Blockchain) === ctx.entity.environment && ctx.chains.find(name) !== undefined
  const own = blockchains.filter(isOwn)
  if (own.length === 0 || metadata?.length !== (metadata && blockchains.length)) return request
  const kept = metadata?.filter((_, index) => isOwn(blockchains[index]!))
  return { ...request, blockchains: own, ...(kept && { metadata: kept }) }
}

async function checkWallets(ctx: Ctx, request: NewWallets): Promise<Summary> {
  const { blockchains, accountType } = request
  if (accountType === 'SCA' && blockchains.length > 1 && !(await opensByLogin(ctx, ctx.user!.userId)))
    throw invalid({
      at: 'blockchains',
      reason: 'may name one blockchain for accountType SCA: make a request for each',
      value: blockchains,
      kind: 'smartAccountsOnSeveralChains',
      error: 'length_outside_bounds',
    })
  planUserWallets(ctx, request)
  if (accountType === 'SCA') await requireAccountContracts(ctx, blockchains)
  return {
    details: details(
      ['blockchains', 'Networks', blockchains.join(', ')],
      ['accountType', 'Account', accountType === 'SCA' ? 'Smart account' : undefined],
    ),
    warnings: [],
  }
}

function planUserWallets(ctx: Ctx, request: NewWallets): WalletPlan {
  const { blockchains, metadata } = request
  if (metadata) requireMetadataFor(blockchains, metadata)
  for (const [index, name] of blockchains.entries())
    if (!capabilitiesOf(name as Blockchain).userWallets)
      throw invalid({
        at: `blockchains[${index}]`,
        reason: 'has no wallets of users: create them with POST /v1/w3s/developer/wallets',
        value: name,
        kind: 'blockchainUnsupportedForOperation',
      })
  return planWallets(ctx, request as Parameters<typeof planWallets>[1])
}

function requireMetadataFor(blockchains: readonly string[], metadata: readonly WalletMetadata[]): void {
  if (metadata.length === blockchains.length) return
  const reason = `has ${metadata.length} items, but blockchains has ${blockchains.length}`
  throw invalid({ at: 'metadata', reason, kind: 'userMetadataCountDiffers', error: 'length_outside_bounds' })
}

async function makeWalletsOf(
  ctx: Ctx,
  request: NewWallets,
  key: UserKey,
  walletSetId: string,
): Promise<ChallengeOutcome> {
  const metadataOf = (chain: number) => request.metadata?.[chain]
  const plan = planUserWallets(ctx, request)
  const wallets = await makeWallets(ctx, key, plan, { walletSetId, count: 1, metadataOf })
  return { correlationIds: wallets.map(({ id }) => id) }
}
