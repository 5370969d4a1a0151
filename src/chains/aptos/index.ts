import type { FamilyDeclaration } from '../family.ts'
import { aptosSigning } from './signing.ts'

/** Wallets sign messages: this program connects to no node of Aptos. */
export const aptosFamily: FamilyDeclaration = {
  keys: 'aptos',
  facets: [],
  signing: aptosSigning,
  derives: false,
  userWallets: true,
  hasLocalChains: false,
}
