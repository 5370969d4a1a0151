/** Policy over the API: limits that no number of requests exceeds, and freezes that hold back accepted requests. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freeze, unfreeze } from '#custody/freezes/index'
import { setPolicy } from '#custody/policy/index'
import { insertApiKey } from '#runtime/auth/store'
import { sql } from '#runtime/db/db'
import { freshAddress, type Wallet, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { type Http, type HttpAnswer, httpAs, untilAdmitted } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { isDeep } from '#testing/runner/size'

const blockchains = ['BASE-SEPOLIA', 'ETH-SEPOLIA'] as const
const dayMs = 86_400_000
const coin = 1_000_000n

let harness: Harness
let world: World
let wallets: Wallet[]
let keys: Http[]

beforeAll(async () => {
  harness = await openHarness({ blockchains: [...blockchains] })
  world = worldOf(harness)
  const made = await world.call('POST', '/v1/w3s/developer/wallets', {
    idempotencyKey: randomUUID(),
    entitySecretCiphertext: await harness.sealSecret(),
    walletSetId: (await world.walletSet()).id,
    blockchains,
    count: 2,
  })
  wallets = made.wallets
  for (const { address, blockchain } of wallets)
    await harness.fundWallet(address, { usdc: '1000', native: '10', blockchain })
  await until(async () => {
    const balances = wallets.map(({ id }) => world.call('GET', `/v1/w3s/wallets/${id}/balances`))
    return (await Promise.all(balances)).every(({ tokenBalances }) => tokenBalances.length >= 2)
  }, 'the wallets have their coins')
  const own = { entityId: harness.entityId, environment: 'TEST', nowMs: Date.now() } as const
  const more = await Promise.all([1, 2].map(() => insertApiKey(harness.database, own)))
  keys = [harness.http, ...more.map(({ text }) => httpAs(harness.url, text))]
})
afterAll(() => harness?.close())

const operator = () => ({ db: harness.database, clock: harness.clock, actor: 'operator' })
const usdcOf = (blockchain: string) => harness.chain(blockchain).tokens.USDC.toLowerCase() as `0x${string}`

const setRules = (capAtomic: bigint) => {
  const tokens = blockchains.map((blockchain) => `${blockchain}:${usdcOf(blockchain)}`)
  const { entityId } = harness
  return setPolicy(
    operator(),
    { entityId, scope: 'entity', subjectId: entityId },
    {
      mode: 'rules',
      operations: ['transfer', 'contractExecution', 'signTypedData'],
      destinations: 'any',
      tokens,
      contracts: tokens.map((contract) => ({ contract, selectors: ['transfer(address,uint256)'] })),
      typedData: tokens.map((contract) => ({ contract, primaryTypes: ['TransferWithAuthorization'] })),
      permissions: ['transferAuthorization'],
      limits: [{ tokens, windows: [{ seconds: dayMs / 1_000, amountAtomic: capAtomic.toString() }] }],
    },
  )
}

/** Requests that spend one coin, one for each route. */
const routes: ((wallet: Wallet) => [string, Record<string, unknown>])[] = [
  ({ blockchain }) => [
    'transactions/transfer',
    {
      idempotencyKey: randomUUID(),
      tokenAddress: usdcOf(blockchain),
      destinationAddress: freshAddress(),
      amounts: ['1'],
      feeLevel: 'MEDIUM',
    },
  ],
  ({ blockchain }) => [
    'transactions/contractExecution',
    {
      idempotencyKey: randomUUID(),
      contractAddress: usdcOf(blockchain),
      abiFunctionSignature: 'transfer(address,uint256)',
      abiParameters: [freshAddress(), coin.toString()],
      feeLevel: 'MEDIUM',
    },
  ],
  ({ address, blockchain }) => [
    'sign/typedData',
    { data: JSON.stringify(authorization(address, blockchain)) },
  ],
]

