/** Approvals while the node of a chain is silent or away: they hold no database connection, and cost no guess. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { type Wallet, type World, worldOf } from '#testing/builders/world'
import { type LyingNode, openLyingNode } from '#testing/nodes/lying-node'
import {
  approve,
  approved,
  newSession,
  type PageSession,
  pin,
  questions,
  shownChallenge,
} from '#testing/pages/page'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { askUser } from '#testing/requests/challenge-requests'

let node: LyingNode
let harness: Harness
let world: World
let session: PageSession
let account: Wallet
beforeAll(async () => {
  harness = await openHarness({
    blockchains: ['BASE-SEPOLIA', 'ETH-SEPOLIA'],
    engines: false,
    node: async ({ blockchain, rpcUrl }) => {
      if (blockchain !== 'BASE-SEPOLIA') return {}
      node = await openLyingNode(rpcUrl)
      return { rpcUrl: node.url }
    },
  })
  world = worldOf(harness)
  session = await newSession(world)
  const id = await askUser(world, session, 'initialize', {
    blockchains: ['BASE-SEPOLIA'],
    accountType: 'SCA',
  })
  const { challenge } = await approved(world, session, id, [['N', pin], ...questions])
  account = (await world.call('GET', `/v1/w3s/wallets/${challenge.correlationIds[0]}`)).wallet
})
afterAll(async () => {
  await node?.close()
  await harness?.close()
})

const askToSign = () => askUser(world, session, 'sign/message', { walletId: account.id, message: 'hello' })
const isAboutAccount = (method: string, [address]: readonly string[]) =>
  method === 'eth_getCode' && address?.toLowerCase() === account.address.toLowerCase()

it('property 91: approvals that wait for a silent node hold up no others', async () => {
  const count = 6
  const ids = await Promise.all(Array.from({ length: count }, askToSign))
  let answerNow!: () => void
  const answer = new Promise<void>((resolve) => {
    answerNow = resolve
  })
  let asked = 0
  node.lie(async (method, result, params) => {
    if (!isAboutAccount(method, params)) return result
    asked += 1
    await answer
    return '0x60'
  })
  const waiting = Promise.all(ids.map((id) => approve(world, session, id)))
  await until(() => asked === count, 'the node is asked for each approval')
  const held = await harness.database.all(sql`select query from pg_stat_activity
    where datname = current_database() and state = 'idle in transaction'`)
  expect(held).toEqual([])
  const other = await askUser(world, session, 'wallets', { blockchains: ['ETH-SEPOLIA'] })
  expect((await approved(world, session, other)).challenge.status).toBe('COMPLETE')
  answerNow()
  expect((await waiting).map(({ status }) => status)).toEqual(Array(count).fill(200))
  node.lie(undefined)
})

it('property 91: a node that is away leaves the challenge pending, and costs no guess', async () => {
  const id = await askToSign()
  node.forwardTo('http://127.0.0.1:9')
  for (let tries = 0; tries < 5; tries++) {
    const { status, body } = await approve(world, session, id, [['P', '999000']])
    expect([status, body.code]).toEqual([503, 503])
  }
  const { user, challenge } = await shownChallenge(world, session, id)
  expect([challenge.status, user.pinStatus]).toEqual(['PENDING', 'ENABLED'])
  const { pinDetails } = (await world.call('GET', `/v1/w3s/users/${session.userId}`)).user
  expect(pinDetails.failedAttempts).toBe(0)
  node.forwardTo(harness.chain('BASE-SEPOLIA').rpcUrl)
  const early = await approve(world, session, id)
  expect([early.status, early.body.code]).toEqual([400, 155517])
  node.lie((method, result, params) => (isAboutAccount(method, params) ? '0x60' : result))
  expect((await approved(world, session, id)).challenge.status).toBe('COMPLETE')
  node.lie(undefined)
})
