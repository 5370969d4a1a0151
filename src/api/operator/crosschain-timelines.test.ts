/** Timelines of cross-chain messages and of transfers of unified balances, compared with both chains. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { forwardHookData } from '#chains/crosschain/forward-hook'
import { confirmedThreshold } from '#chains/crosschain/message'
import { attestationKeyInUse } from '#custody/installation/index'
import { sql } from '#runtime/db/db'
import { manageAttesters, openAttester, setAttesters, type TestAttester } from '#testing/builders/attesters'
import {
  burnFromWallet,
  type CrosschainMessages,
  crosschainMessages,
  type Hex,
} from '#testing/builders/burns'
import {
  intentOf,
  people,
  signedIntent,
  specOf,
  type UnifiedBalances,
  unifiedBalances,
  word,
} from '#testing/builders/unified-balances'
import { makeWallet, type World, worldOf } from '#testing/builders/world'
import type { TestChain } from '#testing/platform/chain'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

let harness: Harness
let payer: World
let receiver: World
let messages: CrosschainMessages
let unified: UnifiedBalances
let base: TestChain
let avalanche: TestChain
let attester: string
let second: TestAttester | undefined

beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'AVAX-FUJI'] })
  payer = worldOf(harness, await harness.newEntity())
  receiver = worldOf(harness, await harness.newEntity())
  messages = crosschainMessages(harness)
  unified = unifiedBalances(harness)
  base = harness.chain('BASE-SEPOLIA')
  avalanche = harness.chain('AVAX-FUJI')
  attester = (await attestationKeyInUse(harness.database, 'message'))!.address
})
afterAll(async () => {
  await harness?.close()
  await second?.close()
})

// biome-ignore lint/suspicious/noExplicitAny: the tests look at its shape
type Shown = any

const timelineOf = (world: World, id: string): Promise<Shown> =>
  world.call('GET', `/operator/movements/${id}/timeline`)

/** Waits until the timeline is as wanted, and returns it. */
async function timelineWhen(world: World, id: string, what: string, wanted: (timeline: Shown) => boolean) {
  let timeline: Shown
  await until(async () => {
    timeline = await timelineOf(world, id)
    return wanted(timeline)
  }, what)
  return timeline
}

const lanesOf = ({ lanes }: Shown, kind: string): Shown[] => lanes.filter((lane: Shown) => lane.kind === kind)
const statesOf = ({ states }: Shown): string[] => states.map(({ state }: Shown) => state)
const spanStates = (lane: Shown): string[] => lane.spans.map(({ state }: Shown) => state)
const textsOf = (lane: Shown): string => lane.spans.map(({ text }: Shown) => text).join('\n')
const receiptOf = (chain: TestChain, hash: string) =>
  chain.rpc<{ blockHash: string; blockNumber: string }>('eth_getTransactionReceipt', [hash])
const placeOf = async (chain: TestChain, txHash: string) => ({
  blockHash: (await receiptOf(chain, txHash)).blockHash,
  txHash,
})
const findOne = async (world: World, query: string): Promise<Shown> =>
  (await world.call('GET', `/operator/movements?${query}`))[0]
const linksOf = (timeline: Shown) =>
  lanesOf(timeline, 'linked').flatMap(({ marks }: Shown) => marks.map(({ refs }: Shown) => refs))

/** Expects that two movements name each other, by the hash that both have. */
async function expectLinked(world: World, one: Shown, other: Shown, txHash: string): Promise<void> {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ])
    expect(linksOf(await timelineOf(world, from.id))).toContainEqual({ [`${to.kind}Id`]: to.id, txHash })
}

