import { families as own } from '#chains/families'
import { ledgerFamily } from './family.ts'

/** Stands in the place of `chains/families.ts`: the addresses of accounts are as NEAR writes implicit ones. */
export const families: typeof own = { ...own, near: ledgerFamily }
