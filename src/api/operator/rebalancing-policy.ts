import type { Static } from 'typebox'
import { readAmount } from '#api/business/read-amount'
import type { Ctx } from '#engines/ctx'
import { currencyDecimals } from '#engines/ledger/index'
import {
  findRebalancingPolicy,
  type Rebalancing,
  type RebalancingPolicy,
  rebalancingsPage,
  setRebalancing,
} from '#engines/treasury/rebalancing/index'
import { formatAmount, parseAmount } from '#lib/amounts'
import { invalid } from '#lib/errors'
import type { PageQuery } from '#runtime/collection/query'
import type { ListResult } from '#runtime/http/endpoint'
import type { rebalancingPolicyBody } from './treasury-schema.ts'

export async function listRebalancings(ctx: Ctx, page: PageQuery): Promise<ListResult> {
  const found = await rebalancingsPage(ctx.db, ctx.entity.id, page)
  return { found, items: found.rows.map(showRebalancing) }
}

const showRebalancing = ({
  id,
  status,
  amount,
  sourceBlockchain,
  blockchain,
  errorReason,
  createDate,
}: Rebalancing) => ({
  id,
  status,
  amount: shown(amount),
  fromBlockchain: sourceBlockchain,
  toBlockchain: blockchain,
  ...(errorReason !== null && { errorReason }),
  createDate,
})

export async function showRebalancingPolicy({ db, entity }: Ctx) {
  const policy = await findRebalancingPolicy(db, entity.id)
  return policy
    ? { allowed: true, max: shown(policy.messageMax), reserve: shown(policy.reserve) }
    : { allowed: false }
}

/** Lets coins be moved between chains, within limits, or forbids it. */
export async function setRebalancingPolicy(ctx: Ctx, body: Static<typeof rebalancingPolicyBody>) {
  await setRebalancing(ctx, ctx.entity.id, policyOf(body))
  return showRebalancingPolicy(ctx)
}

function policyOf({
  allowed,
  max,
  reserve,
}: Static<typeof rebalancingPolicyBody>): RebalancingPolicy | undefined {
  if (allowed) return { messageMax: amountOf('max', max), reserve: reserveOf(reserve) }
  for (const [at, value] of Object.entries({ max, reserve }))
    if (value !== undefined)
      throw invalid({
        at,
        reason: 'limits nothing where allowed is false: leave it out',
        value,
        error: 'not_required',
      })
  return undefined
}

const amountOf = (at: string, text: string | undefined) =>
  readAmount(at, text, currencyDecimals, 'invalidRequest')

const reserveOf = (text = '0') =>
  parseAmount(text, currencyDecimals) === 0n ? 0n : amountOf('reserve', text)

const shown = (atomic: bigint) => formatAmount(atomic, currencyDecimals)
