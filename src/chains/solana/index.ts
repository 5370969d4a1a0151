import type { FamilyDeclaration } from '../family.ts'
import { solanaSigning } from './signing.ts'

/** Wallets sign messages and transactions: this program connects to no node of Solana. */
export const solanaFamily: FamilyDeclaration = {
  keys: 'solana',
  facets: [],
  signing: solanaSigning,
  feePayers: false,
  derives: false,
  userWallets: true,
  hasLocalChains: false,
}
