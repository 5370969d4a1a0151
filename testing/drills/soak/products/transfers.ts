import { randomBytes, randomUUID } from 'node:crypto'
import { encodeBase58 } from '#chains/addresses/base-encodings'
import { networkOf } from '#chains/networks/index'
import { solDevnet } from '#chains/networks/sol-devnet'
import { freshAddress, type Wallet } from '#testing/builders/world'
import { solanaBalanceOf } from '#testing/nodes/solana-oracle'
import { until } from '#testing/platform/until'
import { type Facts, paidOnce } from '../book.ts'
import { solanaUsdc } from '../chains.ts'
import type { Product, Setting } from './product.ts'

const path = '/v1/w3s/developer/transactions'

async function walletOn({ world }: Setting, blockchain: string, accountType: 'EOA' | 'SCA'): Promise<Wallet> {
  const { wallets } = await world.call('POST', '/v1/w3s/developer/wallets', {
    idempotencyKey: randomUUID(),
    entitySecretCiphertext: await world.tenant.sealSecret(),
    walletSetId: (await world.walletSet()).id,
    blockchains: [blockchain],
    accountType,
    count: 1,
  })
  return wallets[0]
}

export const showsCoins = (setting: Setting, wallet: Wallet, kinds = 2) =>
  until(async () => {
    const { tokenBalances } = await setting.world.call('GET', `/v1/w3s/wallets/${wallet.id}/balances`)
    return tokenBalances.length >= kinds
  }, `the wallet on ${wallet.blockchain} shows its coins`)

/** Accepts one transfer of USDC, which has to be paid once. */
async function transfer(
  setting: Setting,
  product: string,
  wallet: Wallet,
  to: string,
  paid: (facts: Facts, amountAtomic: bigint) => Promise<string | undefined>,
): Promise<void> {
  const { world, random, book } = setting
  const usdc = networkOf(wallet.blockchain)!.tokens.find(({ symbol }) => symbol === 'USDC')!
  const amountAtomic = BigInt(random.between(1, 9_999))
  const { id } = await world.call('POST', `${path}/transfer`, {
    idempotencyKey: randomUUID(),
    entitySecretCiphertext: await world.tenant.sealSecret(),
    walletId: wallet.id,
    tokenId: usdc.id,
    destinationAddress: to,
    amounts: [`0.${amountAtomic.toString().padStart(usdc.decimals, '0')}`],
    feeLevel: 'MEDIUM',
  })
  book.accept({
    product,
    differs: async (facts) => {
      const { transaction } = await world.call('GET', `/v1/w3s/transactions/${id}`)
      if (transaction.state !== 'COMPLETE') return `the transfer ${id} is ${transaction.state}`
      return paid(facts, amountAtomic)
    },
  })
}

export const transfers: Product = {
  name: 'transfers',
  weight: 8,
  prepare: async (setting) => {
    const { ground, world, random } = setting
    const wallets: Wallet[] = []
    for (const { blockchain } of ground.chains.evm)
      for (let each = 0; each < 2; each++) wallets.push(await walletOn(setting, blockchain, 'EOA'))
    wallets.push(await walletOn(setting, ground.chains.evm[0]!.blockchain, 'SCA'))
    for (const { address, blockchain } of wallets)
      await world.harness.fundWallet(address, { usdc: '100000', native: '100', blockchain })
    for (const wallet of wallets) await showsCoins(setting, wallet)
    return () => {
      const to = freshAddress()
      return transfer(setting, 'transfers', random.pick(wallets), to, async (facts, amountAtomic) =>
        paidOnce(facts, to, amountAtomic),
      )
    }
  },
}

/** Transfers on a chain of another family. */
export const solanaTransfers: Product = {
  name: 'Solana transfers',
  weight: 3,
  prepare: async (setting) => {
    const { solana } = setting.ground.chains
    const wallet = await walletOn(setting, solDevnet.blockchain, 'EOA')
    solana.fund(wallet.address, 100n * 10n ** 9n)
    solana.fund(wallet.address, 10n ** 11n, solanaUsdc)
    await showsCoins(setting, wallet)
    return () => {
      const to = encodeBase58(randomBytes(32))
      return transfer(setting, 'Solana transfers', wallet, to, async (_, amountAtomic) => {
        const owned = await solanaBalanceOf(solana.url, to, solanaUsdc)
        return owned === amountAtomic ? undefined : `${to} owns ${owned} and not ${amountAtomic}`
      })
    }
  },
}
