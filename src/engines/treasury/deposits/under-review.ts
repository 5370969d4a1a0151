import type { UnderReview } from '#engines/compliance/index'
import { lockFollowed } from '#engines/indexer/index'
import type { Ref } from '#engines/transactions/index'
import { type Clock, formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { recordIncoming, settleIncoming } from './incoming-transfers.ts'
import { recordPayments, settlePayments } from './payments.ts'
import { findPayment } from './store/payments.ts'
import { blockchainOfDeposit, lockUncredited, setDepositReview } from './store/reviewed-deposits.ts'
import { findBusinessTransfer } from './store/transfers.ts'
import type { DepositKind } from './types.ts'

const actions = {
  payment: {
    settle: settlePayments,
    recordFailure: async (tx: Db, nowMs: number, { entityId, id }: Ref) =>
      recordPayments(tx, nowMs, [(await findPayment(tx, entityId, id))!], 'failed'),
  },
  transfer: {
    settle: settleIncoming,
    recordFailure: async (tx: Db, nowMs: number, { entityId, id }: Ref) =>
      recordIncoming(tx, nowMs, [(await findBusinessTransfer(tx, entityId, id))!], 'failed'),
  },
}

/** A deposit is credited after an approval, at once where its block has its confirmations, and fails after a denial. */
export function depositUnderReview(clock: Clock, kind: DepositKind, ref: Ref): UnderReview {
  const nowMs = clock.nowMs()
  const at = formatInstant(nowMs)
  let blockchain = ''
  let completeTo = -1
  return {
    async lock(tx) {
      blockchain = await blockchainOfDeposit(tx, kind, ref)
      // Before the deposit, as a step of the feed does: no block is followed that does not see the decision.
      completeTo = await lockFollowed(tx, 'treasury', blockchain)
      return lockUncredited(tx, kind, ref)
    },
    async approve(tx) {
      await setDepositReview(tx, kind, ref, 'approved', at)
      await actions[kind].settle(tx, nowMs, blockchain, completeTo)
    },
    async deny(tx) {
      await setDepositReview(tx, kind, ref, 'denied', at)
      await actions[kind].recordFailure(tx, nowMs, ref)
    },
  }
}
