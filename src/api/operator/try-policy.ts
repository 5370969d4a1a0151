import type { Static } from 'typebox'
import { requireCall } from '#api/calls/execution-request'
import { requireLeaving } from '#api/calls/transfer-items'
import { requireDestination, requireToken } from '#api/calls/transfer-request'
import { requireChain } from '#api/sources/connected-chain'
import { walletUnknown } from '#api/sources/source'
import type { Blockchain } from '#chains/blockchains'
import {
  type CandidatePolicy,
  decisionsUnder,
  findPolicyInForce,
  type Operation,
  type PastDecision,
  type PastVerdict,
  tryOperation,
  tryPast,
} from '#custody/policy/index'
import { findWallet, type Wallet } from '#custody/wallets/index'
import type { Ctx } from '#engines/ctx'
import { rebuildOperations } from '#engines/transactions/history/index'
import { ApiError, within } from '#lib/errors'
import type { tryPolicyBody } from './policy-schema.ts'
import { showPolicy } from './read-control.ts'
import { requirePolicySubject, rulesOf } from './set-policy.ts'

type Body = Static<typeof tryPolicyBody>

const pastDefault = 50

/** Says what rules would say to past operations of their subject and to those described, without putting them in force. */
export async function tryPolicy(ctx: Ctx, body: Body) {
  const rules = rulesOf(body.rules)
  const candidate = { subject: await requirePolicySubject(ctx, body.subjectId), rules }
  const { transfer, contractExecution, past = pastDefault } = body
  const inForce = await findPolicyInForce(ctx.db, ctx.entity.id, candidate.subject.subjectId)
  return {
    ...(inForce && { inForce: showPolicy(inForce) }),
    ...(transfer && {
      transfer: await placed('transfer', () =>
        tryDescribed(ctx, candidate, transfer.walletId, (wallet) => transferOf(ctx, wallet, transfer)),
      ),
    }),
    ...(contractExecution && {
      contractExecution: await placed('contractExecution', () =>
        tryDescribed(ctx, candidate, contractExecution.walletId, (wallet) =>
          executionOf(ctx, wallet, contractExecution),
        ),
      ),
    }),
    past: await judgePast(ctx, candidate, past),
  }
}

/** Names what is wrong by its path from the whole request. */
async function placed<Result>(at: string, act: () => Promise<Result>): Promise<Result> {
  try {
    return await act()
  } catch (error) {
    throw error instanceof ApiError ? within(at, error) : error
  }
}

/** Judges an operation by policy alone: whether the wallet is frozen or has the coins is not asked. */
async function tryDescribed(
  ctx: Ctx,
  candidate: CandidatePolicy,
  walletId: string,
  operationOf: (wallet: Wallet) => Promise<Operation>,
) {
  const wallet = await findWallet(ctx.db, { entityId: ctx.entity.id }, walletId)
  if (!wallet) throw walletUnknown({ walletId })
  const refusal = await tryOperation(ctx, wallet, await operationOf(wallet), candidate)
  return showRefusal(refusal)
}

const showRefusal = (refusal: Awaited<ReturnType<typeof tryOperation>>) => ({
  allowed: refusal === undefined,
  ...refusal,
})

async function transferOf(
  ctx: Ctx,
  { blockchain, address }: Wallet,
  body: NonNullable<Body['transfer']>,
): Promise<Operation> {
  const chain = requireChain(ctx, blockchain)
  const token = await requireToken(ctx, body, blockchain)
  const leaving = await requireLeaving(ctx, token, body, { known: false })
  const to = requireDestination(body.destinationAddress, blockchain as Blockchain, token)
  const call = leaving.call(chain, { from: address, to })
  return { kind: 'transfer', ...chain.payments.decodeCall(call) }
}

async function executionOf(
  ctx: Ctx,
  { blockchain }: Wallet,
  body: NonNullable<Body['contractExecution']>,
): Promise<Operation> {
  const chain = requireChain(ctx, blockchain)
  return { kind: 'contractExecution', ...chain.payments.decodeCall(requireCall(chain, body)) }
}

async function judgePast(ctx: Ctx, candidate: CandidatePolicy, limit: number) {
  const decisions = await decisionsUnder(ctx.db, ctx.entity.id, candidate.subject, limit)
  const rebuilt = await rebuildOperations(ctx, ctx.entity.id, decisions)
  const verdicts = await tryPast(
    ctx,
    candidate,
    decisions.map((each) => ({ ...each, rebuilt: rebuilt.get(each.intentId) })),
  )
  const those = (wanted: PastVerdict['verdict']) =>
    decisions.flatMap((decision) => {
      const verdict = verdicts.get(decision.id)!
      return verdict.verdict === wanted ? [showJudged(decision, verdict)] : []
    })
  const oldest = decisions.at(-1)
  return {
    judged: decisions.length,
    allowed: those('allowed').length,
    ...(oldest && { sinceDate: oldest.createDate }),
    refused: those('refused'),
    unjudged: those('unjudged'),
  }
}

const showJudged = (
  { id: decisionId, intentId, walletId, operation, createDate }: PastDecision,
  verdict: PastVerdict,
) => ({
  decisionId,
  intentId,
  walletId,
  operation,
  reason: verdict.verdict === 'allowed' ? '' : verdict.reason,
  createDate,
})
