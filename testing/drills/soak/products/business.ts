import { approveBatch, fileOf, rowsOf, uploadBatch } from '#testing/builders/payout-batches'
import {
  freshAddress,
  makeActiveAddress,
  makeActiveRecipient,
  makeBusinessTransfer,
  makePaymentIntent,
  makePayout,
  nextCount,
} from '#testing/builders/world'
import { paidOnce } from '../book.ts'
import type { Product } from './product.ts'

/** Deposits by customers to the addresses of payment intents. */
export const deposits: Product = {
  name: 'deposits',
  weight: 4,
  prepare: async ({ world, book, random, ground }) => {
    const codes: Record<string, string> = { 'BASE-SEPOLIA': 'BASE', 'ETH-SEPOLIA': 'ETH' }
    return async () => {
      const chain = random.pick(ground.chains.evm)
      const intent = await makePaymentIntent(world, codes[chain.blockchain])
      const amountAtomic = 1_000_000n + BigInt(nextCount())
      await chain.send(intent.depositAddress, amountAtomic, 'USDC')
      book.accept({
        product: 'deposits',
        differs: async () => {
          const payments: { status: string; amount: { amount: string } }[] = await world.call(
            'GET',
            `/v1/payments?paymentIntentId=${intent.id}`,
          )
          const [payment] = payments
          if (payments.length !== 1) return `the intent ${intent.id} has ${payments.length} payments`
          return payment!.status === 'paid'
            ? undefined
            : `a payment of the intent ${intent.id} is ${payment!.status}`
        },
      })
    }
  },
}

const enough = 10_000_000_000n

async function fundMerchant({ world, ground }: Parameters<Product['prepare']>[0]): Promise<void> {
  const intent = await makePaymentIntent(world)
  await ground.chains.evm[0]!.send(intent.depositAddress, enough, 'USDC')
}

export const payouts: Product = {
  name: 'payouts',
  weight: 3,
  prepare: async (setting) => {
    const { world, book } = setting
    await fundMerchant(setting)
    return async () => {
      const address = freshAddress()
      const recipient = await makeActiveRecipient(world, { address })
      const { id } = await makePayout(world, { destination: { type: 'address_book', id: recipient.id } })
      book.accept({
        product: 'payouts',
        differs: async (facts) => {
          const { status } = await world.call('GET', `/v1/payouts/${id}`)
          return status === 'complete' ? paidOnce(facts, address, 10_000n) : `the payout ${id} is ${status}`
        },
      })
    }
  },
}

export const businessTransfers: Product = {
  name: 'business transfers',
  weight: 2,
  prepare: async (setting) => {
    const { world, book } = setting
    await fundMerchant(setting)
    return async () => {
      const address = freshAddress()
      const { id: addressId } = await makeActiveAddress(world, { address })
      const destination = { type: 'verified_blockchain', addressId }
      const { id } = await makeBusinessTransfer(world, { destination })
      book.accept({
        product: 'business transfers',
        differs: async (facts) => {
          const { status } = await world.call('GET', `/v1/businessAccount/transfers/${id}`)
          return status === 'complete' ? paidOnce(facts, address, 10_000n) : `the transfer ${id} is ${status}`
        },
      })
    }
  },
}

/** Files of payouts to new addresses. */
export const batches: Product = {
  name: 'batches',
  weight: 1,
  prepare: async (setting) => {
    const { world, book } = setting
    await fundMerchant(setting)
    return async () => {
      const addresses = [freshAddress(), freshAddress(), freshAddress()]
      for (const address of addresses) await makeActiveRecipient(world, { address })
      const rows = addresses.map((address) => `${address},BASE,0.01,USD,invoice ${nextCount()}`)
      const batch = await uploadBatch(world, fileOf('address,chain,amount,currency,reference', ...rows))
      await approveBatch(world, batch)
      book.accept({
        product: 'batches',
        differs: async (facts) => {
          const failed = (await rowsOf(world, batch.id)).filter(({ state }) => state !== 'created')
          if (failed.length > 0) return `the batch ${batch.id} has ${failed.length} rows that are no payouts`
          return addresses.map((address) => paidOnce(facts, address, 10_000n)).find(Boolean)
        },
      })
    }
  },
}
