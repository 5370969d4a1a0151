import { aptosFamily } from './aptos/index.ts'
import { evmFamily } from './evm/index.ts'
import type { FamilyDeclaration } from './family.ts'
import { nearFamily } from './near/index.ts'
import type { ChainFamily } from './network.ts'
import { solanaFamily } from './solana/index.ts'

/** The families whose wallets this program has. It connects to the chains of those that declare how. */
export const families: { readonly [name in ChainFamily]?: FamilyDeclaration } = {
  evm: evmFamily,
  aptos: aptosFamily,
  solana: solanaFamily,
  near: nearFamily,
}
