import { beforeAll, describe, expect, it } from 'vitest'
import type { Failpoint } from '#runtime/scheduling/failpoints'
import { until } from '#testing/platform/until'
import { drawn, drawnTests } from '#testing/runner/drawn'
import type { FamilyPlatform, FamilyWallet } from './platform.ts'

/** The failpoints of bytes that are made again. */
const ofRemaking: readonly Failpoint[] = [
  'before-signature',
  'before-replacement-send',
  'before-send',
  'before-send-answer',
]

/** A wallet whose transfers expire. */
function expiringWallet(run: () => FamilyPlatform) {
  let wallet: FamilyWallet
  beforeAll(async () => {
    wallet = await run().fundedWallet()
  })
  const hashOf = async (id: string): Promise<string> => (await run().read(id)).txHash
  const wish = (amount: string) => ({ from: wallet, to: run().family.stranger(), amount })
  return {
    chain: () => run().family.lifetimes!,
    wish,
    hashOf,
    /** A transfer that the node says to have taken, and lost; no block comes by itself. */
    lost: async (amount: string) => {
      const { family, transfer, reaches } = run()
      const wanted = wish(amount)
      await family.blocks.hold()
      family.node.loseTransactions(true)
      const id = await transfer(wanted)
      await reaches(id, 'SENT')
      return { id, wanted, first: await hashOf(id) }
    },
    othersAreSigned: (id: string, first: string) =>
      until(async () => (await hashOf(id)) !== first, 'other bytes are signed'),
  }
}

/** Transactions that expire end by blocks that the program has read, and by nothing that a node says. */
export function describeExpiry(run: () => FamilyPlatform): void {
  describe('property 218: a transaction that expires', () => {
    const { chain, wish, hashOf, lost, othersAreSigned } = expiringWallet(run)
    const drawnIt = drawnTests(1, 3)

    drawnIt(
      'is made again and paid once when the node lost it: dead by a block after its expiry, and not before',
      async () => {
        const { family, reaches, expectPaid } = run()
        const { id, wanted, first } = await lost('3')
        await chain().passMost()
        // By the clock of the chain alone, and before its block: nothing is dead.
        chain().passClock?.()
        family.node.loseTransactions(false)
        chain().refuse('expired')
        await untilSentAgain()
        expect(await hashOf(id)).toBe(first)
        chain().refuse('nothing')
        await chain().passAll()
        await othersAreSigned(id, first)
        await family.blocks.release()
        await reaches(id, 'COMPLETE')
        await expectPaid(id, wanted)
      },
    )

    drawnIt(
      'was paid when a block took it just before its expiry, though its node says that it has expired',
      async () => {
        const { family, transfer, reaches, expectPaid } = run()
        const wanted = wish('4')
        await family.blocks.hold()
        const id = await transfer(wanted)
        await reaches(id, 'SENT')
        const first = await hashOf(id)
        chain().refuse('expired')
        await untilSentAgain()
        family.node.dropAnswers('all')
        await chain().passMost()
        await family.blocks.mine()
        await chain().passAll()
        chain().refuse('nothing')
        family.node.dropAnswers('none')
        await family.blocks.release()
        await reaches(id, 'COMPLETE')
        expect(await hashOf(id)).toBe(first)
        await expectPaid(id, wanted)
      },
    )

    drawnIt('is paid once though its worker dies while it makes other bytes', async () => {
      for (const point of drawn(ofRemaking, 1)) await diesAt(point)
    })

    async function diesAt(point: Failpoint): Promise<void> {
      const { family, reaches, expectPaid, worker, begin } = run()
      const { id, wanted } = await lost('7')
      await worker().arm({ point, hit: 1, action: 'kill' })
      await chain().passAll()
      await worker().exited
      family.node.loseTransactions(false)
      await family.blocks.release()
      await begin()
      await reaches(id, 'COMPLETE')
      await expectPaid(id, wanted)
    }

    /** Waits until the node was asked again to take bytes of the program. */
    async function untilSentAgain(): Promise<void> {
      const before = run().family.node.submissions()
      await until(() => run().family.node.submissions() > before, 'the bytes are sent again')
    }
  })
}

