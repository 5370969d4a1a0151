import type { KeyFamily } from '../wallets/types.ts'
import { aptosKeys } from './aptos.ts'
import { evm } from './evm.ts'
import type { Family } from './family.ts'
import { near } from './near.ts'
import { solana } from './solana.ts'

/** A further family is a further file beside this one, and a row here. */
const families: Record<KeyFamily, Family> = { evm, aptos: aptosKeys, solana, near }

/** Returns the family of a key; throws for one that this program does not know. */
export function familyOfKey(key: { family: string }): Family {
  const family = families[key.family as KeyFamily]
  if (!family) throw new Error(`there are no keys of the family ${key.family}`)
  return family
}
