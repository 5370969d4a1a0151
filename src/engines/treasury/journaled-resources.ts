import type { JournaledResources } from '#engines/transactions/journal/index'
import { copyPaid, failUnpaid, restorePaid } from './disbursements/restore-disbursements.ts'
import { restoreRebalancings } from './rebalancing/restore-rebalancings.ts'
import { copyRebalancings } from './rebalancing/store.ts'
import { copySweeps, restoreSweeps } from './sweeping/store.ts'

/** Rows of treasuries that journals keep beside their transactions: disbursements, and sweeps and rebalancings, which bring coins. */
export const journaledResources: JournaledResources = {
  copy: async (db, transactions) =>
    (
      await Promise.all([
        copyPaid(db, transactions),
        copySweeps(db, transactions),
        copyRebalancings(db, transactions),
      ])
    ).flat(),
  restore: async (tx, nowMs, copies) => {
    const moving = new Set(['sweep', 'rebalancing'])
    const textsOf = (kind: string) => copies.filter((copy) => kindOf(copy) === kind)
    await restoreSweeps(tx, textsOf('sweep'))
    await restoreRebalancings(tx, nowMs, textsOf('rebalancing'))
    await restorePaid(
      tx,
      nowMs,
      copies.filter((copy) => !moving.has(kindOf(copy))),
    )
  },
  failUnpaid,
}

const kindOf = (copy: string) => (JSON.parse(copy) as { kind: string }).kind
