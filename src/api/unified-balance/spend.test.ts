import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callDataBytesMax } from '#chains/evm/payments/build'
import { sql } from '#runtime/db/db'
import { issuerAccount } from '#sandbox/constants'
import {
  feeRecipient,
  intentOf,
  people,
  signedIntent,
  signedSet,
  specOf,
  type UnifiedBalances,
  unifiedBalances,
  wallet,
  word,
} from '#testing/builders/unified-balances'
import { worldOf } from '#testing/builders/world'
import { countAlarm } from '#testing/platform/count-alarm'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

/* Spends unified balances from the deposit to the burn; the chains tell what happened. */
let harness: Harness
let unified: UnifiedBalances
beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'AVAX-FUJI', 'OP-SEPOLIA'] })
  unified = unifiedBalances(harness)
})
afterAll(() => harness?.close())

const base = () => harness.chain('BASE-SEPOLIA')
const avax = () => harness.chain('AVAX-FUJI')
const op = () => harness.chain('OP-SEPOLIA')
const [alice, bob, carol, dave, erin, frank] = people as [
  (typeof people)[0],
  (typeof people)[0],
  (typeof people)[0],
  (typeof people)[0],
  (typeof people)[0],
  (typeof people)[0],
]

const burned = (id: string) =>
  until(async () => {
    const { left } = await harness.database.one<{ left: number }>(
      sql`select count(*) as left from unified_intents where transfer_id = ${id} and state <> 'burned'`,
    )
    return Number(left) === 0
  }, 'the transfer is burned')

