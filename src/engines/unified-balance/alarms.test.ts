/** Alarms about transfers of unified balances, each by what causes it, and the end of it by its remedy. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openAsOwner, sql } from '#runtime/db/db'
import {
  intentOf,
  people,
  signedIntent,
  specOf,
  type UnifiedBalances,
  unifiedBalances,
} from '#testing/builders/unified-balances'
import { freshAddress } from '#testing/builders/world'
import { insertUnchecked } from '#testing/databases/rows-read'
import { countAlarm } from '#testing/platform/count-alarm'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

let harness: Harness
let unified: UnifiedBalances
beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'AVAX-FUJI'] })
  unified = unifiedBalances(harness)
})
afterAll(() => harness?.close())

const base = () => harness.chain('BASE-SEPOLIA')
const avax = () => harness.chain('AVAX-FUJI')
type Person = (typeof people)[0]
const [alice, bob, carol, dave, erin] = people as unknown as [Person, Person, Person, Person, Person]

/** Attests a transfer of one coin of three from one chain to the other. */
async function attested(depositor: Person) {
  await unified.fund(base(), depositor.address, 3_000_000n, '3')
  const { status, body } = await unified.transfer([
    await signedIntent(depositor, intentOf(specOf(base(), avax(), depositor.address))),
  ])
  expect([status, body.message]).toEqual([201, undefined])
  return body
}

const burned = (id: string) =>
  until(
    async () =>
      (await harness.database.maybe(
        sql`select 1 from unified_intents where transfer_id = ${id} and state <> 'burned'`,
      )) === undefined,
    'the transfer is burned',
  )

/** Takes away the entity that pays, and returns the function that sets it again. */
function withoutPayer(): () => Promise<void> {
  const { config } = harness.ctx
  const { crosschainEntity } = config
  Object.assign(config, { crosschainEntity: undefined })
  return async () => {
    Object.assign(config, { crosschainEntity })
    await base().mine()
  }
}

it('payments that no entity pays for, until one is set', async () => {
  const payer = people[6]!
  await unified.fund(base(), payer.address, 1_000_000n, '1')
  const raised = countAlarm('payments-unsettled')
  await harness.stopEngines()
  const answer = await unified.payment(base(), payer, freshAddress(), '250000')
  expect(answer.body).toMatchObject({ success: true })
  // Without one nothing more is accepted, and this payment is already.
  const restore = withoutPayer()
  harness.startEngines()
  await until(() => raised() > 0, 'the alarm is raised')
  await restore()
  await until(async () => {
    await base().mine()
    const { body } = await unified.http('GET', `/v1/x402/transfers/${answer.body.transaction}`)
    return body.status === 'completed'
  }, 'the payment is settled')
})

it('burns that no entity pays for, until one is set', async () => {
  const raised = countAlarm('burns-unpaid')
  const payAgain = withoutPayer()
  const transfer = await attested(alice)
  await unified.mint(avax(), transfer)
  await until(() => raised() > 0, 'the alarm is raised')
  await payAgain()
  await burned(transfer.transferId)
})

/** Attests a transfer whose depositor withdraws so much before the burn, and mints it. */
async function withdrawnMeanwhile(depositor: Person, withdrawnAtomic: bigint) {
  const payAgain = withoutPayer()
  const transfer = await attested(depositor)
  const token = base().tokens.USDC
  await unified.callWallet(base(), depositor.address, 'initiateWithdrawal', [token, withdrawnAtomic])
  await base().mine(25)
  await unified.callWallet(base(), depositor.address, 'withdraw', [token])
  await unified.mint(avax(), transfer)
  await unified.untilState(transfer.transferId, 'finalized')
  await payAgain()
  return transfer
}

it('a burn of less than was minted, because the depositor could withdraw meanwhile', async () => {
  const raised = countAlarm('burn-short')
  const { transferId } = await withdrawnMeanwhile(bob, 2_500_000n)
  await burned(transferId)
  expect(raised()).toBe(1)
})

it('a burn for which the depositor has nothing left, until the value is deposited for the account', async () => {
  const raised = countAlarm('burn-failed')
  const { transferId } = await withdrawnMeanwhile(erin, 3_000_000n)
  await until(() => raised() > 0, 'the alarm is raised')
  const failed = await harness.database.all<{ details: string }>(
    sql`select error_details as details from transactions where ref_id like 'burn %' and error_details is not null`,
  )
  expect(failed[0]!.details).toContain('NoRelevantBurnIntents')
  await unified.pay(base(), erin.address, 1_010_050n)
  harness.clock.moveMs(3_600_000)
  await base().mine()
  await burned(transferId)
})

it('a mint of a transfer that an older copy of the database does not have', async () => {
  const raised = countAlarm('mint-unknown')
  const { transferId, ...transfer } = await attested(carol)
  // As in a copy from before.
  const owner = openAsOwner(harness.connection)
  await insertUnchecked(
    owner,
    sql`with intents as (delete from unified_intents where transfer_id = ${transferId})
      delete from unified_transfers where id = ${transferId}`,
  )
  await owner.close()
  await unified.mint(avax(), transfer)
  await until(() => raised() > 0, 'the alarm is raised')
})

it('a mint of a transfer that had expired, on a chain that was rewound', async () => {
  const raised = countAlarm('mint-after-expiry')
  const snapshot = await avax().snapshot()
  const transfer = await attested(dave)
  await avax().mine(Number(transfer.expirationBlock) - (await avax().height()) + 1)
  await unified.untilState(transfer.transferId, 'expired')
  await unified.shows(base(), dave.address, '3')
  await avax().revert(snapshot)
  await unified.mint(avax(), transfer)
  await until(() => raised() > 0, 'the alarm is raised')
  await burned(transfer.transferId)
  await unified.shows(base(), dave.address, '1.98995')
})
