import type { JournaledResources } from '#engines/transactions/index'
import { copyPaid, failUnpaid, restorePaid } from './disbursements/restore-disbursements.ts'
import { copySweeps, restoreSweeps } from './sweeping/store.ts'

/** Rows of treasuries that journals keep beside their transactions: disbursements, and the sweeps that bring their coins. */
export const journaledResources: JournaledResources = {
  copy: async (db, transactions) =>
    (await Promise.all([copyPaid(db, transactions), copySweeps(db, transactions)])).flat(),
  restore: async (tx, nowMs, copies) => {
    const sweeps = copies.filter(isSweep)
    await restoreSweeps(tx, sweeps)
    await restorePaid(
      tx,
      nowMs,
      copies.filter((copy) => !isSweep(copy)),
    )
  },
  failUnpaid,
}

const isSweep = (copy: string): boolean => (JSON.parse(copy) as { kind: string }).kind === 'sweep'
