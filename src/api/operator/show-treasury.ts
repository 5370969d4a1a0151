import { showMoney } from '#api/business/money'
import { showWaitingFor } from '#api/business/waiting-for'
import type { Ctx } from '#engines/ctx'
import { type HeldDisbursement, heldDisbursements } from '#engines/treasury/disbursements/index'
import { type TreasuryState, type TreasuryToken, treasuryStates } from '#engines/treasury/index'
import { formatAmount } from '#lib/amounts'
import { waitingMax } from './treasury-schema.ts'

export async function showTreasury(ctx: Ctx) {
  const states = await treasuryStates(ctx, ctx.entity.id)
  const waiting = await heldDisbursements(ctx.db, ctx.entity.id, waitingMax)
  return { treasuries: states.map(showState), waiting: waiting.map((each) => showWaiting(ctx, each)) }
}

function showState({ chain, treasury, native, gas, tokens }: TreasuryState) {
  const { symbol, decimals } = chain.network.nativeToken
  return {
    blockchain: chain.network.blockchain,
    ...(treasury && { address: treasury.address }),
    ...(gas && { gas: gas.level, transactionCost: formatAmount(gas.costAtomic, decimals) }),
    nativeSymbol: symbol,
    native: formatAmount(native.postedAtomic, decimals),
    tokens: tokens.map(showToken),
  }
}

function showToken({ token, postedAtomic, heldAtomic, toSweepAtomic, owedAtomic }: TreasuryToken) {
  const shown = (atomic: bigint) => formatAmount(atomic, token.decimals)
  return {
    symbol: token.symbol,
    amount: shown(postedAtomic),
    held: shown(heldAtomic),
    toSweep: shown(toSweepAtomic),
    owed: shown(owedAtomic),
  }
}

function showWaiting(
  { chains }: Ctx,
  { id, kind, blockchain, currency, amount, waiting, createDate }: HeldDisbursement,
) {
  const chain = chains.find(blockchain)?.network.businessChain ?? blockchain
  return {
    id,
    kind,
    amount: showMoney(amount, currency),
    ...showWaitingFor({ waiting, chain, currency }),
    createDate,
  }
}
