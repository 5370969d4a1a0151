import type { Address } from '#chains/addresses/types'
import type { Chain } from '#chains/chain'
import type { Call } from '#chains/facets/payments'
import type { EntityCtx } from '#engines/ctx'
import { nativeTokenId } from '#engines/ledger/tokens/index'
import { submitFromTreasury } from '#engines/transactions/index'
import type { TreasuryRow } from './store/treasuries.ts'
import { signatoryOf } from './treasuries.ts'

/** A call of a contract; `id` is that of its transaction. */
export type TreasuryCall = {
  id: string
  refId: string
  call: Call & { to: Address }
  /** Estimated when it is signed where absent. */
  gasMax?: bigint | undefined
}

/** Submits a call of a treasury in `ctx.db`'s tx. */
export async function submitTreasuryCall(
  ctx: EntityCtx,
  chain: Chain,
  treasury: TreasuryRow,
  { id, refId, call, gasMax }: TreasuryCall,
): Promise<void> {
  const { address } = treasury
  const tokenId = nativeTokenId(treasury.blockchain)
  await submitFromTreasury(ctx, {
    id,
    chain,
    call,
    fee: { gasLimit: gasMax },
    refId,
    shown: {
      operation: 'CONTRACT_EXECUTION',
      contractAddress: call.to,
      abiFunctionSignature: undefined,
      abiParameters: undefined,
      amountText: undefined,
    },
    signatory: signatoryOf(treasury),
    token: { tokenId, address, amountAtomic: call.valueAtomic, purpose: 'gas' },
    // Allowances and mints of rebalancings, deliveries, bundles, contracts and deposits for gas: no coins of customers leave.
    policy: 'exempt',
  })
}