describe('a transfer', () => {
  it('from two sources is minted on a third chain and burned on both, with its fees', async () => {
    await unified.fund(base(), alice.address, 50_000_000n, '50')
    await unified.fund(avax(), alice.address, 30_000_000n, '30')
    const before = {
      supply: [await unified.supply(base()), await unified.supply(avax()), await unified.supply(op())],
      fees: [await unified.tokens(base(), feeRecipient), await unified.tokens(avax(), feeRecipient)],
    }
    const intents = [
      intentOf(
        specOf(base(), op(), alice.address, { value: 20_000_000n, destinationRecipient: word(bob.address) }),
      ),
      intentOf(
        specOf(avax(), op(), alice.address, { value: 10_000_000n, destinationRecipient: word(bob.address) }),
      ),
    ]
    const body = [await signedSet(alice, intents)]
    const answer = await unified.transfer(body)
    expect([answer.status, answer.body.fees]).toEqual([
      201,
      {
        total: '0.0315',
        token: 'USDC',
        perIntent: [
          expect.objectContaining({ domain: 6, baseFee: '0.01', transferFee: '0.001' }),
          expect.objectContaining({ domain: 1, baseFee: '0.02', transferFee: '0.0005' }),
        ],
      },
    ])
    // Reserved at once, and the same request is answered alike.
    expect([
      await unified.balance(base(), alice.address),
      await unified.balance(avax(), alice.address),
    ]).toEqual(['29.989', '19.9795'])
    expect((await unified.transfer(body)).body).toEqual(answer.body)
    const { transferId, fees } = answer.body
    for (const [index, { transferSpecHash }] of fees.perIntent.entries()) {
      const { spec } = intents[index]!
      const shown = { ...spec, value: String(spec.value), transferSpecHash, transferId, status: 'pending' }
      expect((await unified.http('GET', `/v1/transferSpec/${transferSpecHash}`)).body).toEqual(shown)
    }
    await unified.mint(op(), answer.body)
    expect(await unified.tokens(op(), bob.address)).toBe(30_000_000n)
    await unified.untilState(answer.body.transferId, 'finalized')
    await burned(answer.body.transferId)
    expect(await unified.supply(base())).toBe(before.supply[0]! - 20_000_000n)
    expect(await unified.supply(avax())).toBe(before.supply[1]! - 10_000_000n)
    expect(await unified.supply(op())).toBe(before.supply[2]! + 30_000_000n)
    expect(await unified.tokens(base(), feeRecipient)).toBe(before.fees[0]! + 11_000n)
    expect(await unified.tokens(avax(), feeRecipient)).toBe(before.fees[1]! + 20_500n)
    expect(await unified.read(base(), wallet, 'availableBalance', [base().tokens.USDC, alice.address])).toBe(
      29_989_000n,
    )
    expect(await unified.balance(base(), alice.address)).toBe('29.989')
  })

  it('within one chain has no transfer fee', async () => {
    await unified.fund(base(), bob.address, 5_000_000n, '5')
    const intent = intentOf(
      specOf(base(), base(), bob.address, { destinationRecipient: word(carol.address) }),
    )
    const answer = await unified.transfer([await signedIntent(bob, intent)])
    expect(answer.body.fees.perIntent[0]).not.toHaveProperty('transferFee')
    await unified.mint(base(), answer.body)
    await burned(answer.body.transferId)
    expect(await unified.tokens(base(), carol.address)).toBe(1_000_000n)
    await unified.shows(base(), bob.address, '3.99')
  })

  it('is signed by a delegate while that is one', async () => {
    await unified.fund(base(), carol.address, 5_000_000n, '5')
    const ask = async () =>
      unified.transfer([
        await signedIntent(
          dave,
          intentOf(specOf(base(), op(), carol.address, { sourceSigner: word(dave.address) })),
        ),
      ])
    expect((await ask()).body.code).toBe(178003)
    await unified.callWallet(base(), carol.address, 'addDelegate', [base().tokens.USDC, dave.address])
    await until(async () => (await ask()).status === 201, 'the delegate counts')
    await unified.callWallet(base(), carol.address, 'removeDelegate', [base().tokens.USDC, dave.address])
    await until(async () => (await ask()).body.code === 178003, 'the removal counts')
  })

  it('never takes what a withdrawal took, and is burned out of one that started later', async () => {
    await unified.fund(base(), dave.address, 10_000_000n, '10')
    const first = await unified.transfer([
      await signedIntent(dave, intentOf(specOf(base(), op(), dave.address, { value: 6_000_000n }))),
    ])
    expect(first.status).toBe(201)
    await unified.callWallet(base(), dave.address, 'initiateWithdrawal', [base().tokens.USDC, 10_000_000n])
    await unified.shows(base(), dave.address, '0')
    const second = await unified.transfer([
      await signedIntent(dave, intentOf(specOf(base(), op(), dave.address))),
    ])
    expect([second.status, second.body.message]).toEqual([
      400,
      `Insufficient balance for depositor ${dave.address.toLowerCase()}: available 0, required 1.01005`,
    ])
    await unified.mint(op(), first.body)
    await burned(first.body.transferId)
    await base().mine(25)
    await unified.callWallet(base(), dave.address, 'withdraw', [base().tokens.USDC])
    expect(await unified.tokens(base(), dave.address)).toBe(10_000_000n - 6_010_300n)
    await unified.fund(base(), dave.address, 2_000_000n, '2')
  })

  it('a transfer that is not minted up to its last block returns the reservation', async () => {
    await unified.fund(base(), erin.address, 3_000_000n, '3')
    const answer = await unified.transfer([
      await signedIntent(erin, intentOf(specOf(base(), op(), erin.address))),
    ])
    await unified.shows(base(), erin.address, '1.98995')
    await op().mine(Number(answer.body.expirationBlock) - (await op().height()))
    await until(
      async () =>
        Number(
          (
            await harness.database.one<{ n: number }>(sql`select final as n from unified_heights
          where blockchain = 'OP-SEPOLIA'`)
          ).n,
        ) >= Number(answer.body.expirationBlock),
      'the last block is final',
    )
    expect((await unified.state(answer.body.transferId)).status).toBe('pending')
    await op().mine()
    await unified.untilState(answer.body.transferId, 'expired')
    await unified.shows(base(), erin.address, '3')
    await expect(unified.mint(op(), answer.body)).rejects.toThrow()
  })

  it('is minted in its last block, and not returned', async () => {
    await unified.fund(base(), frank.address, 3_000_000n, '3')
    const answer = await unified.transfer([
      await signedIntent(frank, intentOf(specOf(base(), op(), frank.address))),
    ])
    await op().mine(Number(answer.body.expirationBlock) - (await op().height()) - 1)
    await unified.mint(op(), answer.body)
    expect(await op().height()).toBe(Number(answer.body.expirationBlock))
    await op().mine(2)
    await unified.untilState(answer.body.transferId, 'finalized')
    await burned(answer.body.transferId)
    expect(await unified.balance(base(), frank.address)).toBe('1.98995')
  })

  it('is burned beside others in transactions that nodes take, however much data its intents have', async () => {
    const grace = people[6]!
    await unified.fund(base(), grace.address, 1_000_000n, '1')
    const hookData = `0x${'ab'.repeat(4_096)}` as const
    const answers = []
    for (let count = 0; count < 5; count++) {
      const specs = Array.from({ length: 7 }, () =>
        specOf(base(), avax(), grace.address, { value: 1_000n, hookData }),
      )
      const intents = specs.map((spec) => intentOf(spec))
      answers.push(await unified.transfer([await signedSet(grace, intents)]))
    }
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201])
    // Minted in one block, so that all are due at once.
    await avax().setAutomine(false)
    for (const { body } of answers) await unified.mint(avax(), body)
    await avax().mine()
    await avax().setAutomine(true)
    for (const { body } of answers) await burned(body.transferId)
    const { bytes } = await harness.database.one<{ bytes: number }>(
      sql`select max(octet_length(call_data)) as bytes from transactions where ref_id like 'burn %'`,
    )
    expect(bytes).toBeLessThanOrEqual(callDataBytesMax)
  })

  it('a transfer with a forwarder is minted by the treasury, which keeps the fee', async () => {
    await unified.fund(avax(), carol.address, 3_000_000n, '3')
    const before = await unified.tokens(op(), carol.address)
    const intent = intentOf(specOf(avax(), op(), carol.address))
    const answer = await unified.transfer([await signedIntent(carol, intent)], '?enableForwarder=true')
    expect([answer.status, answer.body.fees]).toMatchObject([
      201,
      { total: '0.22155', forwardingFee: '0.2015' },
    ])
    await unified.untilState(answer.body.transferId, 'finalized')
    expect(await unified.tokens(op(), carol.address)).toBe(before + 1_000_000n)
    await burned(answer.body.transferId)
    await unified.shows(avax(), carol.address, '1.77845')
    expect(await unified.state(answer.body.transferId)).toMatchObject({
      forwardingDetails: { forwardingEnabled: true },
      transactionHash: expect.stringMatching(/^0x/),
    })
  })

  it('property 193: a transfer that the minter refuses is shown as failed, and returned after its last block', async () => {
    await unified.fund(avax(), erin.address, 3_000_000n, '3')
    // The token refuses to mint for its own contract.
    const intent = intentOf(
      specOf(avax(), op(), erin.address, { destinationRecipient: word(op().tokens.USDC) }),
    )
    await blockOnToken(op().tokens.USDC)
    const raised = countAlarm('forward-failed')
    const world = worldOf(harness)
    // An address of the entity whose owner signs elsewhere.
    await harness.database.run(sql`insert into managed_addresses (entity_id, blockchain, address, purpose, owner_id, create_date)
      values (${world.tenant.entityId}, ${avax().blockchain}, ${erin.address.toLowerCase()}, 'modular', ${randomUUID()}, now())`)
    const answer = await unified.transfer([await signedIntent(erin, intent)], '?enableForwarder=true')
    await unified.untilState(answer.body.transferId, 'failed')
    await until(() => raised() > 0, 'the alarm is raised')
    expect((await unified.state(answer.body.transferId)).forwardingDetails.failureReason).toEqual(
      expect.any(String),
    )
    expect(await unified.balance(avax(), erin.address)).toBe('1.77845')
    const timeline = () => world.call('GET', `/operator/movements/${answer.body.transferId}/timeline`)
    const laneOf = async (kind: string) =>
      (await timeline()).lanes.find((lane: { kind: string }) => lane.kind === kind)
    const failed = await laneOf('delivery')
    expect(failed.marks).toMatchObject([{ what: 'failed', tone: 'bad' }])
    expect(failed.spans[0].text).toMatch(
      /^The treasury of this server did not mint 1 USDC on OP-SEPOLIA .* because its transaction failed: .*\. Anybody can do it\.$/,
    )
    await op().mine(Number(answer.body.expirationBlock) - (await op().height()) + 1)
    await unified.untilState(answer.body.transferId, 'expired')
    await unified.shows(avax(), erin.address, '3')
    const states = (await timeline()).states.map(({ state }: { state: string }) => state)
    expect(states).toEqual(['pending', 'expired'])
    expect(await laneOf('attestation')).toMatchObject({ open: false, marks: [{ what: 'expired' }] })
    expect(await laneOf('intent')).toMatchObject({ open: false, marks: [{ what: 'returned' }] })
    expect(await laneOf('settlement')).toBeUndefined()
  })
})

/** Blocks an address on the destination, as the issuer of the token does. */
async function blockOnToken(address: string): Promise<void> {
  const chain = op()
  await chain.rpc('anvil_impersonateAccount', [issuerAccount.address])
  const data = `0xf9f92be4${word(address).slice(2)}`
  await chain.rpc('eth_sendTransaction', [
    { from: issuerAccount.address, to: chain.tokens.USDC, data, gas: '0x30d40' },
  ])
}
