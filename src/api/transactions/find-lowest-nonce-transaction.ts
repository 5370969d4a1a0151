import { answered, feeTable } from '#api/fees/estimate'
import { requireChain } from '#api/sources/connected-chain'
import { walletUnknown } from '#api/sources/source'
import { canonicalAddress } from '#chains/addresses/canonical'
import { networkFeeOf } from '#chains/prices'
import { findWallet, findWalletByAddress } from '#custody/wallets/index'
import type { Ctx } from '#engines/ctx'
import { feeAt, lowestNonceTransaction, suggestedFees } from '#engines/transactions/index'
import { formatAmount } from '#lib/amounts'
import { invalid } from '#lib/errors'
import { answer } from '#runtime/http/endpoint'
import { readableBy } from '#runtime/row-owner'
import { showTransaction } from './schema.ts'

type LowestNonceQuery = { walletId?: string; address?: string; blockchain?: string }

/** The unmined signed transaction with the lowest nonce, and its current cost at the fee level HIGH. */
export async function findLowestNonceTransaction(ctx: Ctx, query: LowestNonceQuery) {
  const wallet = await requireWallet(ctx, query)
  const chain = requireChain(ctx, wallet.blockchain)
  const row = await lowestNonceTransaction(ctx.db, ctx.entity.id, wallet.blockchain, wallet.address)
  if (!row?.estimatedFee) return answer(204, undefined)
  const gasLimit = BigInt(row.estimatedFee.gasLimit)
  const { high } = await feeTable(ctx, chain, { gas: gasLimit })
  const costAt = (maxFeeAtomic: bigint) =>
    networkFeeOf(chain.network.blockchain, { gasLimit, priceAtomic: maxFeeAtomic })
  const offered = costAt(BigInt(row.estimatedFee.maxFee))
  const asked = costAt(feeAt(await answered(ctx, chain, suggestedFees(chain)), 'HIGH').maxFeeAtomic)
  const differenceAtomic = asked > offered ? asked - offered : 0n
  return {
    transaction: showTransaction(row),
    feeInfo: {
      newHighEstimatedFee: high,
      feeDifferenceAmount: formatAmount(differenceAtomic, chain.network.nativeToken.decimals),
    },
  }
}

async function requireWallet(ctx: Ctx, { walletId, address, blockchain }: LowestNonceQuery) {
  if (walletId === undefined && (address === undefined || blockchain === undefined))
    throw invalid({
      at: 'walletId',
      reason: 'is missing: send it, or address with blockchain',
      error: 'required',
    })
  if (walletId !== undefined && address !== undefined)
    throw invalid({
      at: 'address',
      reason: 'cannot be combined with walletId',
      value: address,
      kind: 'walletIdWithSourceAddress',
      error: 'not_required',
    })
  const wallet =
    walletId !== undefined
      ? await findWallet(ctx.db, readableBy(ctx), walletId)
      : await findWalletByAddress(ctx.db, readableBy(ctx), blockchain!, canonicalAddress(address!))
  if (!wallet) throw walletUnknown({ walletId, address })
  return wallet
}
