import type { Ctx } from '#engines/ctx'
import { currencyDecimals } from '#engines/ledger/index'
import { readOverview } from '#engines/movements/index'
import { formatAmount } from '#lib/amounts'

export async function getOverview(ctx: Ctx, currency: string | undefined) {
  const { balances, proof, needs, webhooks } = await readOverview(ctx, ctx.entity)
  const { comparedDate, ...compared } = proof
  const { delivered, firstTry, p50Ms, p99Ms } = webhooks
  return {
    balances: balances
      .filter((balance) => currency === undefined || balance.currency === currency)
      .map(({ amountAtomic, heldAtomic, byBlockchain, ...balance }) => ({
        ...balance,
        amount: shown(amountAtomic),
        held: shown(heldAtomic),
        byBlockchain: byBlockchain.map((each) => ({
          blockchain: each.blockchain,
          amount: shown(each.amountAtomic),
        })),
      })),
    proof: { ...compared, ...(comparedDate !== undefined && { comparedDate }) },
    needs,
    webhooks: {
      delivered,
      ...(delivered > 0 && { firstTryShare: firstTry / delivered }),
      ...(p50Ms !== null && { p50Ms }),
      ...(p99Ms !== null && { p99Ms }),
    },
  }
}

const shown = (atomic: bigint): string => formatAmount(atomic, currencyDecimals)
