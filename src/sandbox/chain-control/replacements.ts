/**
 * Payments that their senders take back: another transaction has the nonce of the first, which so can never be mined. The platform
 * never does so, and the faucet neither; the keys of others are not known, so the node takes it without a signature.
 */
import { canonicalAddress } from '#chains/addresses/canonical'
import { managedAmong } from '#custody/wallets/index'
import type { EngineCtx } from '#engines/ctx'
import type { EvmLocalChain } from '../chains/local-chain.ts'
import { faucetAccount, issuerAccount } from '../constants.ts'

type SentByOther = { hash: string; from: string; nonce: string }

/** The transactions whose sender is neither of the platform nor of its faucet, in their order. */
export async function transactionsOfOthers(
  { database }: EngineCtx,
  chain: EvmLocalChain,
  hashes: readonly string[],
): Promise<SentByOther[]> {
  const sent: SentByOther[] = []
  for (const hash of hashes) {
    const found = await chain.ask<SentByOther | null>('eth_getTransactionByHash', [hash])
    if (found) sent.push({ hash, from: canonicalAddress(found.from), nonce: found.nonce })
  }
  const senders = [...new Set(sent.map(({ from }) => from))]
  const managed = await managedAmong(database, chain.blockchain, senders)
  const own = new Set(
    [...managed, faucetAccount, issuerAccount].map(({ address }) => canonicalAddress(address)),
  )
  return sent.filter(({ from }) => !own.has(from))
}

/** Sends for each a payment of nothing from the sender to itself, with the same nonce; one that the node refuses is left out. */
export async function sendInPlaceOf(
  chain: EvmLocalChain,
  transactions: readonly SentByOther[],
): Promise<{ txHash: string; by: string }[]> {
  const replaced: { txHash: string; by: string }[] = []
  for (const { hash, from, nonce } of transactions) {
    await chain.ask('anvil_impersonateAccount', [from])
    try {
      const by = await chain
        .ask<string>('eth_sendTransaction', [{ from, to: from, value: '0x0', nonce }])
        .catch(() => undefined)
      if (by !== undefined) replaced.push({ txHash: hash, by })
    } finally {
      await chain.ask('anvil_stopImpersonatingAccount', [from])
    }
  }
  return replaced
}