/** The same where no later nonce is used before: something takes the nonce of what is dead, or is not wanted any more. */
export function describeExpiryInOrder(run: () => FamilyPlatform): void {
  describe('property 218: a transaction that expires, with a nonce that others wait for', () => {
    const { chain, wish, hashOf, lost, othersAreSigned } = expiringWallet(run)
    const drawnIt = drawnTests(0, 3)

    drawnIt('is cancelled only when it is dead, and moves nothing then', async () => {
      const { family, usdc, reaches, control } = run()
      const { id, wanted, first } = await lost('5')
      await control(id, 'cancel')
      await family.blocks.mine()
      expect(await hashOf(id)).toBe(first)
      await chain().passAll()
      await othersAreSigned(id, first)
      family.node.loseTransactions(false)
      await family.blocks.release()
      await reaches(id, 'CANCELLED')
      expect(await family.balanceOf(wanted.to, usdc.address)).toBe(0n)
    })

    drawnIt('fails when its node refuses it, and what follows is paid once that is dead', async () => {
      const { family, usdc, transfer, reaches, read, expectPaid } = run()
      const [refused, next] = [wish('5'), wish('6')]
      await family.blocks.hold()
      chain().refuse('for good')
      const id = await transfer(refused)
      await reaches(id, 'FAILED')
      expect((await read(id)).errorReason).toBe('GAS_LIMIT_TOO_LOW')
      chain().refuse('nothing')
      const nextId = await transfer(next)
      await reaches(nextId, 'SENT')
      await family.blocks.release()
      await chain().passAll()
      await reaches(nextId, 'COMPLETE')
      await expectPaid(nextId, next)
      expect(await family.balanceOf(refused.to, usdc.address)).toBe(0n)
    })

    drawnIt('waits for coins when it is dead and its wallet cannot pay for other bytes', async () => {
      const { family, usdc, transfer, reaches, heldCoins, newWallets, balances, worker, expectPaid } = run()
      await family.blocks.hold()
      const usual = await transfer(wish('8'))
      await reaches(usual, 'SENT')
      const feeMax = await heldCoins(wish('8').from.address)
      await family.blocks.release()
      await reaches(usual, 'COMPLETE')
      // Other bytes for the nonce cost a tenth more.
      const [poor] = await newWallets(1)
      await family.send(poor!.address, feeMax + feeMax / 20n)
      await family.send(poor!.address, 100_000_000n, usdc.address)
      await until(async () => (await balances(poor!))[usdc.id] === '100', 'the coins are booked')
      const wanted = { ...wish('9'), from: poor! }
      await family.blocks.hold()
      family.node.loseTransactions(true)
      const id = await transfer(wanted)
      await reaches(id, 'SENT')
      await chain().passAll()
      await until(() => worker().logged().includes('"alarm":"price-out-of-reach"'), 'the alarm is raised')
      family.node.loseTransactions(false)
      await family.blocks.release()
      await family.send(poor!.address, run().plenty)
      await reaches(id, 'COMPLETE')
      await expectPaid(id, wanted)
    })
  })
}

/** A nonce that another holder of the key used leaves the transaction to another one. */
export function describeDisplacement(run: () => FamilyPlatform): void {
  describe('property 225: a transaction whose nonce was used outside', () => {
    it('gets another nonce when the other one is final, and is paid once', async () => {
      const { family, transfer, reaches, expectPaid, read } = run()
      const wallet = await run().fundedWallet()
      const wish = { from: wallet, to: family.stranger(), amount: '2' }
      await family.blocks.hold()
      family.node.loseTransactions(true)
      const id = await transfer(wish)
      await reaches(id, 'SENT')
      const first = (await read(id)).txHash
      await family.displace!(wallet.address)
      family.node.loseTransactions(false)
      await family.blocks.release()
      await until(async () => {
        await family.blocks.mine()
        const { txHash, state } = await read(id)
        return state === 'COMPLETE' && txHash !== first
      }, 'it is paid with another nonce')
      await expectPaid(id, wish)
    })
  })
}