const authorization = (from: string, blockchain: string) => ({
  domain: {
    name: 'USDC',
    version: '2',
    chainId: harness.ctx.chains.find(blockchain)!.network.chainId,
    verifyingContract: usdcOf(blockchain),
  },
  primaryType: 'TransferWithAuthorization',
  types: {
    EIP712Domain: [
      { name: 'name', type: 'string' },
      { name: 'version', type: 'string' },
      { name: 'chainId', type: 'uint256' },
      { name: 'verifyingContract', type: 'address' },
    ],
    TransferWithAuthorization: [
      'address from',
      'address to',
      'uint256 value',
      'uint256 validAfter',
      'uint256 validBefore',
      'bytes32 nonce',
    ].map((text) => ({ type: text.split(' ')[0], name: text.split(' ')[1] })),
  },
  message: {
    from,
    to: freshAddress(),
    value: coin.toString(),
    validAfter: '0',
    validBefore: '9999999999',
    nonce: `0x${randomUUID().replaceAll('-', '').padStart(64, '0')}`,
  },
})

/** Sends the n-th request of a burst: another wallet, key and route each time. */
async function spend(n: number, changes: Record<string, unknown> = {}, route = n % 7 < 5 ? 0 : (n % 7) - 4) {
  const wallet = wallets[n % wallets.length]!
  const [path, fields] = routes[route]!(wallet)
  return untilAdmitted(async () => {
    const entitySecretCiphertext = await harness.sealSecret()
    const body = { entitySecretCiphertext, walletId: wallet.id, ...fields, ...changes }
    return keys[n % keys.length]!('POST', `/v1/w3s/developer/${path}`, { body })
  })
}

const burst = (count: number) => Promise.all(Array.from({ length: count }, (_, n) => spend(n)))
const isAccepted = ({ status }: HttpAnswer) => status === 200 || status === 201

function acceptedOf(answers: readonly HttpAnswer[]): HttpAnswer[] {
  const refused = answers.filter((answer) => !isAccepted(answer))
  for (const { status, body, text } of refused) {
    expect([status, body.code], text).toEqual([403, 155900])
    expect(text).toMatch(/limits\[0\] allows \d+ in 86400 s, of which \d+ are taken/)
  }
  return answers.filter(isAccepted)
}

/** The highest amount allowed since then and not released in any period of a day, computed from the rows. */
async function mostWithinOneDay(sinceMs = 0): Promise<bigint> {
  const rows = await harness.database.all<{ amount: bigint; atMs: number }>(sql`select amount,
      (extract(epoch from create_date) * 1000)::int8 as at_ms from policy_spending
    where released_date is null and token <> 'native' and create_date >= to_timestamp(${sinceMs} / 1000.0)
    order by create_date`)
  return rows.reduce((most, { atMs }) => {
    const within = rows.filter((row) => row.atMs <= atMs && row.atMs > atMs - dayMs)
    const sum = within.reduce((total, { amount }) => total + amount, 0n)
    return sum > most ? sum : most
  }, 0n)
}

const stateOf = async (id: string) =>
  (await world.call('GET', `/v1/w3s/transactions/${id}`)).transaction.state as string

