import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { untilReceived } from './payments.ts'
import type { FamilyPlatform, FamilyWallet } from './platform.ts'

/** Rules of the entity about whom its wallets pay and how much, and lists of screening. */
export function describeControls(run: () => FamilyPlatform): void {
  describe('controls', () => {
    let wallet: FamilyWallet
    beforeAll(async () => {
      wallet = await run().fundedWallet()
    })

    it('signs only what the policy of the wallet allows by address and by amount', async () => {
      const { family, call, usdc, askTransfer, reaches, expectPaid } = run()
      const { blockchain } = family.network
      const [friend, other] = [family.stranger(), family.stranger()]
      const token = `${blockchain}:${usdc.address}`
      await call('POST', '/operator/policies', {
        subjectId: wallet.id,
        rules: {
          mode: 'rules',
          operations: ['transfer'],
          destinations: [`${blockchain}:${friend}`],
          tokens: [token],
          limits: [{ tokens: [token], perTransactionAtomic: '2000000' }],
        },
      })
      const allowed = { from: wallet, to: friend, amount: '2' }
      for (const denied of [
        { ...allowed, to: other },
        { ...allowed, amount: '2.000001' },
        { ...allowed, amount: '0.001', tokenId: run().native.id },
      ]) {
        const { status, body, text } = await askTransfer(denied)
        expect([status, body.code], text).toEqual([403, 155900])
      }
      const { status, body, text } = await askTransfer(allowed)
      expect(status, text).toBe(201)
      await reaches(body.data.id, 'COMPLETE')
      await expectPaid(body.data.id, allowed)
      expect(await family.balanceOf(other, usdc.address)).toBe(0n)
    })
  })

  describe('screening', () => {
    let wallet: FamilyWallet
    let listed: string | undefined
    beforeAll(async () => {
      wallet = await run().fundedWallet()
    })
    afterEach(async () => {
      if (listed) await run().unblock(listed)
      listed = undefined
    })
    const block = (address: string) => {
      listed = address
      return run().block(address)
    }

    it('denies what goes to a listed address, and pays nothing', async () => {
      const { family, usdc, transfer, reaches, read } = run()
      const to = family.stranger()
      await block(to)
      const id = await transfer({ from: wallet, to, amount: '1' })
      await reaches(id, 'DENIED')
      const { transactionScreeningEvaluation } = await read(id)
      expect(transactionScreeningEvaluation.actions).toContain('DENY')
      expect(transactionScreeningEvaluation.reasons).toContainEqual(
        expect.objectContaining({ sourceValue: to }),
      )
      expect(await family.balanceOf(to, usdc.address)).toBe(0n)
    })

    it('holds what comes from a listed address until an operator approves it', async () => {
      const { family, usdc, http, call, newWallets, askTransfer, expectPaid, reaches } = run()
      const [own] = await newWallets(1)
      await untilReceived(run(), own!, await family.send(own!.address, family.plentyAtomic))
      await block(family.outsider)
      const { id } = await untilReceived(
        run(),
        own!,
        await family.send(own!.address, 1_000_000n, usdc.address),
      )
      const reviews = (await call('GET', '/operator/reviews')) as { id: string; state: string }[]
      expect(reviews.find((review) => review.id === id)?.state).toBe('pending')
      const wish = { from: own!, to: family.stranger(), amount: '1' }
      expect((await askTransfer(wish)).body.code).toBe(155201)
      await http('POST', `/operator/reviews/${id}/approve`, { body: { reason: 'the sender is known' } })
      const { body, text } = await askTransfer(wish)
      expect(body.data?.id, text).toBeDefined()
      await reaches(body.data.id, 'COMPLETE')
      await expectPaid(body.data.id, wish)
    })
  })
}
