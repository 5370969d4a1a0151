import type { ClaimedTransfer, Tokens } from '../../facets/tokens.ts'
import type { NodeReader } from '../../nodes/asked-nodes.ts'
import { isAssociatedAccount } from '../derived-addresses.ts'
import { tokenBalancesThrough } from '../payments/balances.ts'
import type { BlockWithChanges } from '../payments/taken-back.ts'
import { programIds } from '../programs.ts'
import type { SolanaClient } from '../rpc/client.ts'
import { readMint } from './mint.ts'

/** Tokens of any mint. A token that is one NFT has neither items nor ids: it is a mint of one whole unit. */
export const solanaTokensThrough = (read: NodeReader<SolanaClient>, wholeOf: BlockWithChanges): Tokens => ({
  claimedIn: ({ otherTransfers = [] }) =>
    otherTransfers.map(
      (transfer): ClaimedTransfer => ({
        ...transfer,
        position: 0,
        standard: 'Fungible',
        itemId: undefined,
      }),
    ),
  isAccountOf: (account, owner, mint) => isAssociatedAccount(account, owner, mint, programIds.token),
  // Issuers freeze accounts one by one, and keep no list.
  issuerChangesIn: () => [],
  blockedBy: async () => [],
  findStandard: (mint) => read((node) => readMint(node, mint)),
  factsOf: async (mint) => {
    const found = await read((node) => readMint(node, mint))
    // Claims are of mints of the token program: a node that knows none is behind.
    return typeof found === 'string' ? undefined : found
  },
  balancesAt: (at, holdings) => read((node) => tokenBalancesThrough(node, holdings, at, wholeOf)),
  urisOf: async (items) => items.map(() => undefined),
  itemsCall: (mint) => {
    throw new Error(`${mint} is no contract of items: tokens of Solana have none`)
  },
})
