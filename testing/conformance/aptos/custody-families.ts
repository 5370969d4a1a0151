import type { Family } from '#custody/families/family'
import { familyOfKey as familyOfOwnKey } from '#custody/families/index'
import { aptosKeys } from '#testing/nodes/aptos-chain'

/** Stands in the place of `custody/families/index.ts`: signatures tell the public key, as Aptos transactions need it. */
export const familyOfKey = (key: { family: string }): Family =>
  key.family === 'aptos' ? aptosKeys : familyOfOwnKey(key)
