import { beforeAll, describe, expect, it } from 'vitest'
import type { Failpoint } from '#runtime/scheduling/failpoints'
import { until } from '#testing/platform/until'
import { drawn, drawnTests } from '#testing/runner/drawn'
import { untilBooksAgree } from './payments.ts'
import type { FamilyPlatform, FamilyWallet, TransferWish } from './platform.ts'

/** The failpoints between the decision who pays and the block that has the fee. */
const ofPayment: readonly Failpoint[] = [
  'before-signature',
  'after-signature',
  'after-attempt-commit',
  'before-send-answer',
  'before-block-commit',
]

/** The treasury of an entity pays the fees of wallets that lack the coins. */
export function describeFeePayers(run: () => FamilyPlatform, replaces: boolean): void {
  describe('property 228: wallets without native coins', () => {
    let treasury: string
    let wallet: FamilyWallet
    const drawnIt = drawnTests(2, 4)
    const wishOf = (from: FamilyWallet, amount: string): TransferWish => {
      return { from, to: run().family.stranger(), amount }
    }

    /** A wallet that has 100 USDC and nothing else. */
    async function walletWithoutCoins(): Promise<FamilyWallet> {
      const { family, usdc, newWallets, balances } = run()
      const [made] = await newWallets(1)
      await family.send(made!.address, 100_000_000n, usdc.address)
      await until(async () => (await balances(made!))[usdc.id] === '100', 'the coins are booked')
      return made!
    }

    const atChain = (address: string) => run().family.balanceOf(address)

    /** Runs a payment, and checks that the treasury paid its fee, as shown, and the wallet none; `besides`: what else it paid. */
    async function expectTreasuryPays(
      pay: () => Promise<string>,
      besides = run().family.newHolderAtomic,
    ): Promise<void> {
      const before = await atChain(treasury)
      const id = await pay()
      const { networkFee } = await run().read(id)
      const [whole = '0', fraction = ''] = String(networkFee).split('.')
      const shown = BigInt(whole + fraction.padEnd(run().native.decimals, '0'))
      expect(shown).toBeGreaterThan(0n)
      const fee = shown + besides
      expect(before - (await atChain(treasury))).toBe(fee)
      expect(await atChain(wallet.address)).toBe(0n)
      await untilBooksAgree(run(), wallet)
      await until(async () => (await run().bookedCoins(treasury)) === before - fee, 'the treasury is booked')
      expect(await run().heldCoins(treasury)).toBe(0n)
    }

    async function completes(wish: TransferWish): Promise<string> {
      const { transfer, reaches, expectPaid } = run()
      const id = await transfer(wish)
      await reaches(id, 'COMPLETE')
      await expectPaid(id, wish)
      return id
    }

    /** A payment that ended while the treasury had no coins either. */
    let unpaid: { errorReason: string; errorDetails: string }
    beforeAll(async () => {
      const { family, transfer, reaches, read, bookedCoins, plenty } = run()
      wallet = await walletWithoutCoins()
      const id = await transfer(wishOf(wallet, '1'))
      await reaches(id, 'FAILED')
      unpaid = await read(id)
      treasury = / treasury (\S+),/.exec(unpaid.errorDetails)![1]!
      await family.send(treasury, plenty)
      await until(async () => (await bookedCoins(treasury)) === plenty, 'the treasury is funded')
    })

    it('cannot pay while the treasury has none, and their payments fail with its address', () => {
      expect(unpaid).toMatchObject({
        errorReason: 'INSUFFICIENT_NATIVE_TOKEN',
        errorDetails: expect.stringContaining(wallet.address),
      })
    })

    it('pay tokens for an estimated fee, at the cost of the treasury', async () => {
      await expectTreasuryPays(async () => {
        const wish = wishOf(wallet, '2.5')
        const { walletId, tokenId, amounts, destinationAddress } = run().bodyOf(wish)
        const asked = { walletId, tokenId, amounts, destinationAddress }
        const tiers = await run().call('POST', '/v1/w3s/transactions/transfer/estimateFee', asked)
        const id = await completes(wish)
        expect(Number((await run().read(id)).networkFee)).toBeLessThanOrEqual(Number(tiers.medium.networkFee))
        return id
      })
    })

    it('pay all that they have of the native coin', async () => {
      const { family, native, balances } = run()
      const { decimals, id: tokenId } = native
      await family.send(wallet.address, 10n ** BigInt(decimals - 1))
      await until(async () => (await balances(wallet))[tokenId] === '0.1', 'the coins are booked')
      await expectTreasuryPays(() => completes({ ...wishOf(wallet, '0.1'), tokenId }), 0n)
    })

    it('pay their own fees as soon as they can', async () => {
      const { native, fundedWallet } = run()
      const rich = await fundedWallet()
      const before = await atChain(treasury)
      await completes({ ...wishOf(rich, '0.1'), tokenId: native.id })
      await untilBooksAgree(run(), rich)
      expect(await atChain(treasury)).toBe(before)
    })

    const atHigherPrice = async () => {
      const { family, transfer, reaches, control, read, expectPaid } = run()
      await expectTreasuryPays(async () => {
        const wish = wishOf(wallet, '3')
        await family.blocks.hold()
        const id = await transfer(wish)
        await reaches(id, 'SENT')
        const first = (await read(id)).txHash
        await control(id, 'accelerate')
        await until(async () => {
          const { txHash } = await read(id)
          return txHash !== first && (await family.node.isPending(txHash))
        }, 'the pool has the dearer one')
        await family.blocks.release()
        await reaches(id, 'COMPLETE')
        await expectPaid(id, wish)
        return id
      })
    }
    if (replaces) drawnIt('pay once at a higher price, which the treasury pays too', atHigherPrice)

    drawnIt('pay several at once, each for its own fee', async () => {
      const { family, transfer, reaches, expectPaid, read, native } = run()
      const wallets = [wallet, await walletWithoutCoins(), await walletWithoutCoins()]
      const before = await atChain(treasury)
      const wishes = [...wallets, ...wallets].map((from, index) => wishOf(from, `1.${index}5`))
      await family.blocks.hold()
      const ids = await Promise.all(wishes.map(transfer))
      for (const id of ids) await reaches(id, 'SENT')
      await family.blocks.release()
      let fees = 0n
      for (const [index, id] of ids.entries()) {
        await reaches(id, 'COMPLETE')
        await expectPaid(id, wishes[index]!)
        fees += BigInt(Math.round(Number((await read(id)).networkFee) * 10 ** native.decimals))
      }
      const holders = BigInt(ids.length) * family.newHolderAtomic
      expect(before - (await atChain(treasury))).toBe(fees + holders)
    })

    drawnIt('pay once though the worker dies on the way', async () => {
      for (const point of drawn(ofPayment, 1))
        await expectTreasuryPays(async () => {
          const wish = wishOf(wallet, '1.25')
          await run().worker().arm({ point, hit: 1, action: 'kill' })
          const id = await run().transfer(wish)
          await run().worker().exited
          await run().begin()
          await run().reaches(id, 'COMPLETE')
          await run().expectPaid(id, wish)
          return id
        })
    })

    drawnIt(
      'pay once when what was sent expired, and cancel at its cost where that is possible',
      async () => {
        const { family, transfer, reaches, control, expectPaid, read, usdc } = run()
        const lifetimes = family.lifetimes!
        const lost = async (amount: string) => {
          const wish = wishOf(wallet, amount)
          await family.blocks.hold()
          family.node.loseTransactions(true)
          const id = await transfer(wish)
          await reaches(id, 'SENT')
          return { id, wish, first: (await read(id)).txHash as string }
        }
        const die = async ({ id, first }: { id: string; first: string }) => {
          await lifetimes.passAll()
          await until(async () => (await read(id)).txHash !== first, 'other bytes are signed')
          family.node.loseTransactions(false)
          await family.blocks.release()
        }
        await expectTreasuryPays(async () => {
          const sent = await lost('2')
          await die(sent)
          await reaches(sent.id, 'COMPLETE')
          await expectPaid(sent.id, sent.wish)
          return sent.id
        })
        if (!replaces) return
        await expectTreasuryPays(async () => {
          const sent = await lost('4')
          await control(sent.id, 'cancel')
          await die(sent)
          await reaches(sent.id, 'CANCELLED')
          expect(await family.balanceOf(sent.wish.to, usdc.address)).toBe(0n)
          return sent.id
        }, 0n)
      },
    )
  })
}
