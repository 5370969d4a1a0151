/** Deliveries that burns ask this server for: who pays for them, and which are made. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { forwardHookData } from '#chains/crosschain/forward-hook'
import { confirmedThreshold } from '#chains/crosschain/message'
import { openAsOwner, sql } from '#runtime/db/db'
import { burner, type CrosschainMessages, crosschainMessages, type Hex } from '#testing/builders/burns'
import { freshAddress } from '#testing/builders/world'
import { sendAsIssuer } from '#testing/nodes/issuer'
import type { TestChain } from '#testing/platform/chain'
import { countAlarm } from '#testing/platform/count-alarm'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

let harness: Harness
let messages: CrosschainMessages
let base: TestChain
let avalanche: TestChain
beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'AVAX-FUJI'] })
  messages = crosschainMessages(harness)
  base = harness.chain('BASE-SEPOLIA')
  avalanche = harness.chain('AVAX-FUJI')
})
afterAll(() => harness?.close())

const asked = { maxFee: 300_000n, hookData: forwardHookData }

/** Does the work while no entity is set that pays for deliveries. */
async function withoutPayer<Result>(work: () => Promise<Result>): Promise<Result> {
  const { config } = harness.ctx
  const { crosschainEntity } = config
  Object.assign(config, { crosschainEntity: undefined })
  return work().finally(() => Object.assign(config, { crosschainEntity }))
}

/** Deliveries follow each other, so that one before another was decided on before it. */
async function deliverAnother(): Promise<void> {
  const hash = await messages.burn(base, avalanche, asked)
  await messages.messageWhen(base, hash, ({ forwardState }) => forwardState === 'COMPLETE')
}

it('property 104: a burn that allows no fee for its delivery is attested, and not delivered by this server', async () => {
  const to = freshAddress() as Hex
  const hash = await messages.burn(base, avalanche, { ...asked, to, maxFee: 199_999n })
  const message = await messages.attested(base, hash)
  await deliverAnother()
  expect(await messages.usdcOf(avalanche, to)).toBe(0n)
  expect(await messages.messageWhen(base, hash, () => true)).toMatchObject({ forwardState: 'FAILED' })
  expect((await messages.deliver(avalanche, message)).ok).toBe(true)
  expect(await messages.usdcOf(avalanche, to)).toBe(10_000_000n)
  await messages.messageWhen(base, hash, ({ forwardState }) => forwardState === 'COMPLETE')
})

it('property 104: a further attestation takes the fee for the delivery too', async () => {
  const raised = countAlarm('deliveries-unpaid')
  const to = freshAddress() as Hex
  const hash = await withoutPayer(async () => {
    const sent = await messages.burn(base, avalanche, { ...asked, to, threshold: confirmedThreshold })
    const { eventNonce } = await messages.attested(base, sent)
    expect((await messages.reattest(eventNonce)).status).toBe(200)
    const endless = await messages.messageWhen(
      base,
      sent,
      ({ decodedMessage }) => decodedMessage.decodedMessageBody.expirationBlock === '0',
    )
    expect(endless.decodedMessage.decodedMessageBody.feeExecuted).toBe('200000')
    await until(() => raised() > 0, 'the alarm is raised')
    return sent
  })
  await messages.messageWhen(base, hash, ({ forwardState }) => forwardState === 'COMPLETE')
  expect(await messages.usdcOf(avalanche, to)).toBe(9_800_000n)
})

it('property 104: a message that one account alone may deliver is left to it', async () => {
  const to = freshAddress() as Hex
  const hash = await messages.burn(base, avalanche, { ...asked, to, destinationCaller: burner })
  const message = await messages.attested(base, hash)
  expect(message.decodedMessage.decodedMessageBody.feeExecuted).toBe('0')
  expect(message).not.toHaveProperty('forwardState')
  expect((await messages.deliver(avalanche, message, avalanche.outsider)).ok).toBe(false)
  expect((await messages.deliver(avalanche, message)).ok).toBe(true)
  expect(await messages.usdcOf(avalanche, to)).toBe(10_000_000n)
})

it('property 104: a burn that left the chain after its attestation is not delivered', async () => {
  const to = freshAddress() as Hex
  const options = { ...asked, to, threshold: confirmedThreshold }
  const burnIt = await messages.prepareBurn(base, avalanche, options)
  const hash = await withoutPayer(async () => {
    const snapshot = await base.snapshot()
    const sent = await burnIt()
    await messages.attested(base, sent)
    await base.revert(snapshot)
    await base.mine()
    await until(
      async () =>
        (await harness.database.maybe(
          sql`select from messages where tx_hash = ${sent} and block_hash is not null`,
        )) === undefined,
      'the burn is in no block',
    )
    return sent
  })
  await deliverAnother()
  expect(await messages.usdcOf(avalanche, to)).toBe(0n)
  expect(await messages.messageWhen(base, hash, () => true)).toMatchObject({ forwardState: 'PENDING' })
})

it('property 104: a delivery that waited until its attestation ended gets one without an end', async () => {
  const to = freshAddress() as Hex
  const hash = await withoutPayer(async () => {
    const sent = await messages.burn(base, avalanche, { ...asked, to, threshold: confirmedThreshold })
    const { decodedMessage } = await messages.attested(base, sent)
    const height = await avalanche.height()
    expect(Number(decodedMessage.decodedMessageBody.expirationBlock)).toBeGreaterThan(height)
    // A day of blocks is too much to mine: the recorded end moves to the present instead.
    await harness.database.run(sql`update messages set expiration_block = ${height} where tx_hash = ${sent}`)
    return sent
  })
  const endless = await messages.messageWhen(base, hash, ({ forwardState }) => forwardState === 'COMPLETE')
  expect(endless.decodedMessage.decodedMessageBody).toMatchObject({
    expirationBlock: '0',
    feeExecuted: '200000',
  })
  expect(await messages.usdcOf(avalanche, to)).toBe(9_800_000n)
})

it('a delivery that the token refuses raises an alarm, and can be made by others once that ends', async () => {
  const raised = countAlarm('delivery-failed')
  await sendAsIssuer(avalanche, 'pause')
  const to = freshAddress() as Hex
  const hash = await messages.burn(base, avalanche, { ...asked, to })
  const shown = await messages.messageWhen(base, hash, ({ forwardState }) => forwardState === 'FAILED')
  await until(() => raised() > 0, 'the alarm is raised')
  await sendAsIssuer(avalanche, 'unpause')
  expect((await messages.deliver(avalanche, shown)).ok).toBe(true)
  await messages.messageWhen(base, hash, ({ forwardState }) => forwardState === 'COMPLETE')
  expect(await messages.usdcOf(avalanche, to)).toBe(9_800_000n)
})

it('messages without a key that signs them wait with an alarm, until there is one', async () => {
  const raised = countAlarm('message-key-missing')
  const owner = openAsOwner(harness.connection)
  const [key] = await owner.all<{ id: string }>(
    sql`update attestation_keys set retired_date = now() where purpose = 'message' and retired_date is null returning id`,
  )
  const hash = await messages.burn(base, avalanche, asked)
  await until(() => raised() > 0, 'the alarm is raised')
  await owner.run(sql`update attestation_keys set retired_date = null where id = ${key!.id}`)
  await owner.close()
  await base.mine()
  await messages.messageWhen(base, hash, ({ forwardState }) => forwardState === 'COMPLETE')
})
