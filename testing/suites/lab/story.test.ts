/**
 * The story of one transfer under a plan of faults: gas becomes expensive and it is stuck, it is accelerated and mined, its block is
 * replaced by a rule, it is mined again, and its endpoint refuses one message. Two platforms that know nothing of each other tell the same.
 */
import { expect, it } from 'vitest'
import { transferActions } from '#testing/builders/transfers'
import { freshAddress } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { openWebhookReceiver } from '#testing/servers/webhook-receiver'

const blockchain = 'BASE-SEPOLIA'

const planFor = (address: string, seed: number) => `apiVersion: bezant/v1
seed: ${seed}
rules:
- name: held
  on: chain
  match: { blockchain: ${blockchain}, address: "${address}" }
  when: { times: 1 }
  do: { pause: true }
- name: undone
  on: chain
  match: { blockchain: ${blockchain}, address: "${address}" }
  when: { after: 1, times: 1 }
  do: { reorg: { depth: 1, transactions: return } }
- name: refused
  on: webhook
  match: { topic: "transactions.*" }
  when: { chance: 0.4, times: 1 }
  do: { status: 503 }
`

type Lane = {
  kind: string
  note?: string
  spans: { state: string }[]
  marks: { what: string; text: string; isDue?: boolean }[]
}
type Told = {
  states: { state: string; atMs: number }[]
  lanes: Lane[]
  causes: { fault: string; hit: number; on: string; atMs: number }[]
}

/** Not an attempt whose kept connection ended, which is made again at once. */
const isRefusal = ({ what, text }: Lane['marks'][number]) => what === 'refused' && / 503 after /.test(text)

/** Runs the story on a platform of its own, and returns what is told of it. */
async function tell(harness: Harness, seed: number) {
  const on = transferActions(harness)
  const { world } = on
  const chain = harness.chain()
  const wallet = await on.fundedWallet()
  const receiver = await openWebhookReceiver(harness.http)
  await world.call('POST', '/v2/notifications/subscriptions', {
    endpoint: receiver.url,
    notificationTypes: ['transactions.outbound'],
  })
  const body = planFor(wallet.address, seed)
  const applied = await fetch(`${harness.url}/sandbox/faults`, { method: 'PUT', body })
  expect(applied.status).toBe(200)
  const lab = (verb: string, body = {}) => world.call('POST', `/sandbox/chains/${blockchain}/${verb}`, body)
  const funding = { address: wallet.address, blockchain, token: 'USDC', amount: '1' }
  await world.call('POST', '/sandbox/faucet', funding)
  const isHeld = async () => (await world.call('GET', '/sandbox/chains'))[0].isPaused
  await until(isHeld, 'the chain is paused by a rule')
  const to = freshAddress()
  const id = await on.transfer(wallet, { destinationAddress: to })
  await on.sent(id, 'original')
  await lab('base-fee', { gwei: '500' })
  await lab('mine')
  await on.reaches(id, 'STUCK')
  await on.ask(id, 'accelerate')
  const bump = await on.sent(id, 'bump')
  await lab('base-fee', { gwei: '1' })
  await lab('resume')
  const timeline = (): Promise<Told> => world.call('GET', `/operator/movements/${id}/timeline`)
  const isOver = async () => {
    const { states, lanes } = await timeline()
    const marks = lanes.filter(({ kind }) => kind === 'endpoint').flatMap((lane) => lane.marks)
    return (
      states.filter(({ state }) => state === 'COMPLETE').length === 2 &&
      marks.some(isRefusal) &&
      marks.every(({ isDue }) => isDue !== true)
    )
  }
  await until(isOver, 'the story is over')
  await receiver.close()
  const met: { rule: string; match: number; hit: number; about: Record<string, string> }[] = await world.call(
    'GET',
    '/sandbox/faults/met',
  )
  return { told: await timeline(), met, bump, to, chain, wallet }
}

/** Compares what is told with what the chain says. */
async function requireChain({ told, met, bump, to, chain, wallet }: Awaited<ReturnType<typeof tell>>) {
  const lost = met.find(({ rule }) => rule === 'undone')!.about.blockHash
  const receipt = await chain.rpc<{ blockHash: string; blockNumber: string }>('eth_getTransactionReceipt', [
    bump.txHash,
  ])
  const blocks = told.lanes.filter(({ kind }) => kind === 'block')
  expect(blocks.map(({ note, spans }) => [note, spans.map(({ state }) => state)])).toEqual([
    [lost, ['orphaned']],
    [receipt.blockHash, ['held']],
  ])
  const moved = await chain.oracle.transfers({ to, token: chain.tokens.USDC })
  expect(moved.map(({ txHash, blockNumber, amountAtomic }) => [txHash, blockNumber, amountAtomic])).toEqual([
    [bump.txHash, Number(receipt.blockNumber), 500_000n],
  ])
  await chain.oracle.checkNonces(wallet.address)
}

it('is told by the faults that caused it, the same with the same seed, and as the chain says it', async () => {
  const stories = []
  for (const seed of [7, 7]) {
    const harness = await openHarness({ lab: true })
    try {
      const story = await tell(harness, seed)
      await requireChain(story)
      stories.push(story)
    } finally {
      await harness.close()
    }
  }
  const [first, second] = stories.map(({ told: { states, lanes, causes }, met }) => ({
    states: states.map(({ state }) => state),
    refused: lanes.flatMap(({ marks }) => marks.filter(isRefusal)).length,
    causes: causes.map(({ atMs: _, ...cause }) => cause),
    // Points are met side by side: only the numbers of one rule have an order.
    met: met.map(({ rule, match, hit }) => `${rule} ${match} ${hit}`).sort(),
  }))
  expect(first!.states).toEqual([
    'INITIATED',
    'CLEARED',
    'QUEUED',
    'SENT',
    'STUCK',
    'SENT',
    'CONFIRMED',
    'COMPLETE',
    'SENT',
    'CONFIRMED',
    'COMPLETE',
  ])
  expect(first!.causes).toEqual([
    { fault: 'undone', hit: 1, on: 'chain' },
    { fault: 'refused', hit: 1, on: 'webhook' },
  ])
  expect(first!.refused).toBe(1)
  expect(second).toEqual(first)
  for (const { told } of stories) {
    const atOf = (fault: string) => told.causes.find((cause) => cause.fault === fault)!.atMs
    const complete = told.states.filter(({ state }) => state === 'COMPLETE').map(({ atMs }) => atMs)
    // The block is replaced after the first end that it gave, and before the second.
    expect([atOf('undone') >= complete[0]!, atOf('undone') <= complete[1]!]).toEqual([true, true])
  }
})