describe('property 45: a daily cap', () => {
  const cap = BigInt(isDeep ? 60 : 6)
  const crowd = isDeep ? 500 : 24
  const early = isDeep ? 60 : 4
  const later = isDeep ? 150 : 9
  const lanes = isDeep ? 100 : 6
  const lane = isDeep ? 3 : 4

  it(`holds for ${crowd} requests at once, over wallets, chains, routes and API keys`, async () => {
    await setRules(cap * coin)
    harness.clock.hold()
    const accepted = acceptedOf(await burst(crowd))
    expect(accepted).toHaveLength(Number(cap))
    expect(await mostWithinOneDay()).toBe(cap * coin)
  })

  it('holds across the day boundary, to the millisecond', async () => {
    harness.clock.moveMs(dayMs - 1)
    expect(acceptedOf(await burst(early))).toHaveLength(0)
    harness.clock.moveMs(1)
    expect(acceptedOf(await burst(later))).toHaveLength(Number(cap))
    expect(await mostWithinOneDay()).toBe(cap * coin)
  })

  it(`holds while the day passes under ${lanes * lane} requests`, async () => {
    harness.clock.moveMs(dayMs / 2)
    expect(acceptedOf(await burst(early))).toHaveLength(0)
    const answers: HttpAnswer[] = []
    const ask = async (first: number) => {
      for (let n = first; n < first + lane; n++) {
        answers.push(await spend(n))
        harness.clock.moveMs(dayMs / (lanes * lane))
      }
    }
    await Promise.all(Array.from({ length: lanes }, (_, index) => ask(index * lane)))
    const accepted = acceptedOf(answers)
    expect(accepted.length).toBeGreaterThan(0)
    expect(await mostWithinOneDay()).toBeLessThanOrEqual(cap * coin)
  })

  it('releases only failed and cancelled amounts', async () => {
    harness.clock.moveMs(3 * dayMs)
    const startMs = harness.clock.nowMs()
    const doomedCount = 5
    const goodCount = 7
    await setRules(BigInt(doomedCount + goodCount) * coin)
    // A gas limit that is enough to be sent and too low to succeed.
    const doomed = acceptedOf(
      await Promise.all(Array.from({ length: doomedCount }, (_, n) => spend(n, { gasLimit: '30000' }, 0))),
    )
    const good = acceptedOf(await Promise.all(Array.from({ length: goodCount }, (_, n) => spend(n, {}, 0))))
    expect([doomed.length, good.length]).toEqual([doomedCount, goodCount])
    for (const { body } of doomed)
      await until(async () => (await stateOf(body.data.id)) === 'FAILED', 'it fails')
    for (const { body } of good)
      await until(async () => (await stateOf(body.data.id)) === 'COMPLETE', 'it is complete')
    await until(async () => {
      const { n } = await harness.database.one<{ n: number }>(
        sql`select count(*) as n from policy_spending where released_date is not null`,
      )
      return n === doomedCount
    }, 'what failed was given back')
    await harness.stopEngines()
    // A transfer, which waits for its signature; requests of the other routes are signed at once.
    const waiting = acceptedOf([await spend(0, {}, 0)])[0]!
    expect(acceptedOf(await burst(isDeep ? 40 : 9))).toHaveLength(doomedCount - 1)
    const path = `/v1/w3s/developer/transactions/${waiting.body.data.id}/cancel`
    const body = { idempotencyKey: randomUUID(), entitySecretCiphertext: await harness.sealSecret() }
    expect((await harness.http('POST', path, { body })).status).toBeLessThan(300)
    expect(acceptedOf(await burst(isDeep ? 20 : 5))).toHaveLength(1)
    harness.startEngines()
    expect(await mostWithinOneDay(startMs)).toBeLessThanOrEqual(BigInt(doomedCount + goodCount) * coin)
  })

  it('releases nothing before the block is final', async () => {
    const wallet = wallets[0]!
    const chain = harness.ctx.chains.find(wallet.blockchain)!
    const isReleased = async (id: string) => {
      const query = sql`select 1 from policy_spending where intent_id = ${id} and released_date is not null`
      return (await harness.database.all(query)).length === 1
    }
    await setRules(1_000n * coin)
    // The orphaned block must be that of this test: nothing else may be mined after it.
    await until(async () => {
      const open = sql`select 1 from transactions where transaction_type = 'OUTBOUND'
        and state not in ('COMPLETE', 'FAILED', 'CANCELLED', 'DENIED') limit 1`
      return (await harness.database.all(open)).length === 0
    }, 'everything before it has ended')
    const depth = chain.blocks.finalityDepth
    chain.blocks.finalityDepth = 4
    try {
      const { id } = (await spend(0, { gasLimit: '30000' }, 0)).body.data
      await until(async () => (await stateOf(id)) === 'FAILED', 'it fails')
      const { transaction } = await world.call('GET', `/v1/w3s/transactions/${id}`)
      expect(transaction.errorReason).toBe('FAILED_ON_CHAIN')
      const mined = harness.chain(wallet.blockchain)
      await mined.reorg(1)
      await until(async () => {
        const { transaction: again } = await world.call('GET', `/v1/w3s/transactions/${id}`)
        return again.state === 'FAILED' && again.blockHash !== transaction.blockHash
      }, 'it fails in another block')
      await mined.mine(2)
      await new Promise((resume) => setTimeout(resume, 500))
      expect(await isReleased(id)).toBe(false)
      await mined.mine(2)
      await until(() => isReleased(id), 'it is given back')
    } finally {
      chain.blocks.finalityDepth = depth
    }
  })
})

