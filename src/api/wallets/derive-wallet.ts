import type { Static } from 'typebox'
import { walletUnknown } from '#api/sources/source'
import { canonicalAddress } from '#chains/addresses/canonical'
import type { Blockchain } from '#chains/blockchains'
import { capabilitiesOf } from '#chains/capabilities'
import { deriveWallet, findWalletByAddress, requireWallet, type Wallet } from '#custody/wallets/index'
import type { Ctx } from '#engines/ctx'
import { ApiError, invalid } from '#lib/errors'
import { answer } from '#runtime/http/endpoint'
import { usableBy } from '#runtime/row-owner'
import { requireAccountContracts, sponsorAll } from './create-wallets.ts'
import { type deriveBody, type deriveByAddressBody, type deriveParams, showWallet } from './schema.ts'
import { requireWalletChain } from './wallet-chain.ts'

type DeriveWalletBody = Static<typeof deriveBody>
type ByIdInput = { params: Static<typeof deriveParams>; body: DeriveWalletBody }
type ByAddressInput = { body: Static<typeof deriveByAddressBody> }

/** Looks at the chain that the account of a wallet is derived on, outside any database transaction. */
export async function prepareById(ctx: Ctx, { params }: ByIdInput): Promise<undefined> {
  await requireChainFor(ctx, await requireWallet(ctx, params.id, usableBy(ctx)), params.blockchain)
}

export async function prepareByAddress(ctx: Ctx, { body }: ByAddressInput): Promise<undefined> {
  await requireChainFor(ctx, await sourceOf(ctx, body), body.targetBlockchain)
}

async function requireChainFor(ctx: Ctx, { accountType }: Wallet, blockchain: Blockchain): Promise<void> {
  if (accountType === 'SCA') await requireAccountContracts(ctx, [blockchain])
}

/** Derives the same address on another EVM chain, from the wallet's id. */
export async function deriveById(ctx: Ctx, { params, body }: ByIdInput) {
  const source = await requireWallet(ctx, params.id, usableBy(ctx))
  return derive(ctx, { source, at: 'id' }, { target: params.blockchain, at: 'blockchain' }, body)
}

/** The same from an address that the entity has on another chain. */
export async function deriveByAddress(ctx: Ctx, { body }: ByAddressInput) {
  return derive(
    ctx,
    { source: await sourceOf(ctx, body), at: 'sourceBlockchain' },
    { target: body.targetBlockchain, at: 'targetBlockchain' },
    body,
  )
}

async function sourceOf(
  ctx: Ctx,
  { sourceBlockchain, walletAddress }: ByAddressInput['body'],
): Promise<Wallet> {
  const address = canonicalAddress(walletAddress)
  const source = await findWalletByAddress(ctx.db, usableBy(ctx), sourceBlockchain, address)
  if (!source) throw walletUnknown({ walletAddress })
  return source
}

/** 201 with a new wallet, 200 with the existing one, its metadata replaced by the given one. */
async function derive(
  ctx: Ctx,
  { source, at }: { source: Wallet; at: string },
  { target, at: field }: { target: Blockchain; at: string },
  { metadata }: DeriveWalletBody,
) {
  if (!capabilitiesOf(source.blockchain as Blockchain).derive)
    throw invalid({
      at,
      reason: 'has no addresses that another blockchain shares: create a wallet there',
      value: source.blockchain,
      kind: 'blockchainUnsupportedForOperation',
    })
  if (!capabilitiesOf(target).derive) {
    const reason = 'cannot share the address of another wallet: use an EVM blockchain'
    throw invalid({ at: field, reason, value: target, kind: 'blockchainUnsupportedForOperation' })
  }
  const chain = requireWalletChain(ctx, target, field)
  if (source.state === 'FROZEN') throw new ApiError('walletFrozen')
  if (source.accountType === 'SCA' && !capabilitiesOf(target).smartAccounts) {
    const reason = 'has no smart contract accounts: derive the wallet on another blockchain'
    throw invalid({ at: field, reason, value: target, kind: 'smartAccountUnavailable' })
  }
  const { made, wallet } = await deriveWallet(ctx, source, chain, metadata)
  if (wallet.accountType === 'SCA') await sponsorAll(ctx, [target])
  return answer(made ? 201 : 200, { wallet: showWallet(wallet) })
}
