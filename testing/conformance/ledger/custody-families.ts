import type { Family } from '#custody/families/family'
import { familyOfKey as familyOfOwnKey } from '#custody/families/index'
import { ledgerKeys } from './keys.ts'

/** Stands in the place of `custody/families/index.ts` in a program that knows the ledger family. */
export const familyOfKey = (key: { family: string }): Family =>
  key.family === 'ledger' ? ledgerKeys : familyOfOwnKey(key)
