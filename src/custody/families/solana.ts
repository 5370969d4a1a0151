import { base58 } from '@scure/base'
import { onEd25519 } from './ed25519.ts'
import type { Family } from './family.ts'

/** m/44'/501'/i'/0'. An address is the public key. */
export const solana: Family = onEd25519({
  path: { before: [44, 501], after: [0] },
  addressOf: (publicKey) => base58.encode(publicKey),
})
