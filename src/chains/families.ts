import { evmFamily } from './evm/index.ts'
import type { FamilyDeclaration } from './family.ts'
import type { ChainFamily } from './network.ts'

/** The families whose chains can be connected to. */
export const families: { readonly [name in ChainFamily]?: FamilyDeclaration } = { evm: evmFamily }
