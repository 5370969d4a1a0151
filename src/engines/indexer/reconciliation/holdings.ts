import type { Chain } from '#chains/chain'
import type { BlockAt } from '#chains/facets/blocks'
import { accountsOn } from '#chains/facets/optional'
import { managedAmong } from '#custody/wallets/index'
import type { Token } from '#engines/ledger/tokens/index'
import type { Hex } from '#lib/hex'
import type { Db } from '#runtime/db/db'

/** Reads the balance of an address in a token at a block. */
export type ReadHolding = (address: string, token: Token, block: BlockAt) => Promise<bigint>

/** Returns the reader for these managed addresses. The native coins of a paymaster are its deposit at the EntryPoint. */
export async function holdingsOf(db: Db, chain: Chain, addresses: readonly string[]): Promise<ReadHolding> {
  const managed = await managedAmong(db, chain.network.blockchain, [...new Set(addresses)])
  const paymasters = new Set(
    managed.flatMap(({ address, purpose }) => (purpose === 'paymaster' ? [address] : [])),
  )
  return (address, token, block) =>
    token.isNative && paymasters.has(address)
      ? accountsOn(chain).depositOf(address, block.hash as Hex)
      : chain.balances.of(address, token.address ?? undefined, block)
}
