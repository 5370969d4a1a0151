import type { FamilyDeclaration } from '../family.ts'
import { nearSigning } from './signing.ts'

/** Wallets sign what their callers send: this program connects to no node of NEAR. */
export const nearFamily: FamilyDeclaration = {
  keys: 'near',
  facets: [],
  signing: nearSigning,
  feePayers: false,
  derives: false,
  userWallets: false,
  hasLocalChains: false,
}