it('property 192: a timeline tells of a fast burn that the treasury delivers as both chains do', async () => {
  const wallet = await payer.fundedWallet()
  const { address: to } = (await makeWallet(receiver, undefined, 'AVAX-FUJI')) as { address: Hex }
  const options = { to, amount: 2_500_000n, maxFee: 300_000n, threshold: confirmedThreshold }
  const hash = await burnFromWallet(payer, wallet, avalanche, { ...options, hookData: forwardHookData })
  const { forwardTxHash } = await messages.messageWhen(
    base,
    hash,
    ({ forwardState }) => forwardState === 'COMPLETE',
  )
  const burn = await findOne(payer, `kind=message&txHash=${hash}`)
  const isFinal = (timeline: Shown) => lanesOf(timeline, 'delivery').every(({ open }) => !open)
  const timeline = await timelineWhen(payer, burn.id, 'the delivery is final', isFinal)
  expect(statesOf(timeline)).toEqual(['pending', 'attested', 'delivered'])
  expect(timeline.endDate).toBe(
    new Date(Date.parse(timeline.startDate) + timeline.states.at(-1).atMs).toISOString(),
  )
  const blocks = lanesOf(timeline, 'block').flatMap(({ spans }) => spans.map(({ refs }: Shown) => refs))
  expect(blocks).toEqual([await placeOf(base, hash), await placeOf(avalanche, forwardTxHash)])
  const minted = await messages.usdcOf(avalanche, to)
  const amounts = { minted: Number(minted) / 1e6, fee: Number(2_500_000n - minted) / 1e6 }
  const [attestation] = lanesOf(timeline, 'attestation')
  expect(spanStates(attestation)).toEqual(['waiting', 'attested'])
  expect(textsOf(attestation)).toContain(`${wallet.address} burned 2.5 USDC on BASE-SEPOLIA`)
  expect(textsOf(attestation)).toMatch(
    new RegExp(
      `Signed by 1 attester before the burn was final: ${amounts.minted} USDC can be minted on AVAX-FUJI for ${to}, and ${amounts.fee} USDC as a fee, until block \\d+ there`,
    ),
  )
  expect(lanesOf(timeline, 'attester')).toMatchObject([{ note: attester, marks: [{ what: 'signed' }] }])
  const [delivery] = lanesOf(timeline, 'delivery')
  expect(delivery).toMatchObject({ title: 'Delivery on AVAX-FUJI', note: 'by the treasury of this server' })
  expect(spanStates(delivery)).toEqual(['waiting', 'delivered'])
  expect(delivery.spans.at(-1)).toMatchObject({
    text: expect.stringContaining(
      `minted ${amounts.minted} USDC for ${to} in transaction ${forwardTxHash}, sent by the treasury of this server; the block is final.`,
    ),
    refs: await placeOf(avalanche, forwardTxHash),
  })
  expect(lanesOf(timeline, 'attempt')).toMatchObject([{ title: 'Delivery, attempt 1' }])
  await expectLinked(payer, burn, await findOne(payer, `kind=transaction&txHash=${hash}`), hash)
  const mint = await findOne(receiver, `kind=transaction&txHash=${forwardTxHash}`)
  await expectLinked(receiver, await findOne(receiver, 'kind=message'), mint, forwardTxHash)
})

