import { requireSource, type SourceFields } from '#api/source'
import { type Blockchain, environmentOf, familyOf, isVirtual } from '#chains/blockchains'
import {
  type EntitySecret,
  findWalletAnywhere,
  findWalletByAddress,
  signDigest,
  type Wallet,
} from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { ApiError, invalid } from '#lib/errors'
import { hexOf } from '#lib/hex'
import { recordChanges } from '#runtime/record/store'

export type SignerFields = SourceFields & { memo?: string }

/** The wallet that signs. Under EVM and EVM-TESTNET, an address that is known on any blockchain is known there as well. */
export async function requireSigner(ctx: Ctx, fields: SignerFields): Promise<Wallet> {
  const blockchain = fields.blockchain as Blockchain | undefined
  if (blockchain !== undefined && familyOf(blockchain) !== 'evm')
    throw invalid(
      'blockchain',
      'has no wallets here that sign',
      blockchain,
      'blockchainUnsupportedForOperation',
    )
  if (blockchain !== undefined && environmentOf(blockchain) !== ctx.entity.environment)
    throw new ApiError('keyOnOtherEnvironment')
  return requireSource(ctx, fields, findSigner)
}

const findSigner: typeof findWalletByAddress = async (db, entityId, blockchain, address) => {
  const wallet = await findWalletByAddress(db, entityId, blockchain, address)
  if (wallet || !isVirtual(blockchain as Blockchain)) return wallet
  const known = await findWalletAnywhere(db, entityId, address)
  return known && { ...known, blockchain }
}

export type Signing = {
  /** What is signed, as the audit calls it. */
  what: 'message' | 'typedData' | 'transaction'
  digest: Buffer
  memo: string | undefined
}

/** The one place where a key is opened for somebody who then holds the signature; each is in the audit. */
export async function sign(ctx: Ctx, secret: EntitySecret, wallet: Wallet, { what, digest, memo }: Signing) {
  const signature = await signDigest(ctx, secret, wallet.keyId, digest)
  const { actor, requestId } = ctx
  const data = { what, digest: hexOf(digest), blockchain: wallet.blockchain, ...(memo && { memo }) }
  await recordChanges(ctx.db, ctx.receivedMs, [
    { entityId: ctx.entity.id, actor, requestId, type: 'wallet.signed', resourceId: wallet.id, data },
  ])
  return signature
}
