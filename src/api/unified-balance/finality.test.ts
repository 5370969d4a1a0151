import { afterAll, beforeAll, expect, it } from 'vitest'
import { knownCrosschainAddresses } from '#chains/evm/crosschain/index'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { sql } from '#runtime/db/db'
import { alarmCounts } from '#runtime/log/alarms'
import { issuerAccount } from '#sandbox/constants'
import {
  intentOf,
  people,
  signedIntent,
  specOf,
  type UnifiedBalances,
  unifiedBalances,
  wallet,
} from '#testing/builders/unified-balances'
import { followedMining } from '#testing/nodes/followed-mining'
import { type Harness, openHarness } from '#testing/platform/harness'
import { mineUntil, until } from '#testing/platform/until'

/* BASE-SEPOLIA waits for finality as a public chain does; AVAX-FUJI is final at once. */
let harness: Harness
let unified: UnifiedBalances
beforeAll(async () => {
  harness = await openHarness({
    blockchains: ['BASE-SEPOLIA', 'AVAX-FUJI'],
    node: async ({ blockchain }) =>
      blockchain === 'BASE-SEPOLIA'
        ? { local: false, crosschain: knownCrosschainAddresses(baseSepolia) }
        : {},
  })
  unified = unifiedBalances(harness)
})
afterAll(() => harness?.close())

const base = () => harness.chain('BASE-SEPOLIA')
const avax = () => harness.chain('AVAX-FUJI')
const [alice, bob, carol] = people as unknown as [(typeof people)[0], (typeof people)[0], (typeof people)[0]]

const pending = async (depositor: string) =>
  (await unified.http('POST', '/v1/deposits', { body: { token: 'USDC', sources: [{ depositor }] } })).body
    .deposits

it('property 105: a deposit is pending until its block is final, and counts once', async () => {
  const hash = await unified.pay(base(), alice.address, 5_000_000n)
  await until(async () => (await pending(alice.address)).length === 1, 'the deposit is pending')
  expect(await pending(alice.address)).toEqual([
    {
      depositor: alice.address,
      domain: 6,
      transactionHash: hash,
      amount: '5000000',
      status: 'pending',
      blockHeight: String(await base().height()),
      blockHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      blockTimestamp: expect.stringMatching(/Z$/),
    },
  ])
  expect(await unified.balance(base(), alice.address)).toBe('0')
  const body = [await signedIntent(alice, intentOf(specOf(base(), avax(), alice.address)))]
  expect((await unified.transfer(body)).body.code).toBe(178001)
  const mine = followedMining(harness, base())
  await mineUntil(mine, async () => (await unified.balance(base(), alice.address)) === '5', 'it counts')
  expect(await pending(alice.address)).toEqual([])
  expect((await unified.transfer(body)).status).toBe(201)
})

it('property 105: a withdrawal counts at once, even of a deposit that does not', async () => {
  await unified.pay(base(), bob.address, 4_000_000n)
  await unified.callWallet(base(), bob.address, 'initiateWithdrawal', [base().tokens.USDC, 3_000_000n])
  const mine = followedMining(harness, base())
  await until(async () => (await pending(bob.address)).length === 1, 'the deposit is pending')
  await mineUntil(mine, async () => (await pending(bob.address)).length === 0, 'the deposit counts')
  expect(await unified.balance(base(), bob.address)).toBe('1')
})

it('a mint whose block is lost can be made again, and is burned once', async () => {
  await unified.fund(avax(), carol.address, 5_000_000n, '5')
  const { body } = await unified.transfer([
    await signedIntent(carol, intentOf(specOf(avax(), base(), carol.address))),
  ])
  await unified.mint(base(), body)
  await unified.untilState(body.transferId, 'confirmed')
  await base().reorg(1)
  await base().mine()
  await unified.untilState(body.transferId, 'pending')
  expect(await unified.tokens(base(), carol.address)).toBe(0n)
  await unified.mint(base(), body)
  expect(await unified.tokens(base(), carol.address)).toBe(1_000_000n)
  const state = async () => (await unified.state(body.transferId)).status
  await mineUntil(followedMining(harness, base()), async () => (await state()) === 'finalized', 'it is final')
  await unified.shows(avax(), carol.address, '3.97995')
})

it('a burn that its chain refuses raises an alarm, and is made when that ends', async () => {
  const asIssuer = async (data: `0x${string}`) => {
    await avax().rpc('anvil_impersonateAccount', [issuerAccount.address])
    await unified.send(avax(), issuerAccount.address, wallet, data)
  }
  // The burns of the tests before change the supply too.
  const burned = async () => {
    const { left } = await harness.database.one<{ left: number }>(
      sql`select count(*)::integer as left from unified_intents i join unified_transfers t on t.id = i.transfer_id
        where i.state = 'reserved' and t.state in ('confirmed', 'finalized')`,
    )
    return left === 0
  }
  await mineUntil(avax(), burned, 'earlier transfers are burned')
  const { body } = await unified.transfer([
    await signedIntent(carol, intentOf(specOf(avax(), avax(), carol.address))),
  ])
  const before = alarmCounts().get('burn-failed')!
  const supply = await unified.supply(avax())
  await asIssuer('0x8456cb59')
  await unified.mint(avax(), body)
  await mineUntil(avax(), () => alarmCounts().get('burn-failed')! > before, 'the burn is refused')
  await asIssuer('0x3f4ba83a')
  await until(async () => {
    harness.clock.moveMs(60_000)
    const { done } = await harness.database.one<{
      done: boolean
    }>(sql`select bool_and(state = 'burned') as done
      from unified_intents where transfer_id = ${body.transferId}`)
    return done
  }, 'the burn is made')
  expect(await unified.supply(avax())).toBe(supply)
})
