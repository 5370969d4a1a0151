import type { Static } from 'typebox'
import { capabilitiesOf } from '#chains/capabilities'
import { createWallets, type EntitySecret, spendCiphertext, type Wallet } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { invalid } from '#lib/errors'
import type { createWalletsBody } from './schema.ts'
import { requireWalletChain } from './wallet-chain.ts'

type CreateWalletsBody = Static<typeof createWalletsBody>

/** Creates `count` wallets on each chain; the wallets of one index share their address. */
export async function createWalletsOf(
  ctx: Ctx,
  { body }: { body: CreateWalletsBody },
  secret: EntitySecret,
): Promise<Wallet[]> {
  await spendCiphertext(ctx, secret)
  const { walletSetId, blockchains, count = 1, metadata } = body
  if (body.accountType === 'SCA') refuseSmartAccounts(body)
  const chains = blockchains.map((name, index) => requireWalletChain(ctx, name, `blockchains[${index}]`))
  if (metadata && metadata.length !== count) {
    const reason = `has ${metadata.length} items, but count is ${count}`
    throw invalid('metadata', reason, undefined, 'metadataCountDiffers', 'length_outside_bounds')
  }
  const { family } = chains[0]!
  return createWallets(ctx, secret, { walletSetId, family, chains, count, metadata })
}

function refuseSmartAccounts({ blockchains }: CreateWalletsBody): never {
  const index = blockchains.findIndex((name) => !capabilitiesOf(name).smartAccounts)
  const [field, reason, value] =
    index >= 0
      ? [`blockchains[${index}]`, 'has no smart contract accounts: use accountType EOA', blockchains[index]]
      : ['accountType', 'SCA is not available on this server yet: use EOA', 'SCA']
  throw invalid(field!, reason!, value, 'smartAccountUnavailable')
}
