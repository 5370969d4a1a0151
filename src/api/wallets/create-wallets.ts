import type { Static } from 'typebox'
import type { SandboxCtx } from '#api/sandbox-ctx'
import type { Address } from '#chains/addresses/types'
import type { Blockchain } from '#chains/blockchains'
import { capabilitiesOf } from '#chains/capabilities'
import { smartAccountOf } from '#chains/signing'
import { type EntitySecret, type KeyOpener, openSecretOf, spendCiphertext } from '#custody/index'
import {
  type CreateWalletsInput,
  createWallets,
  type SmartAccountKind,
  type Wallet,
} from '#custody/wallets/index'
import type { Ctx } from '#engines/ctx'
import { accountTrouble, findSponsor } from '#engines/transactions/operations/index'
import { requireSponsor } from '#engines/treasury/bundling/index'
import { ApiError, invalid } from '#lib/errors'
import type { createWalletsBody } from './schema.ts'
import { requireWalletChain } from './wallet-chain.ts'

type CreateWalletsBody = Static<typeof createWalletsBody>

/** Creates `count` wallets on each chain; the wallets of one index share their address. */
export async function createWalletsOf(
  ctx: Ctx,
  { body }: { body: CreateWalletsBody },
  secret: EntitySecret,
): Promise<Wallet[]> {
  await spendCiphertext(ctx, secret)
  const { walletSetId, count = 1, metadata } = body
  const plan = planWallets(ctx, body)
  if (metadata && metadata.length !== count) {
    const reason = `has ${metadata.length} items, but count is ${count}`
    throw invalid({ at: 'metadata', reason, kind: 'metadataCountDiffers', error: 'length_outside_bounds' })
  }
  const metadataOf = (_: number, wallet: number) => metadata?.[wallet]
  return makeWallets(ctx, secret, plan, { walletSetId, count, metadataOf })
}

export type WalletPlan = { chains: ReturnType<typeof requireWalletChain>[]; smartAccount?: SmartAccountKind }

/** Checks the chains of new wallets. */
export function planWallets(
  ctx: Ctx,
  body: Pick<CreateWalletsBody, 'blockchains' | 'accountType'>,
): WalletPlan {
  const smartAccount = body.accountType === 'SCA' && requireSmartAccounts(ctx, body)
  const chains = body.blockchains.map((name, index) => requireWalletChain(ctx, name, `blockchains[${index}]`))
  return { chains, ...(smartAccount && { smartAccount }) }
}

/** Creates the planned wallets with the keys of their owner. Where it can, the treasury of the entity pays for them. */
export async function makeWallets(
  ctx: Ctx,
  opener: KeyOpener,
  { chains, smartAccount }: WalletPlan,
  rest: Pick<CreateWalletsInput, 'walletSetId' | 'count' | 'metadataOf'>,
): Promise<Wallet[]> {
  const wallets = await createWallets(ctx, opener, { ...rest, chains, smartAccount })
  const names = chains.map(({ blockchain }) => blockchain as Blockchain)
  await sponsorAll(ctx, smartAccount ? names : names.filter((name) => capabilitiesOf(name).feePayers))
  return wallets
}

/** Throws where the contracts of smart accounts cannot be relied on. A node that is away refuses no wallet. */
export async function requireAccountContracts(ctx: Ctx, blockchains: readonly string[]): Promise<void> {
  for (const blockchain of blockchains) {
    const chain = ctx.chains.find(blockchain)
    const trouble = chain && (await accountTrouble(ctx, chain, 'developer').catch(() => undefined))
    if (trouble !== undefined) throw new ApiError('accountContractsUnknown')
  }
}

/** Opens the entity secret, and looks at the chains of smart accounts, which holds no database transaction. */
export async function prepareWallets(ctx: Ctx, input: { body: CreateWalletsBody }): Promise<EntitySecret> {
  const secret = await openSecretOf(ctx, input)
  if (input.body.accountType === 'SCA') await requireAccountContracts(ctx, input.body.blockchains)
  return secret
}

/** Lets the treasury of the entity pay for its wallets: the gas of smart accounts, or fees where it can pay these. */
export async function sponsorAll(ctx: SandboxCtx, blockchains: readonly Blockchain[]): Promise<void> {
  for (const blockchain of blockchains) {
    const chain = ctx.chains.find(blockchain)
    if (!chain) continue
    const isNew = (await findSponsor(ctx.db, ctx.entity.id, blockchain)) === undefined
    const { address } = await requireSponsor(ctx, ctx.entity.id, chain)
    if (isNew && capabilitiesOf(chain.network.blockchain).feePayers) giveFirstCoins(ctx, blockchain, address)
  }
}

/** The faucet of a sandbox funds a new treasury, so that wallets without native coins can pay from the start. */
function giveFirstCoins(
  { faucet, log, afterCommit }: SandboxCtx,
  blockchain: Blockchain,
  address: string,
): void {
  if (!faucet) return
  afterCommit.push(() =>
    faucet
      .drip(blockchain, address as Address, { native: true, tokens: [] })
      .catch((err: unknown) => log.warn({ err, blockchain, address }, 'the faucet did not fund a treasury')),
  )
}

function requireSmartAccounts(
  { config }: Ctx,
  { blockchains }: Pick<CreateWalletsBody, 'blockchains'>,
): SmartAccountKind {
  const index = blockchains.findIndex((name) => !capabilitiesOf(name).smartAccounts)
  const core = config.scaCore
  if (index < 0) return { core, addressOf: (owner) => smartAccountOf(owner as Address, core) }
  throw invalid({
    at: `blockchains[${index}]`,
    reason: 'has no smart contract accounts: use accountType EOA',
    value: blockchains[index],
    kind: 'smartAccountUnavailable',
  })
}
