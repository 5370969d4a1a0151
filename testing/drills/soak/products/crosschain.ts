import { randomUUID } from 'node:crypto'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { forwardHookData } from '#chains/crosschain/forward-hook'
import { confirmedThreshold, finalizedThreshold } from '#chains/crosschain/message'
import { crosschainMessages, type Hex } from '#testing/builders/burns'
import { intentOf, people, signedIntent, specOf, unifiedBalances } from '#testing/builders/unified-balances'
import { freshAddress } from '#testing/builders/world'
import { settlementRequest } from '#testing/builders/x402-payments'
import type { TestChain } from '#testing/platform/chain'
import { paidOnce } from '../book.ts'
import type { Product } from './product.ts'

/** Payments by x402 that a seller has settled. */
export const x402: Product = {
  name: 'x402',
  weight: 3,
  prepare: async ({ world, book }) => {
    const { harness, tenant } = world
    const payer = privateKeyToAccount(generatePrivateKey())
    await harness.fundWallet(payer.address, { usdc: '10000' })
    return async () => {
      const to = freshAddress()
      const body = {
        ...(await settlementRequest(harness, payer, { to, amountAtomic: 2_500n })),
        deliveryId: randomUUID(),
      }
      for (;;) {
        const { body: told, text } = await tenant.http('POST', '/v1/facilitator/x402/settle', { body })
        if (told?.success) break
        if (told?.errorReason !== 'settlement_pending')
          throw new Error(`not settled: ${told?.errorReason ?? text}`)
      }
      book.accept({ product: 'x402', differs: async (facts) => paidOnce(facts, to, 2_500n) })
    }
  },
}

/** Coins burned on one chain and minted on another, by their owner or by this server. */
export const messages: Product = {
  name: 'cross-chain',
  weight: 1,
  prepare: async ({ world, book, random, ground }) => {
    const acts = crosschainMessages(world.harness)
    return async () => {
      const [slow, quick] = ground.chains.evm as [TestChain, TestChain]
      // Blocks of one chain are final after a dozen; burns on the other one are attested before.
      const isFast = random.oneIn(2)
      const [from, into] = isFast ? [slow, quick] : [quick, slow]
      const forwards = random.oneIn(2)
      const to = freshAddress() as Hex
      const amount = 10_000_000n
      const hash = await acts.burn(from, into, {
        to,
        amount,
        maxFee: 5_000_000n,
        threshold: isFast ? confirmedThreshold : finalizedThreshold,
        ...(forwards && { hookData: forwardHookData }),
      })
      const message = await acts.messageWhen(
        from,
        hash,
        ({ status, forwardState }) => status === 'complete' && (!forwards || forwardState === 'COMPLETE'),
      )
      if (!forwards && !(await acts.deliver(into, message)).ok)
        throw new Error(`the message of ${hash} was not taken`)
      book.accept({ product: 'cross-chain', differs: async (facts) => paidOnce(facts, to) })
    }
  },
}

/** Unified balances: deposited, spent on the other chain, and paid in batches. */
export const unified: Product = {
  name: 'unified balances',
  weight: 2,
  prepare: async ({ world, book, random, ground, tenant }) => {
    const acts = unifiedBalances(world.harness)
    const person = people[tenant]!
    const [into, from] = ground.chains.evm as [TestChain, TestChain]
    await acts.pay(from, person.address, 1_000_000_000n)
    // A deposit counts when it is final.
    await from.mine(15)
    await acts.shows(from, person.address, '1000')
    return async () => {
      if (random.oneIn(2)) {
        const to = freshAddress()
        const { body, text } = await acts.payment(from, person, to, '1500')
        if (!body?.success) throw new Error(`a small payment was refused: ${text}`)
        const { transaction: id } = body
        return book.accept({
          product: 'unified balances',
          differs: async () => {
            const { status } = (await acts.http('GET', `/v1/x402/transfers/${id}`)).body
            return status === 'completed' ? undefined : `the small payment ${id} is ${status}`
          },
        })
      }
      const to = freshAddress()
      const recipient = `0x${to.slice(2).padStart(64, '0')}` as Hex
      const spec = specOf(from, into, person.address, { value: 250_000n, destinationRecipient: recipient })
      const { status, body, text } = await acts.transfer([await signedIntent(person, intentOf(spec))])
      if (status !== 201) throw new Error(`a transfer of a unified balance was refused: ${text}`)
      await acts.mint(into, body)
      return book.accept({
        product: 'unified balances',
        differs: async (facts) => {
          const { status: state } = await acts.state(body.transferId)
          return state === 'finalized'
            ? paidOnce(facts, to, 250_000n)
            : `the transfer ${body.transferId} is ${state}`
        },
      })
    }
  },
}
