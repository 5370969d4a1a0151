/** Which incoming transfers of unlisted tokens a balance proves, when comparisons, blocks and other work interleave. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { reconcile } from '#engines/indexer/reconciliation/index'
import { unlistedTokenId } from '#engines/ledger/tokens/index'
import { listTransactions, type TransactionFilters } from '#engines/transactions/index'
import type { Hex } from '#lib/hex'
import type { PageQuery } from '#runtime/collection/query'
import { openAsOwner, raw, type Sql, sql } from '#runtime/db/db'
import {
  type AnyToken,
  actorOn,
  claimingCode,
  deployClaiming,
  deployCollection,
  deployDataOf,
  deployFeeToken,
  hostileCodes,
  whileListed,
} from '#testing/builders/any-tokens'
import { tokenActions } from '#testing/builders/token-actions'
import { makeWallet, type Wallet, type World, worldOf } from '#testing/builders/world'
import { unlimited } from '#testing/databases/blocked-sessions'
import { type Harness, openHarness } from '#testing/platform/harness'
import { readMetrics } from '#testing/platform/metrics'
import { until } from '#testing/platform/until'

let harness: Harness
let world: World
let tokens: ReturnType<typeof tokenActions>
let fees: AnyToken
let wallet: Wallet
beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
  tokens = tokenActions(world)
  wallet = await world.fundedWallet()
  fees = await deployFeeToken(harness.chain())
})
afterEach(() => harness.chain().intercept(undefined))
afterAll(() => harness?.close())

const applied = async () => {
  const height = await harness.chain().height()
  await until(async () => {
    const { done } = await harness.database.one<{ done: boolean }>(
      sql`select max(number) >= ${height} as done from blocks where canonical`,
    )
    return done
  }, 'every block is applied')
}
const amountsOf = async (id: string, query: Record<string, string> = {}) =>
  (await tokens.received(id, query)).map(({ amounts }) => amounts[0]).sort()

it('a transfer of nothing stays hidden when the balance of its token is compared', async () => {
  const holder = await makeWallet(world)
  await fees.call('mint', [holder.address, 1_000_000n])
  await fees.call('mint', [holder.address, 0n])
  await tokens.holds(fees, '1', holder.id)
  await fees.call('mint', [holder.address, 2_000_000n])
  await tokens.holds(fees, '3', holder.id)
  await tokens.indexed()
  expect(await amountsOf(holder.id)).toEqual(['1', '2'])
  expect(await amountsOf(holder.id, { includeAll: 'true' })).toEqual(['0', '1', '2'])
})

it('a stranger cannot fill the list of a wallet with transfers of nothing', async () => {
  const victim = await makeWallet(world)
  await deployClaiming(harness.chain(), victim.address, '0x00', { amount: 0n, count: 300 })
  await harness.chain().send(victim.address, 1_000_000n, 'USDC')
  await tokens.indexed()
  const { rows } = await harness.database.one<{ rows: number }>(
    sql`select count(*) as rows from transactions where wallet_id = ${victim.id}`,
  )
  expect(rows).toBe(21)
  const sample = `bezant_transfers_omitted_total{blockchain="${victim.blockchain}"}`
  expect((await readMetrics(harness)).get(sample)).toBe(280)
})

it('lists do not read past the transfers that no balance proves', async () => {
  const { database, entityId } = harness
  const holder = await makeWallet(world)
  await fees.call('mint', [holder.address, 1_000_000n])
  await fees.call('mint', [holder.address, 0n])
  await tokens.holds(fees, '1', holder.id)
  await tokens.indexed()
  await database.run(sql`insert into transactions (entity_id, id, blockchain, wallet_id, address, transaction_type, custody_type,
      state, operation, token_id, source_address, destination_address, amounts, amount, tx_hash, block_hash, block_number,
      log_index, ordinal, announced, unproven, create_date, update_date)
    select entity_id, gen_random_uuid(), blockchain, wallet_id, address, transaction_type, custody_type, 'COMPLETE', operation,
      token_id, source_address, destination_address, amounts, amount, md5(n::text), block_hash, block_number, log_index, ordinal,
      false, true, create_date + n * interval '1 millisecond', update_date
    from transactions, generate_series(1, 5000) n where wallet_id = ${holder.id} and unproven`)
  const owner = openAsOwner(harness.connection)
  await owner.run(raw('analyze transactions'))
  await owner.close()
  const page: PageQuery = {
    fromMs: undefined,
    toMs: Date.now() + 3_600_000,
    pageSize: 5,
    pageAfter: undefined,
    pageBefore: undefined,
    order: 'DESC',
  }
  const readBy = async (filters: TransactionFilters, order: 'ASC' | 'DESC' = 'DESC') => {
    const plans: Plan[] = []
    const explaining = {
      ...database,
      all: async <Row>(query: Sql) => {
        const explained = sql`explain (analyze, format json) ${query}`
        plans.push((await database.one<{ 'QUERY PLAN': [{ Plan: Plan }] }>(explained))['QUERY PLAN'][0].Plan)
        return database.all<Row>(query)
      },
    }
    await listTransactions(explaining, { entityId }, filters, { ...page, order })
    return plans.map(rowsRead).reduce((sum, rows) => sum + rows)
  }
  const { destinationAddress, blockchain } = { ...holder, destinationAddress: holder.address }
  const filters = [
    {},
    { walletIds: [holder.id] },
    { destinationAddress },
    { blockchain },
    { includeAll: true },
  ]
  for (const each of filters) expect(await readBy(each), JSON.stringify(each)).toBeLessThan(100)
  expect(await readBy({ includeAll: true }, 'ASC')).toBeLessThan(100)
})

type Plan = {
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Plan[]
}

/** How many rows of transactions a plan read. */
const rowsRead = (plan: Plan): number =>
  (plan['Relation Name'] === 'transactions'
    ? (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops']
    : 0) + (plan.Plans ?? []).map(rowsRead).reduce((sum, rows) => sum + rows, 0)

/** Observes each transfer to a wallet so many times, beyond the limit of a block, before a comparison decides any. */
async function observeAgain(to: Wallet, claims: readonly Hex[], times: number): Promise<void> {
  const chain = harness.chain()
  silence()
  await chain.setAutomine(false)
  for (const data of claims) await actorOn(chain)({ data })
  await chain.mine()
  await chain.setAutomine(true)
  await applied()
  await harness.database.run(sql`insert into observed_token_transfers
    select (jsonb_populate_record(o, jsonb_build_object('id', gen_random_uuid(), 'log_index', o.log_index + 10 * n))).*
    from observed_token_transfers o, generate_series(1, ${times - 1}) n where o.wallet_id = ${to.id}`)
  chain.intercept(undefined)
}

const coveredOf = (to: Wallet) => sql`from observed_token_transfers where wallet_id = ${to.id} and covered`
const decidedOf = async (to: Wallet) => (await harness.database.all(sql`select 1 ${coveredOf(to)}`)).length
const areDecided = (to: Wallet, total: number) =>
  until(async () => (await decidedOf(to)) === total, 'all are decided')

it('thousands of transfers to one balance are decided some at a time, and all of them', async () => {
  const holder = await makeWallet(world)
  const claim = deployDataOf(holder.address, hostileCodes['has no end of balances']!, { amount: 3n })
  await observeAgain(holder, [claim], 1_200)
  await areDecided(holder, 1_200)
  const risen = sql`select risen as left from token_checks where address = ${holder.address}`
  const { left } = await harness.database.one<{ left: bigint }>(risen)
  expect(left).toBe(0n)
})

it('balances that are compared together decide no more transfers in one tx than one does', async () => {
  const holder = await makeWallet(world)
  const claim = deployDataOf(holder.address, hostileCodes['has no end of balances']!, { amount: 3n })
  await observeAgain(holder, [claim, claim, claim], 600)
  await areDecided(holder, 1_800)
  const { most } = await harness.database.one<{ most: number }>(
    sql`select max(rows) as most from (select count(*) as rows ${coveredOf(holder)} group by xmin) by_tx`,
  )
  expect(most).toBeLessThanOrEqual(1_000)
})

it('what a wallet sends is not missed while the engine of transactions is behind', async () => {
  await fees.call('mint', [wallet.address, 10_000_000n])
  await tokens.holds(fees, '10', wallet.id)
  await harness.chain().setAutomine(false)
  const { body } = await harness.http('POST', '/v1/w3s/developer/transactions/transfer', {
    body: {
      idempotencyKey: crypto.randomUUID(),
      entitySecretCiphertext: await harness.sealSecret(),
      walletId: wallet.id,
      tokenAddress: fees.address,
      amounts: ['3'],
      feeLevel: 'MEDIUM',
      destinationAddress: (await makeWallet(world)).address,
    },
  })
  const { id } = body.data
  const stateOf = async () => (await world.call('GET', `/v1/w3s/transactions/${id}`)).transaction.state
  await until(async () => (await stateOf()) === 'SENT', 'it is sent')
  await fees.call('mint', [wallet.address, 5_000_000n])
  const followed = new Promise<void>((release) => {
    void harness.database.tx(async (tx) => {
      // The engine waits for this row, so that comparisons are ahead of it.
      await tx.run(
        sql`select 1 from transactions where entity_id = ${harness.entityId} and id = ${id} for update`,
      )
      await harness.chain().mine()
      await harness.chain().setAutomine(true)
      await applied()
      // The balance is compared before it is shown.
      await until(async () => (await tokens.amountOf(fees, wallet.id)) !== undefined, 'it is shown')
      release()
    }, unlimited)
  })
  await followed
  await until(async () => (await stateOf()) === 'COMPLETE', 'it is complete')
  await tokens.holds(fees, '12', wallet.id)
  await tokens.indexed()
  const { id: tokenId } = (await tokens.list('balances', wallet.id, { tokenAddress: fees.address }))[0].token
  const shown = (await tokens.received(wallet.id)).filter((row) => row.tokenId === tokenId)
  expect(shown.map(({ amounts }) => amounts[0])).toEqual(['5', '10'])
})

const silence = () =>
  harness.chain().intercept(async ({ body }) => (body.includes('eth_call') ? 'drop' : 'forward'))

/** A contract that claims to have moved 0.00005 to the wallet, which a comparison in the newest block has proven. */
async function provenClaim(to: Wallet): Promise<{ address: Hex }> {
  const chain = harness.chain()
  // No contract is asked before the second block, so that the first comparison is in that block.
  silence()
  const address = await deployClaiming(chain, to.address, claimingCode(to.address, 5n), { amount: 5n })
  await chain.mine()
  await applied()
  chain.intercept(undefined)
  await until(async () => (await amountsOf(to.id)).length === 1, 'the balance proves it')
  return { address }
}

it('a rise that a reorg takes back and repeats proves no further transfer', async () => {
  const victim = await makeWallet(world)
  const chain = harness.chain()
  const token = await provenClaim(victim)
  silence()
  await chain.reorg(1)
  await actorOn(chain)({ to: token.address })
  await applied()
  chain.intercept(undefined)
  await until(async () => (await tokens.amountOf(token, victim.id)) === '0.00005', 'it is compared')
  await tokens.indexed()
  expect(await amountsOf(victim.id)).toEqual(['0.00005'])
  expect(await amountsOf(victim.id, { includeAll: 'true' })).toEqual(['0.00005', '0.00005'])
})

/** Keeps the engine of tokens from following blocks until `done` is called. */
async function behind() {
  const owner = openAsOwner(harness.connection)
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  let held = () => {}
  const isHeld = new Promise<void>((resolve) => (held = resolve))
  const holding = owner.tx(async (tx) => {
    await tx.run(sql`select 1 from step_cursors where engine = 'tokens' for update`)
    held()
    await released
  }, unlimited)
  await Promise.race([isHeld, holding])
  return {
    done: async () => {
      release()
      await holding
      await owner.close()
    },
  }
}

it('a balance is not compared between a reorg and the end of what its block decided', async () => {
  const victim = await makeWallet(world)
  const chain = harness.chain()
  const token = await provenClaim(victim)
  const following = await behind()
  await chain.reorg(1)
  await actorOn(chain)({ to: token.address })
  await applied()
  await tokens.amountOf(token, victim.id)
  const { count } = await harness.database.one<{ count: number }>(
    sql`select count(*) as count from observed_token_transfers where address = ${victim.address} and covered`,
  )
  await following.done()
  expect(count).toBe(1)
  await until(async () => (await tokens.amountOf(token, victim.id)) === '0.00005', 'it is compared')
  await tokens.indexed()
  expect(await amountsOf(victim.id)).toEqual(['0.00005'])
})

it('an item that another wallet made known can be sent as soon as its contract tells of it', async () => {
  const cards = await deployCollection(harness.chain(), 'ERC1155', 'Cards')
  await cards.call('mintTo', [(await makeWallet(world)).address, 2n ** 256n - 1n, 'ipfs://card', 5n])
  await tokens.indexed()
  const following = await behind()
  await cards.call('mintTo', [wallet.address, 0n, '', 3n])
  await applied()
  const body = {
    idempotencyKey: crypto.randomUUID(),
    entitySecretCiphertext: await harness.sealSecret(),
    walletId: wallet.id,
    destinationAddress: (await makeWallet(world)).address,
    feeLevel: 'MEDIUM',
    tokenAddress: cards.address,
    nftTokenIds: ['0'],
    amounts: ['1'],
  }
  const { status, text } = await harness.http('POST', '/v1/w3s/developer/transactions/transfer', { body })
  await following.done()
  expect(status, text).toBe(201)
})

/** Answers the requests that are `chosen` with an error, as a node that has not the block or has had enough. */
const refuseWhere = (code: number, chosen: (body: string) => boolean) =>
  harness.chain().intercept(async ({ body }) => {
    const asked = JSON.parse(body.toString('utf8'))
    if (!chosen(body.toString('utf8'))) return 'forward'
    const refuse = ({ id }: { id: number }) => ({
      jsonrpc: '2.0',
      id,
      error: { code, message: 'header not found' },
    })
    return { body: JSON.stringify(Array.isArray(asked) ? asked.map(refuse) : refuse(asked)) }
  })

/** Refuses those questions for decimals whose number is `chosen`. */
function refuseDecimals(code: number, chosen: (count: number) => boolean = () => true) {
  let count = 0
  refuseWhere(code, (body) => body.includes('313ce567') && chosen(++count))
}

it('a node that refuses a question once does not make a token one of zero decimals', async () => {
  const token = await deployFeeToken(harness.chain())
  const holder = await makeWallet(world)
  refuseDecimals(-32_000, (count) => count === 1)
  await token.call('mint', [holder.address, 5_000_000n])
  await tokens.holds(token, '5', holder.id)
  const [{ token: shown }] = await tokens.list('balances', holder.id, { tokenAddress: token.address })
  expect(shown).toMatchObject({ name: 'Fee Token', decimals: 6 })
})

/** A token of which a new wallet received 7,000,000 base units while no node told the decimals. */
async function receivedUnread(code: number) {
  const token = await deployFeeToken(harness.chain())
  const holder = await makeWallet(world)
  refuseDecimals(code)
  await token.call('mint', [holder.address, 7_000_000n])
  await until(
    async () => (await tokens.received(holder.id, { includeAll: 'true' })).length > 0,
    'it is recorded',
  )
  return { token, holder, tokenId: unlistedTokenId(wallet.blockchain, token.address) }
}

it.each([
  ['an error', -32_000],
  ['its rate limit', -32_005],
])(
  'decimals that a node refuses with %s are asked for again, and no amount is shown before',
  async (_, code) => {
    const { token, holder, tokenId } = await receivedUnread(code)
    const [unread] = await tokens.received(holder.id, { includeAll: 'true' })
    expect(unread).toMatchObject({ tokenId, transactionType: 'INBOUND' })
    expect(unread).not.toHaveProperty('amounts')
    expect(await tokens.received(holder.id)).toEqual([])
    expect(await tokens.list('balances', holder.id, { includeAll: 'true' })).toEqual([])
    expect((await harness.http('GET', `/v1/w3s/tokens/${tokenId}`)).status).toBe(404)
    harness.chain().intercept(undefined)
    await tokens.holds(token, '7', holder.id)
    await until(async () => (await amountsOf(holder.id)).length > 0, 'the balance proves it')
    expect(await amountsOf(holder.id)).toEqual(['7'])
    expect((await harness.http('GET', `/v1/w3s/tokens/${tokenId}`)).body.data.token).toMatchObject({
      name: 'Fee Token',
      decimals: 6,
    })
  },
)

/** Asks for a transfer from the funded wallet. */
async function transfer(fields: object) {
  const sealed = { idempotencyKey: crypto.randomUUID(), entitySecretCiphertext: await harness.sealSecret() }
  const to = { destinationAddress: wallet.address, feeLevel: 'MEDIUM', walletId: wallet.id }
  return harness.http('POST', '/v1/w3s/developer/transactions/transfer', {
    body: { ...sealed, ...to, ...fields },
  })
}

it('a request that names a token asks for its decimals once', async () => {
  const token = await deployFeeToken(harness.chain())
  refuseDecimals(-32_000, (count) => count > 1)
  const { status, body } = await transfer({ tokenAddress: token.address, amounts: ['0.0000001'] })
  expect([status, body.message]).toEqual([400, expect.stringContaining('more than 6 decimal places')])
})

it('a request that names what a silent node does not tell is told to try again', async () => {
  const pictures = await deployCollection(harness.chain(), 'ERC721')
  const token = await deployFeeToken(harness.chain())
  await pictures.call('mintTo', [(await makeWallet(world)).address, 'ipfs://picture'])
  await tokens.indexed()
  silence()
  const asked = [
    { tokenAddress: token.address, amounts: ['1'] },
    { tokenAddress: pictures.address, nftTokenIds: ['7'], amounts: ['1'] },
  ]
  expect((await Promise.all(asked.map(transfer))).map(({ status }) => status)).toEqual([503, 503])
})

/** Ways in which a new wallet receives 7,000,000 base units of a token before anything but its logs is known. */
const unread: [
  string,
  () => Promise<{ token: AnyToken; holder: Wallet; release: () => Promise<void> | void }>,
][] = [
  [
    'while its block is not followed',
    async () => {
      const token = await deployFeeToken(harness.chain())
      const holder = await makeWallet(world)
      await tokens.indexed()
      const engine = await behind()
      await token.call('mint', [holder.address, 7_000_000n])
      await applied()
      return { token, holder, release: engine.done }
    },
  ],
  [
    'while no node tells its decimals',
    async () => ({ ...(await receivedUnread(-32_000)), release: () => harness.chain().intercept(undefined) }),
  ],
]

it.each(unread)('a transfer of a token that is listed %s appears once', async (_, receive) => {
  const { token, holder, release } = await receive()
  await whileListed(harness, token, async (id, chain) => {
    await release()
    await tokens.holds(token, '7', holder.id)
    await until(async () => (await amountsOf(holder.id)).length > 0, 'it is listed')
    await token.call('mint', [holder.address, 1_000_000n])
    await tokens.holds(token, '8', holder.id)
    await tokens.indexed()
    expect(await amountsOf(holder.id)).toEqual(['1', '7'])
    const { gaps } = await reconcile(harness.ctx, chain)
    expect(gaps.filter(({ tokenId }) => tokenId === id)).toEqual([])
  })
})

it('one owner whose balances cannot be handed over postpones no other owner', async () => {
  const token = await deployFeeToken(harness.chain())
  const holders = [await makeWallet(world), await makeWallet(world)]
  silence()
  await harness.chain().setAutomine(false)
  for (const { address } of holders) await token.call('mint', [address, 7_000_000n])
  await harness.chain().mine()
  await harness.chain().setAutomine(true)
  const isRecorded = async ({ id }: Wallet) => (await tokens.received(id, { includeAll: 'true' })).length > 0
  for (const holder of holders) await until(() => isRecorded(holder), 'it is recorded')
  await whileListed(harness, token, async () => {
    // The first owner of the two is refused from its first question on.
    let first: Wallet | undefined
    let refusals = 0
    const isFirst = (body: string) => {
      const asked = holders.find(({ address }) => body.includes(address.slice(2)))
      first ??= asked
      return asked !== undefined && asked === first && ++refusals > 0
    }
    refuseWhere(-32_000, (body) => body.includes('eth_call') && isFirst(body))
    await until(() => refusals > 1, 'the first owner is asked about again')
    const [refused, other] = holders.toSorted((one) => (one === first ? -1 : 1))
    await tokens.holds(token, '7', other!.id)
    expect(await amountsOf(refused!.id)).toEqual([])
    harness.chain().intercept(undefined)
    await tokens.holds(token, '7', refused!.id)
  })
})
