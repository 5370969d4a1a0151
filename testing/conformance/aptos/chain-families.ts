import { aptosFamily } from '#chains/aptos/index'
import { families as own } from '#chains/families'

/** Stands in the place of `chains/families.ts` in a program that connects to Aptos. */
export const families: typeof own = { ...own, aptos: aptosFamily }
