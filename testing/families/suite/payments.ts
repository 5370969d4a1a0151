import { beforeAll, describe, expect, it } from 'vitest'
import { until } from '#testing/platform/until'
import type { FamilyPlatform, FamilyWallet } from './platform.ts'

type Listed = { id: string; txHash: string; state: string; amounts: string[]; sourceAddress?: string }

/** Payments that wallets receive, as the list shows them. */
const receivedOf = async ({ call }: FamilyPlatform, { id }: FamilyWallet): Promise<Listed[]> =>
  (await call('GET', `/v1/w3s/transactions?walletIds=${id}&txType=INBOUND`)).transactions

/** Waits for the payment with this hash to be complete, and checks that it is listed once. */
export async function untilReceived(run: FamilyPlatform, wallet: FamilyWallet, txHash: string) {
  let found: Listed[] = []
  await until(async () => {
    await run.family.blocks.mine()
    found = (await receivedOf(run, wallet)).filter((each) => each.txHash === txHash)
    return found[0]?.state === 'COMPLETE'
  }, `${txHash} is received`)
  expect(found).toHaveLength(1)
  return found[0]!
}

/** Waits until the books have what the chain has of both coins, to the base unit. */
export const untilBooksAgree = (run: FamilyPlatform, wallet: FamilyWallet) =>
  until(async () => {
    const { family, usdc, native } = run
    const shown = await run.balances(wallet)
    for (const [{ id, decimals }, address] of [
      [usdc, usdc.address],
      [native, undefined],
    ] as const) {
      const [whole = '0', fraction = ''] = (shown[id] ?? '0').split('.')
      const booked = BigInt(whole + fraction.padEnd(decimals, '0'))
      if (booked !== (await family.balanceOf(wallet.address, address))) return false
    }
    return true
  }, 'the books agree with the chain')

/** Creates wallets, receives and pays. */
export function describePayments(run: () => FamilyPlatform): void {
  describe('payments', () => {
    let wallet: FamilyWallet
    beforeAll(async () => {
      wallet = await run().fundedWallet()
    })

    it('creates wallets with addresses of their own, and shows and lists them with these', async () => {
      const { newWallets, call, family } = run()
      const made = await newWallets(2)
      expect(new Set(made.map(({ address }) => address)).size).toBe(2)
      const { blockchain } = family.network
      const { wallets } = await call('GET', `/v1/w3s/wallets?blockchain=${blockchain}&pageSize=50`)
      for (const { id, address } of made) {
        expect(wallets).toContainEqual(expect.objectContaining({ id, address, blockchain }))
        expect((await call('GET', `/v1/w3s/wallets/${id}`)).wallet).toMatchObject({ address, blockchain })
        const { isValid } = await call('POST', '/v1/w3s/transactions/validateAddress', {
          blockchain,
          address,
        })
        expect(isValid).toBe(true)
      }
    })

    it('receives each payment once, of coins and of tokens', async () => {
      const { family, usdc, native, balances, newWallets } = run()
      const [own] = await newWallets(1)
      // Two that are equal are two payments.
      const hashes = [
        await family.send(own!.address, 1_500_000n, usdc.address),
        await family.send(own!.address, 1_500_000n, usdc.address),
        await family.send(own!.address, 10n ** BigInt(native.decimals - 1)),
      ]
      const amounts: string[] = []
      for (const hash of hashes) amounts.push((await untilReceived(run(), own!, hash)).amounts[0]!)
      expect(amounts).toEqual(['1.5', '1.5', '0.1'])
      expect(await balances(own!)).toEqual({ [usdc.id]: '3', [native.id]: '0.1' })
    })

    it('pays coins and tokens once, for no more than was estimated, and books the fees', async () => {
      const { family, native, transfer, reaches, expectPaid, call, read } = run()
      const wishes = [
        { from: wallet, to: family.stranger(), amount: '2.5' },
        { from: wallet, to: family.stranger(), amount: '0.01', tokenId: native.id },
      ]
      for (const wish of wishes) {
        const { walletId, tokenId, amounts, destinationAddress } = run().bodyOf(wish)
        const asked = { walletId, tokenId, amounts, destinationAddress }
        const tiers = await call('POST', '/v1/w3s/transactions/transfer/estimateFee', asked)
        const fees = ['low', 'medium', 'high'].map((tier) => Number(tiers[tier].networkFee))
        expect(fees).toEqual([...fees].sort((one, other) => one - other))
        expect(fees[0]).toBeGreaterThan(0)
        const id = await transfer(wish)
        await reaches(id, 'COMPLETE')
        await expectPaid(id, wish)
        expect(Number((await read(id)).networkFee)).toBeLessThanOrEqual(fees[1]!)
      }
      await untilBooksAgree(run(), wallet)
    })

    it('pays equal transfers that wait for one block each once', async () => {
      const { family, usdc, transfer, reaches } = run()
      const to = family.stranger()
      await family.blocks.hold()
      const ids = [0, 1, 2].map(() => transfer({ from: wallet, to, amount: '0.75' }))
      for (const id of ids) await reaches(await id, 'SENT')
      await family.blocks.release()
      for (const id of ids) await reaches(await id, 'COMPLETE')
      expect(await family.balanceOf(to, usdc.address)).toBe(2_250_000n)
    })

    it('pays once what its node took without an answer', async () => {
      const { family, transfer, reaches, expectPaid } = run()
      const wish = { from: wallet, to: family.stranger(), amount: '0.25' }
      family.node.dropAnswers('of submissions')
      const id = await transfer(wish)
      await reaches(id, 'COMPLETE')
      family.node.dropAnswers('none')
      await expectPaid(id, wish)
    })

    it('agrees with the chain at a place of it, and has no gap', async () => {
      const { family, call } = run()
      const { blockchain } = family.network
      await untilBooksAgree(run(), wallet)
      const comparedTo = async () =>
        (await call('GET', '/operator/overview')).proof.blockNumberByBlockchain[blockchain] ?? 0
      const before = await comparedTo()
      await untilReceived(run(), wallet, await family.send(wallet.address, 7n, run().usdc.address))
      await until(async () => (await comparedTo()) > before, 'the books are compared')
      expect(await call('GET', `/operator/reconciliations?blockchain=${blockchain}`)).toEqual([])
    })
  })
}

/** Transactions that wait are replaced by dearer ones with their nonces. */
export function describeReplacement(run: () => FamilyPlatform): void {
  describe('replacements', () => {
    it('raises the price of what waits, and pays it once', async () => {
      const { family, transfer, reaches, expectPaid, read, control, fundedWallet } = run()
      const wish = { from: await fundedWallet(), to: family.stranger(), amount: '0.5' }
      await family.blocks.hold()
      const id = await transfer(wish)
      await reaches(id, 'SENT')
      const first = (await read(id)).txHash
      // A replacement of now would expire later.
      await family.lifetimes?.passSome?.()
      await control(id, 'accelerate')
      await until(async () => {
        const { txHash } = await read(id)
        return txHash !== first && (await family.node.isPending(txHash))
      }, 'the pool has the dearer one')
      expect(await family.node.isPending(first)).toBe(false)
      await family.blocks.release()
      await reaches(id, 'COMPLETE')
      await expectPaid(id, wish)
    })
  })
}
