/** Transactions of several wallets are signed by one database transaction, and each wallet fares as if it were alone. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freeze, unfreeze } from '#custody/freezes/index'
import { sql } from '#runtime/db/db'
import { transferActions } from '#testing/builders/transfers'
import { freshAddress, type Wallet } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'

const soundTotal = 9
const transfersOfEach = 3

let harness: Harness
let on: ReturnType<typeof transferActions>

beforeAll(async () => {
  harness = await openHarness()
  on = transferActions(harness)
})
afterAll(() => harness?.close())

type Move = { wallet: Wallet; to: string; amountAtomic: bigint; id: string }

/** Requests transfers of different amounts, in turns between the wallets. */
async function transferInTurns(wallets: readonly Wallet[]): Promise<Move[]> {
  const moves: Move[] = []
  for (let turn = 0; turn < transfersOfEach; turn++)
    for (const wallet of wallets) {
      const to = freshAddress()
      const amountAtomic = BigInt(moves.length + 1)
      const amounts = [`0.${String(amountAtomic).padStart(6, '0')}`]
      moves.push({
        wallet,
        to,
        amountAtomic,
        id: await on.transfer(wallet, { destinationAddress: to, amounts }),
      })
    }
  return moves
}

it('a frozen wallet, one without coins and one without a grant delay none of the others that are signed with them', async () => {
  const funds = { usdc: '10', native: '1' }
  const sound = await Promise.all(Array.from({ length: soundTotal }, () => on.fundedWallet(funds)))
  const [frozen, broken, poor] = await Promise.all([
    on.fundedWallet(funds),
    on.fundedWallet(funds),
    on.fundedWallet({ usdc: '10' }),
  ])
  await harness.stopEngines()
  const [waiting, lost, unpaid] = [
    await on.transfer(frozen),
    await on.transfer(broken),
    await on.transfer(poor),
  ]
  const moves = await transferInTurns(sound)
  await harness.database.run(sql`delete from grants where intent_id = ${lost}`)
  const { ctx, entityId } = harness
  const scope = { db: ctx.database, clock: ctx.clock, actor: 'test' }
  await freeze(scope, { entityId, walletId: frozen.id })
  harness.startEngines()
  for (const { id } of moves) await on.reaches(id, 'COMPLETE')
  const { oracle, tokens } = harness.chain()
  for (const wallet of sound) {
    await oracle.checkNonces(wallet.address)
    expect(await oracle.transactions(wallet.address)).toHaveLength(transfersOfEach)
    expect(await on.held(wallet)).toBe(0n)
  }
  const token = tokens.USDC
  await oracle.checkMovedOnce(
    moves.map(({ wallet: { address: from }, to, amountAtomic }) => ({ from, to, token, amountAtomic })),
  )
  expect((await on.reaches(unpaid, 'FAILED')).errorReason).toBe('INSUFFICIENT_NATIVE_TOKEN')
  expect((await on.reaches(lost, 'FAILED')).errorReason).toBe('INTERNAL_ERROR')
  for (const wallet of [broken, poor]) {
    expect(await on.held(wallet)).toBe(0n)
    expect(await oracle.transactions(wallet.address)).toHaveLength(0)
  }
  expect(await on.attemptsOf(waiting)).toHaveLength(0)
  await unfreeze(scope, { entityId, walletId: frozen.id })
  await on.reaches(waiting, 'COMPLETE')
})
