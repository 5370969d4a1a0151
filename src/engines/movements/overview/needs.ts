import { type Freeze, freezesOf } from '#custody/freezes/index'
import { pendingReviews } from '#engines/compliance/index'
import type { EngineCtx } from '#engines/ctx'
import { type OpenGap, openGaps } from '#engines/indexer/reconciliation/index'
import { currencyDecimals } from '#engines/ledger/index'
import { tokensByIds } from '#engines/ledger/tokens/index'
import { stuckOf } from '#engines/transactions/history/index'
import { type HeldDisbursement, heldDisbursements } from '#engines/treasury/disbursements/index'
import { type FailingSubscription, failingSubscriptions } from '#engines/webhooks/figures/index'
import { disableDateOf } from '#engines/webhooks/index'
import { formatAmount } from '#lib/amounts'

export const needKinds = [
  'frozen',
  'openGap',
  'disabledSubscription',
  'stuckTransaction',
  'pendingReview',
  'heldDisbursement',
  'failingSubscription',
] as const

/** The worst first. */
export const severities = ['bad', 'warn', 'info'] as const

/** Something that an operator can do, or should know of. */
export type Need = {
  kind: (typeof needKinds)[number]
  severity: (typeof severities)[number]
  /** A sentence that says what is wrong, and what ends it. */
  text: string
  movementId?: string
  subscriptionId?: string
  walletId?: string
  sinceDate: string
}

/** Maximum number of each kind. Each is read from an index of such rows alone. */
const eachMax = 20

/** The needs of an entity: the worst first, and of those the oldest. */
export async function readNeeds({ db }: Pick<EngineCtx, 'db'>, entityId: string): Promise<Need[]> {
  const freezes = await freezesOf(db, entityId, eachMax)
  const gaps = await openGaps(db, entityId, eachMax)
  const tokens = await tokensByIds(db, [...new Set(gaps.map(({ tokenId }) => tokenId))])
  const stuck = await stuckOf(db, entityId, eachMax)
  const reviews = await pendingReviews(db, entityId, eachMax)
  const held = await heldDisbursements(db, entityId, eachMax)
  const failing = await failingSubscriptions(db, entityId, eachMax)
  const needs: Need[] = [
    ...freezes.map(frozenNeed),
    ...gaps.map((gap) =>
      gapNeed(
        gap,
        tokens.find(({ id }) => id === gap.tokenId),
      ),
    ),
    ...stuck.map(({ id, blockchain, sinceDate }) => ({
      kind: 'stuckTransaction' as const,
      severity: 'warn' as const,
      text: `A transaction on ${blockchain} is stuck, because it offers less than the base fee: accelerate it, or cancel it.`,
      movementId: id,
      sinceDate,
    })),
    ...reviews.map(({ id, resource, ruleName, createDate }) => ({
      kind: 'pendingReview' as const,
      severity: 'warn' as const,
      text: `A ${resource} waits for an operator by the rule ${ruleName}: approve it, or deny it.`,
      movementId: id,
      sinceDate: createDate,
    })),
    ...held.map(heldNeed),
    ...failing.map(failingNeed),
  ]
  return needs.sort(
    (one, other) =>
      severities.indexOf(one.severity) - severities.indexOf(other.severity) ||
      one.sinceDate.localeCompare(other.sinceDate),
  )
}

function frozenNeed({ id, scope, blockchain, address, createDate }: Freeze): Need {
  const isEntity = scope === 'entity'
  return {
    kind: 'frozen',
    severity: isEntity ? 'bad' : 'warn',
    text: isEntity
      ? 'The entity is frozen: nothing is signed, and accepted transactions wait. Unfreeze it.'
      : `The wallet ${address} on ${blockchain} is frozen: its accepted transactions wait. Unfreeze it.`,
    ...(!isEntity && { walletId: id }),
    sinceDate: createDate,
  }
}

type GapToken = { symbol: string; decimals: number }

function gapNeed(
  { blockchain, address, bookedAtomic, onChainAtomic, sinceDate }: OpenGap,
  token?: GapToken,
): Need {
  const gap = formatAmount(onChainAtomic - bookedAtomic, token?.decimals ?? 0)
  return {
    kind: 'openGap',
    severity: 'bad',
    text: `The balance of ${address} on ${blockchain} differs from the books by ${gap} ${token?.symbol ?? 'base units'}: run bezant reconcile.`,
    sinceDate,
  }
}

function failingNeed({ id, endpoint, enabled, failingSince, updateDate, line }: FailingSubscription): Need {
  if (!enabled)
    return {
      kind: 'disabledSubscription',
      severity: 'bad',
      text: `The endpoint ${shownEndpoint(endpoint)} receives nothing: it was disabled while it only failed. Mend it, and enable its subscription.`,
      subscriptionId: id,
      sinceDate: updateDate,
    }
  const end = line === 'v2' ? ` It is disabled after ${disableDateOf(failingSince)}.` : ''
  return {
    kind: 'failingSubscription',
    severity: 'warn',
    text: `The endpoint ${shownEndpoint(endpoint)} takes no notifications: see its latest attempts.${end}`,
    subscriptionId: id,
    sinceDate: failingSince,
  }
}

/** The host and the path: the rest may have a key of the receiver. */
function shownEndpoint(endpoint: string): string {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined
  return url ? `${url.host}${url.pathname}` : endpoint
}

type WaitingReason = HeldDisbursement['waiting']['reason']

/** The end of the waiting, and whether an operator has to bring it. */
const remedies: Record<WaitingReason, { severity: Need['severity']; text: string }> = {
  coins_on_other_chains: {
    severity: 'warn',
    text: 'the coins are on other chains. Allow bezant rebalancing, or send coins to the treasury.',
  },
  coins_unswept: {
    severity: 'warn',
    text: 'its coins are at addresses that no sweep empties. See its timeline.',
  },
  gas_missing: {
    severity: 'warn',
    text: 'the treasury cannot pay the gas. Send native coins to the treasury.',
  },
  coins_moving: { severity: 'info', text: 'its coins are on their way from another chain.' },
  coins_sweeping: { severity: 'info', text: 'its coins are on their way from deposit addresses.' },
  retrying: { severity: 'warn', text: 'its transaction was refused, and is tried again. See its timeline.' },
}

function heldNeed({ kind, id, blockchain, currency, amount, waiting, createDate }: HeldDisbursement): Need {
  const { severity, text } = remedies[waiting.reason]
  return {
    kind: 'heldDisbursement',
    severity,
    text: `A ${kind} of ${formatAmount(amount, currencyDecimals, 2)} ${currency} on ${blockchain} waits: ${text}`,
    movementId: id,
    sinceDate: createDate,
  }
}