it('property 192: a burn that a reorg takes back is lost, is mined again, and is delivered by anybody', async () => {
  const { address: to } = (await makeWallet(payer)) as { address: Hex }
  await avalanche.mine()
  const hash = await messages.burn(avalanche, base, { to })
  await messages.attested(avalanche, hash)
  const burn = await findOne(payer, `kind=message&address=${to}`)
  const before = await receiptOf(avalanche, hash)
  const raw = await avalanche.rpc<Hex>('eth_getRawTransactionByHash', [hash])
  await avalanche.reorgFrom(Number(before.blockNumber))
  const isLost = ({ movement }: Shown) => movement.state === 'lost'
  const lost = await timelineWhen(payer, burn.id, 'the burn is lost', isLost)
  expect(statesOf(lost)).toEqual(['pending', 'attested', 'lost'])
  expect(lanesOf(lost, 'attestation')[0].spans.at(-1)).toMatchObject({
    state: 'lost',
    tone: 'bad',
    text: expect.stringContaining(
      'A reorg took the burn of 10 USDC back after it was attested: 10 USDC can be minted',
    ),
  })
  expect(lanesOf(lost, 'block')).toMatchObject([
    { note: before.blockHash, spans: [{ state: 'orphaned', refs: { txHash: hash } }] },
  ])
  await avalanche.rpc('eth_sendRawTransaction', [raw])
  const message = await messages.messageWhen(avalanche, hash, ({ status }) => status === 'complete')
  const isBack = ({ movement }: Shown) => movement.state === 'attested'
  await timelineWhen(payer, burn.id, 'the burn is there again', isBack)
  const { hash: delivery, ok } = await messages.deliver(base, message)
  expect(ok).toBe(true)
  const isDelivered = (timeline: Shown) =>
    timeline.movement.state === 'delivered' && lanesOf(timeline, 'delivery').every(({ open }) => !open)
  const done = await timelineWhen(payer, burn.id, 'the delivery is final', isDelivered)
  expect(statesOf(done)).toEqual(['pending', 'attested', 'lost', 'attested', 'delivered'])
  const blocks = lanesOf(done, 'block').flatMap(({ spans }) =>
    spans.map(({ state, refs }: Shown) => ({ state, ...refs })),
  )
  expect(blocks).toEqual([
    { state: 'orphaned', blockHash: before.blockHash, txHash: hash },
    { state: 'held', ...(await placeOf(avalanche, hash)) },
    { state: 'held', ...(await placeOf(base, delivery)) },
  ])
  expect(lanesOf(done, 'delivery')[0]).toMatchObject({ note: 'by anybody' })
  expect(textsOf(lanesOf(done, 'delivery')[0])).toContain(
    `minted 10 USDC for ${to} in transaction ${delivery}, sent by somebody else than this server`,
  )
  expect(await messages.usdcOf(base, to)).toBe(10_000_000n)
  // A delivery that a reorg takes back can be made again.
  const taken = await receiptOf(base, delivery)
  await base.reorgFrom(Number(taken.blockNumber))
  const again = await timelineWhen(payer, burn.id, 'the delivery is taken back', isBack)
  expect(spanStates(lanesOf(again, 'delivery')[0])).toEqual(['waiting', 'orphaned', 'waiting'])
  expect((await messages.deliver(base, message)).ok).toBe(true)
  await timelineWhen(payer, burn.id, 'it is delivered again', isDelivered)
})

it('property 193: a timeline tells of a unified transfer from its intents to the burn that settles it', async () => {
  const depositor = people[0]!
  const { address: to } = await makeWallet(receiver)
  await unified.fund(avalanche, depositor.address, 20_000_000n, '20')
  await harness.database.run(sql`insert into managed_addresses (entity_id, blockchain, address, purpose, owner_id, create_date)
    values (${payer.tenant.entityId}, 'AVAX-FUJI', ${depositor.address.toLowerCase()}, 'modular', ${randomUUID()}, now())`)
  const held = await unified.tokens(avalanche, depositor.address)
  const spec = specOf(avalanche, base, depositor.address, {
    value: 4_000_000n,
    destinationRecipient: word(to),
  })
  const answer = await unified.transfer(
    [await signedIntent(depositor, intentOf(spec))],
    '?enableForwarder=true',
  )
  expect(answer.status, answer.text).toBe(201)
  const { transferId: id, fees } = answer.body
  const isSettled = (timeline: Shown) =>
    lanesOf(timeline, 'settlement').some((lane) => spanStates(lane).includes('settled') && !lane.open)
  const timeline = await timelineWhen(payer, id, 'the transfer is settled', isSettled)
  expect(statesOf(timeline)).toEqual(['pending', 'confirmed', 'finalized'])
  const { transactionHash: mintHash } = await unified.state(id)
  const [intent] = lanesOf(timeline, 'intent')
  expect(spanStates(intent)).toEqual(['reserved', 'burned'])
  expect(textsOf(intent)).toContain(
    `4 USDC and a fee of ${fees.total} USDC of ${depositor.address.toLowerCase()} on AVAX-FUJI are reserved.`,
  )
  const burned = intent.spans.at(-1).refs
  expect(burned).toMatchObject(await placeOf(avalanche, burned.txHash))
  expect(lanesOf(timeline, 'attestation')[0].spans).toMatchObject([
    {
      state: 'attested',
      text: expect.stringContaining(
        `4 USDC can be minted on BASE-SEPOLIA for ${to}, until block ${answer.body.expirationBlock} there.`,
      ),
    },
  ])
  expect(lanesOf(timeline, 'delivery')[0].spans.at(-1)).toMatchObject({
    state: 'delivered',
    text: expect.stringContaining('sent by the treasury of this server; the block is final.'),
    refs: await placeOf(base, mintHash),
  })
  expect(spanStates(lanesOf(timeline, 'settlement')[0])).toEqual(['waiting', 'sent', 'settled'])
  expect(lanesOf(timeline, 'attempt').map(({ title }) => title)).toEqual([
    'Delivery, attempt 1',
    'Burn on AVAX-FUJI, attempt 1',
  ])
  const blocks = lanesOf(timeline, 'block').flatMap(({ spans }) => spans.map(({ refs }: Shown) => refs))
  expect(blocks).toEqual([await placeOf(base, mintHash), await placeOf(avalanche, burned.txHash)])
  expect(await unified.tokens(base, to)).toBe(4_000_000n)
  expect(await unified.tokens(avalanche, depositor.address)).toBe(held)
  const [mint, transfer] = [
    await findOne(receiver, `kind=transaction&txHash=${mintHash}`),
    await findOne(receiver, 'kind=unifiedTransfer'),
  ]
  await expectLinked(receiver, transfer, mint, mintHash)
})

