import type { Hex } from '#lib/hex'
import { executeOperation, openModularAccount, usdcPayment } from '#testing/builders/modular-accounts'
import { freshAddress, type World } from '#testing/builders/world'
import { approved, newSession } from '#testing/pages/page'
import { httpAs } from '#testing/platform/tenant'
import { askUser, makePinUser } from '#testing/requests/challenge-requests'
import { paidOnce } from '../book.ts'
import type { Product } from './product.ts'
import { showsCoins } from './transfers.ts'

/** A user whose wallet pays what the user approves with a PIN. */
export const challenges: Product = {
  name: 'challenges',
  weight: 2,
  prepare: async (setting) => {
    const { world, book } = setting
    const { userId, wallet } = await makePinUser(world)
    const { address, blockchain } = wallet
    await world.harness.fundWallet(address, { usdc: '10000', native: '100', blockchain })
    await showsCoins(setting, wallet)
    return async () => {
      const to = freshAddress()
      const session = await newSession(world, userId)
      const asked = {
        walletId: wallet.id,
        tokenId: world.usdcId,
        destinationAddress: to,
        amounts: ['0.01'],
        feeLevel: 'MEDIUM',
      }
      const challengeId = await askUser(world, session, 'transactions/transfer', asked)
      const { challenge } = await approved(world, session, challengeId)
      const [id] = challenge.correlationIds
      book.accept({
        product: 'challenges',
        differs: async (facts) => {
          const { transaction } = await world.call('GET', `/v1/w3s/transactions/${id}`)
          if (transaction.state !== 'COMPLETE') return `the user's transfer ${id} is ${transaction.state}`
          return paidOnce(facts, to, 10_000n)
        },
      })
    }
  },
}

/** The price of gas that the endpoint of pages recommends: blocks of a quiet chain make it fall. */
async function recommendedPrice({ harness, tenant }: World) {
  const request = { jsonrpc: '2.0', id: 1, method: 'circle_getUserOperationGasPrice', params: [] }
  const { body } = await httpAs(harness.url, tenant.clientKey)('POST', '/v1/rpc/w3s/buidl/baseSepolia', {
    body: request,
  })
  const { maxFeePerGas, maxPriorityFeePerGas } = body.result.medium as Record<string, Hex>
  return { maxFeePerGas: BigInt(maxFeePerGas!), maxPriorityFeePerGas: BigInt(maxPriorityFeePerGas!) }
}

/** A modular wallet of a page, whose gas the treasury pays. */
export const operations: Product = {
  name: 'user operations',
  weight: 2,
  prepare: async ({ world, book }) => {
    const { harness, tenant } = world
    const { bundler } = await openModularAccount(harness, tenant)
    await executeOperation(bundler, [usdcPayment(harness, freshAddress(), 1n)], await recommendedPrice(world))
    return async () => {
      const to = freshAddress()
      const call = usdcPayment(harness, to, 5_000n)
      const { success } = await executeOperation(bundler, [call], await recommendedPrice(world))
      if (!success) throw new Error('a user operation was not executed')
      book.accept({ product: 'user operations', differs: async (facts) => paidOnce(facts, to, 5_000n) })
    }
  },
}