describe('a frozen wallet or entity', () => {
  beforeAll(async () => {
    harness.clock.release()
    const { entityId } = harness
    await setPolicy(operator(), { entityId, scope: 'entity', subjectId: entityId }, { mode: 'permissive' })
  })

  it.each(['wallet', 'entity'] as const)(
    'signs nothing, the %s shows it, and what was accepted waits',
    async (scope) => {
      const { entityId } = harness
      const wallet = wallets[0]!
      const subject = { entityId, ...(scope === 'wallet' && { walletId: wallet.id }) }
      await harness.stopEngines()
      const before = await spend(0, {}, 0)
      const elsewhere = await spend(1, {}, 0)
      expect(await freeze(operator(), subject)).toBe(true)
      expect(await freeze(operator(), subject)).toBe(false)
      harness.startEngines()
      const shown = await Promise.all(wallets.map(({ id }) => world.call('GET', `/v1/w3s/wallets/${id}`)))
      const states = shown.map((answer) => answer.wallet.state)
      expect(states[0]).toBe('FROZEN')
      expect(states[1]).toBe(scope === 'wallet' ? 'LIVE' : 'FROZEN')
      for (const route of [0, 1, 2]) {
        const { status, body } = await spend(0, {}, route)
        expect([status, body.code]).toEqual([409, 155501])
      }
      if (scope === 'wallet')
        await until(async () => (await stateOf(elsewhere.body.data.id)) === 'COMPLETE', 'others go on')
      else await new Promise((resume) => setTimeout(resume, 1_500))
      await until(async () => (await stateOf(before.body.data.id)) !== 'INITIATED', 'it is screened')
      expect(await stateOf(before.body.data.id)).toBe('CLEARED')
      expect(await unfreeze(operator(), subject)).toBe(true)
      await until(async () => (await stateOf(before.body.data.id)) === 'COMPLETE', 'it goes on')
      const audit = await harness.database.all<{ action: string }>(
        sql`select action from audit where action like ${`${scope}.%frozen`} order by create_date, id`,
      )
      expect(audit.map(({ action }) => action)).toEqual([`${scope}.frozen`, `${scope}.unfrozen`])
    },
  )

  it('makes no signature after the freeze command returns', async () => {
    const { entityId } = harness
    const countSigned = async () =>
      (await harness.database.one<{ n: number }>(sql`select count(*) as n from attempts`)).n
    const before = await countSigned()
    const crowd = isDeep ? 120 : 18
    const asked = Promise.all(Array.from({ length: crowd }, (_, n) => spend(n, {}, 0)))
    await until(async () => (await countSigned()) > before + crowd / 6, 'some are signed')
    await freeze(operator(), { entityId })
    const signed = await countSigned()
    const accepted = (await asked).filter(isAccepted)
    await new Promise((resume) => setTimeout(resume, 1_500))
    expect(await countSigned()).toBe(signed)
    await unfreeze(operator(), { entityId })
    for (const { body } of accepted)
      await until(async () => (await stateOf(body.data.id)) === 'COMPLETE', 'all are complete')
  })

  it('signs no typed data for the frozen chain with a wallet of the same key on another', async () => {
    const { entityId } = harness
    const [frozen, other] = ['BASE-SEPOLIA', 'ETH-SEPOLIA'].map(
      (name) =>
        wallets.find(({ blockchain, address }) => blockchain === name && address === wallets[0]!.address)!,
    ) as [Wallet, Wallet]
    await freeze(operator(), { entityId, walletId: frozen.id })
    const body = {
      entitySecretCiphertext: await harness.sealSecret(),
      walletId: other.id,
      data: JSON.stringify(authorization(other.address, 'BASE-SEPOLIA')),
    }
    expect((await harness.http('POST', '/v1/w3s/developer/sign/typedData', { body })).body.code).toBe(155501)
    await unfreeze(operator(), { entityId, walletId: frozen.id })
  })
})