it('property 194: an attester that is down is named with its attempts, and signs when it is up', async () => {
  const nodes = harness.chains.map(({ blockchain, rpcUrl }) => ({ blockchain, rpcUrl, local: true }))
  second = await openAttester({ nodes, config: { fastAllowanceAtomic: 1_000_000_000_000n } })
  await setAttesters(harness, [second])
  await second.stop()
  const { address: to } = (await makeWallet(receiver, undefined, 'AVAX-FUJI')) as { address: Hex }
  const hash = await messages.burn(base, avalanche, { to })
  await until(async () => (await findOne(receiver, `kind=message&address=${to}`)) !== undefined, 'it is seen')
  const { id } = await findOne(receiver, `kind=message&address=${to}`)
  const laneOf = (timeline: Shown) =>
    lanesOf(timeline, 'attester').find(({ note }) => note === second!.address)
  const isTried = (timeline: Shown) => laneOf(timeline)?.spans[0]?.tone === 'warn'
  const waiting = await timelineWhen(receiver, id, 'the attester is asked again', isTried)
  expect(statesOf(waiting)).toEqual(['pending'])
  expect(spanStates(lanesOf(waiting, 'attestation')[0])).toEqual(['waiting', 'signing'])
  expect(textsOf(lanesOf(waiting, 'attestation')[0])).toContain(
    `Attester ${attester} has signed the burn of 10 USDC; 2 have to.`,
  )
  expect(laneOf(waiting)).toMatchObject({
    open: true,
    spans: [
      {
        state: 'asked',
        text: expect.stringMatching(/^It was asked \d+ times to sign the message, and has not\.$/),
      },
    ],
    marks: [{ what: 'due', isDue: true }],
  })
  await second.start()
  const message = await messages.attested(base, hash)
  const done = await timelineOf(receiver, id)
  expect(statesOf(done)).toEqual(['pending', 'attested'])
  expect(textsOf(lanesOf(done, 'attestation')[0])).toContain('Signed by 2 attesters with the burn final')
  const signers = lanesOf(done, 'attester').map(({ note, marks, open }) => [note, marks[0].what, open])
  expect(signers.sort()).toEqual(
    [attester, second.address].sort().map((address) => [address, 'signed', false]),
  )
  // The contracts of the chain accept just these two.
  expect((await messages.deliver(avalanche, message)).ok).toBe(true)
  expect(await messages.usdcOf(avalanche, to)).toBe(10_000_000n)
  for (const chain of harness.chains) await manageAttesters(chain, 'setSignatureThreshold', 1n)
})
