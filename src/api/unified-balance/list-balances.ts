import type { Ctx } from '#engines/ctx'
import { availableOf, tokenSymbol } from '#engines/unified-balance/index'
import { formatAmount } from '#lib/amounts'
import { askedHolders, type Sources } from './sources.ts'

export async function listUnifiedBalances(ctx: Ctx, body: Sources) {
  const asked = askedHolders(ctx, body)
  const rows = await availableOf(
    ctx.db,
    asked.map(({ unified, depositor }) => ({ blockchain: unified.blockchain, depositor })),
  )
  const keyOf = (blockchain: string, depositor: string) => `${blockchain} ${depositor}`
  const available = new Map(rows.map((row) => [keyOf(row.blockchain, row.depositor), row.availableAtomic]))
  const balances = asked.map(({ unified: { domain, blockchain, decimals }, shown, depositor }) => ({
    domain,
    depositor: shown,
    balance: formatAmount(available.get(keyOf(blockchain, depositor)) ?? 0n, decimals),
  }))
  return { token: tokenSymbol, balances }
}
