import { initiateDeveloperControlledWalletsClient } from '@circle-fin/developer-controlled-wallets'
import { encodeFunctionData, type Hex, parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseScreenedAddress } from '#chains/screening-chains'
import { freeze, unfreeze } from '#custody/freezes/index'
import { addEntry, removeEntry } from '#engines/compliance/lists/index'
import { decideReview } from '#engines/treasury/index'
import { sql } from '#runtime/db/db'
import {
  freshAddress,
  makeActiveRecipient,
  makePayout,
  makeTransfer,
  type World,
  worldOf,
} from '#testing/builders/world'
import { urlOf } from '#testing/databases/database-clone'
import { sendAsIssuer } from '#testing/nodes/issuer'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { runCommand } from '#testing/processes/command'
import { makeReview, screenedAddress } from '#testing/requests/review-requests'
import { sizeOf } from '#testing/runner/size'

let harness: Harness
let world: World
let client: ReturnType<typeof initiateDeveloperControlledWalletsClient>
beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
  client = initiateDeveloperControlledWalletsClient({
    apiKey: harness.apiKey,
    entitySecret: harness.entitySecret,
    baseUrl: harness.url,
  })
  await world.fundedWallet()
})
afterAll(() => harness?.close())

/** A transfer that the published client requests. */
async function transferByClient(destinationAddress: string): Promise<string> {
  const { data } = await client.createTransaction({
    walletId: (await world.fundedWallet()).id,
    tokenId: world.usdcId,
    destinationAddress,
    amount: ['0.01'],
    fee: { type: 'level', config: { feeLevel: 'MEDIUM' } },
  })
  return data!.id
}

/** The transaction as the published client reads it. */
// biome-ignore lint/suspicious/noExplicitAny: the fields are asserted
const read = async (id: string): Promise<any> => (await client.getTransaction({ id })).data!.transaction

/** Waits until the transaction is in one of the states, or past them. */
async function ended(id: string, states = ['COMPLETE', 'FAILED', 'DENIED', 'CANCELLED']) {
  await until(async () => states.includes((await read(id)).state), `${id} is ${states}`)
  return read(id)
}

/** The amount held at present, over all accounts. */
const held = async () => {
  const { sum } = await harness.database.one<{ sum: string }>(
    sql`select coalesce(sum(h.amount), 0)::text as sum from holds h where not exists (
      select from hold_resolutions r where r.entity_id = h.entity_id and r.hold_id = h.id)`,
  )
  return BigInt(sum)
}
const countAttempts = async (id: string) =>
  (
    await harness.database.one<{ n: number }>(
      sql`select count(*) as n from attempts where transaction_id = ${id}`,
    )
  ).n

const blocklist = (address: string) => ({
  list: 'block',
  entry: parseScreenedAddress('BASE-SEPOLIA', address)!,
  reason: 'a test',
})
const operator = () => ({ database: harness.database, clock: harness.ctx.clock, actor: 'operator' })
const list = (address: string) => addEntry(operator(), blocklist(address))
const unlist = (address: string) => removeEntry(operator(), blocklist(address))
const scope = () => ({ db: harness.database, clock: harness.ctx.clock, actor: 'operator' })
const subject = async () => ({ entityId: harness.entityId, walletId: (await world.fundedWallet()).id })
const thaw = async () => unfreeze(scope(), await subject())

describe('a transfer', () => {
  it('is CLEARED with its evaluation before it is signed', async () => {
    const { id } = await makeTransfer(world)
    const { transactionScreeningEvaluation } = await ended(id)
    expect(transactionScreeningEvaluation).toMatchObject({ actions: ['APPROVE'] })
    expect(transactionScreeningEvaluation.ruleName).toBeUndefined()
  })

  it.each([
    ['9999', "Circle's Sanctions Blocklist", ['DENY', 'REVIEW', 'FREEZE_WALLET'], 'BLOCKLIST', 'SANCTIONS'],
    ['8888', 'Frozen User Wallet', ['DENY', 'REVIEW'], 'BLOCKLIST', 'FROZEN'],
    ['7777', 'Your blocklist', ['REVIEW', 'DENY'], 'BLOCKLIST', 'UNSUPPORTED'],
    ['8999', 'Severe Sanctions Risk (Owner)', ['DENY', 'REVIEW', 'FREEZE_WALLET'], 'SEVERE', 'SANCTIONS'],
    [
      '8899',
      'Severe Terrorist Financing Risk (Owner)',
      ['DENY', 'REVIEW', 'FREEZE_WALLET'],
      'SEVERE',
      'TERRORIST_FINANCING',
    ],
    ['8889', 'Severe CSAM Risk (Owner)', ['DENY', 'REVIEW', 'FREEZE_WALLET'], 'SEVERE', 'CSAM'],
    [
      '7779',
      'Severe Illicit Behavior Risk (Owner)',
      ['DENY', 'REVIEW', 'FREEZE_WALLET'],
      'SEVERE',
      'ILLICIT_BEHAVIOR',
    ],
  ])(
    'to …%s is DENIED by %s, signs nothing and releases its hold',
    async (digits, ruleName, actions, riskScore, category) => {
      const before = await held()
      const destination = screenedAddress(digits)
      const id = await transferByClient(destination)
      const denied = await ended(id)
      expect(denied).toMatchObject({
        state: 'DENIED',
        errorDetails: expect.stringContaining(ruleName),
        transactionScreeningEvaluation: {
          ruleName,
          actions,
          reasons: [
            {
              source: 'ADDRESS',
              sourceValue: destination,
              riskScore,
              riskCategories: [category],
              type: 'OWNERSHIP',
            },
          ],
        },
      })
      expect(denied.txHash).toBeUndefined()
      expect(await countAttempts(id)).toBe(0)
      expect(await held()).toBe(before)
      const wallet = (await world.call('GET', `/v1/w3s/wallets/${(await world.fundedWallet()).id}`)).wallet
      expect(wallet.state).toBe(actions.includes('FREEZE_WALLET') ? 'FROZEN' : 'LIVE')
      if (wallet.state === 'LIVE') return
      await expect(makeTransfer(world)).rejects.toThrow('155501')
      await thaw()
      expect((await ended((await makeTransfer(world)).id)).state).toBe('COMPLETE')
    },
  )

  it('a call with a listed recipient in its data is DENIED', async () => {
    const listed = freshAddress()
    await list(listed)
    const { USDC } = harness.chain().tokens
    const abi = parseAbi([
      'function approve(address spender, uint256 amount)',
      'function transfer(address to, uint256 amount)',
      'struct Call { address target; bytes data; }',
      'function aggregate(Call[] calls)',
    ])
    const inner = encodeFunctionData({ abi, functionName: 'transfer', args: [listed as `0x${string}`, 1n] })
    const callData = encodeFunctionData({
      abi,
      functionName: 'aggregate',
      args: [[{ target: USDC as `0x${string}`, data: inner }]],
    })
    const execute = async (fields: object) =>
      world.call('POST', '/v1/w3s/developer/transactions/contractExecution', {
        ...(await keyed()),
        contractAddress: USDC,
        feeLevel: 'MEDIUM',
        ...fields,
      })
    for (const fields of [
      { abiFunctionSignature: 'approve(address,uint256)', abiParameters: [listed, '7'] },
      { callData },
    ])
      expect(await ended((await execute(fields)).id)).toMatchObject({
        state: 'DENIED',
        transactionScreeningEvaluation: { ruleName: 'Your blocklist' },
      })
  })

  it('a call whose data is not understood to the last byte is left to an operator: it may pay anyone', async () => {
    const listed = freshAddress()
    await list(listed)
    const abi = parseAbi(['function transfer(address to, uint256 amount)'])
    const data = encodeFunctionData({ abi, functionName: 'transfer', args: [listed as Hex, 1n] })
    const { id } = await world.call('POST', '/v1/w3s/developer/transactions/contractExecution', {
      ...(await keyed()),
      contractAddress: harness.chain().tokens.USDC,
      feeLevel: 'MEDIUM',
      callData: `${data}00`,
    })
    await until(
      async () => (await read(id)).transactionScreeningEvaluation !== undefined,
      'the call is screened',
    )
    expect(await read(id)).toMatchObject({
      state: 'INITIATED',
      transactionScreeningEvaluation: { ruleName: 'Undecodable Call', actions: ['REVIEW'] },
    })
    await harness.http('POST', `/operator/reviews/${id}/deny`, { body: { reason: 'it hides its recipient' } })
    expect((await ended(id)).state).toBe('DENIED')
  })
})

const keyed = async () => ({
  idempotencyKey: crypto.randomUUID(),
  entitySecretCiphertext: await harness.sealSecret(),
  walletId: (await world.fundedWallet()).id,
})

describe('lists that change', () => {
  it('deny what they cleared before, also while its wallet cannot sign', async () => {
    const destination = freshAddress()
    await harness.stopEngines()
    const { id } = await makeTransfer(world, '0.01', destination)
    await freeze(scope(), await subject())
    harness.startEngines()
    await ended(id, ['CLEARED'])
    await list(destination)
    expect((await ended(id)).state).toBe('DENIED')
    await thaw()
  })

  it('let no price be raised to what they name: a transaction without effect takes the nonce', async () => {
    const destination = freshAddress()
    await harness.chain().setAutomine(false)
    const { id } = await makeTransfer(world, '0.01', destination)
    await ended(id, ['SENT'])
    await list(destination)
    await world.call('POST', `/v1/w3s/developer/transactions/${id}/accelerate`, {
      idempotencyKey: crypto.randomUUID(),
      entitySecretCiphertext: await harness.sealSecret(),
    })
    const kinds = () =>
      harness.database.all<{ kind: string }>(
        sql`select kind from attempts where transaction_id = ${id} and state in ('sent', 'replaced') order by create_date, id`,
      )
    await until(async () => (await kinds()).length === 2, 'its replacement is sent')
    expect((await kinds()).map(({ kind }) => kind)).toEqual(['original', 'cancel'])
    await harness.chain().setAutomine(true)
    await harness.chain().mine(1)
    expect(await ended(id)).toMatchObject({ state: 'FAILED', errorReason: 'SCREENING_DENIED' })
    expect(await harness.chain().oracle.balanceOf(destination, harness.chain().tokens.USDC)).toBe(0n)
  })

  it('clear again what an entry denied before', async () => {
    const destination = freshAddress()
    await list(destination)
    expect((await ended((await makeTransfer(world, '0.01', destination)).id)).state).toBe('DENIED')
    await unlist(destination)
    expect((await ended((await makeTransfer(world, '0.01', destination)).id)).state).toBe('COMPLETE')
  })

  it('property 73: let nothing be signed to an address after their commit, at any interleaving', async () => {
    const runs = sizeOf('LISTING_RACES', { usual: 50, deep: 1_000 })
    const before = performance.now()
    const first = await makeTransfer(world)
    await until(async () => (await countAttempts(first.id)) > 0, 'it is signed')
    const usualMs = performance.now() - before
    for (let run = 0; run < runs; run += 1) {
      const destination = freshAddress()
      const { id } = await makeTransfer(world, '0.0001', destination)
      await new Promise((resume) => setTimeout(resume, Math.random() * 2 * usualMs))
      await list(destination)
      const signed = await countAttempts(id)
      const { state } = await ended(id)
      expect([state, await countAttempts(id)]).toEqual([signed ? 'COMPLETE' : 'DENIED', signed])
    }
  })
})

describe("the blocklist of the stablecoin's issuer", () => {
  const issuer = (what: 'blocklist' | 'unblocklist', address: string) =>
    sendAsIssuer(harness.chain(), what, address)
  const listOf = () => `issuer-usdc-${harness.chain().blockchain}`.toLowerCase()
  const isListed = async (address: string) =>
    (await harness.database.maybe(sql`select 1 from screening_entries
      where list = ${listOf()} and address = ${address} and to_version is null`)) !== undefined
  const untilListed = (address: string, wanted: boolean) =>
    until(async () => (await isListed(address)) === wanted, `${address} is ${wanted ? '' : 'not '}listed`)

  it('denies what goes to an address from the block on that blocks it, and clears again after the one that frees it', async () => {
    const destination = freshAddress()
    await issuer('blocklist', destination)
    await untilListed(destination, true)
    const { id: nativeId } = (await world.call('POST', '/v1/w3s/developer/transactions/transfer', {
      ...(await keyed()),
      destinationAddress: destination,
      amounts: ['0.001'],
      feeLevel: 'MEDIUM',
      tokenAddress: '',
      blockchain: harness.chain().blockchain,
    })) as { id: string }
    for (const id of [nativeId, (await makeTransfer(world, '0.01', destination)).id]) {
      expect(await ended(id)).toMatchObject({
        state: 'DENIED',
        transactionScreeningEvaluation: { ruleName: 'Issuer Blocklist', actions: ['DENY', 'REVIEW'] },
      })
      expect(await countAttempts(id)).toBe(0)
    }
    await issuer('unblocklist', destination)
    await untilListed(destination, false)
    expect((await ended((await makeTransfer(world, '0.01', destination)).id)).state).toBe('COMPLETE')
  })

  it('is as it was before a block that a reorg removes', async () => {
    const [blocked, freed] = [freshAddress(), freshAddress()]
    await issuer('blocklist', freed)
    await untilListed(freed, true)
    const height = await harness.chain().height()
    await issuer('unblocklist', freed)
    await issuer('blocklist', blocked)
    await untilListed(blocked, true)
    await harness.chain().reorg((await harness.chain().height()) - height)
    await untilListed(blocked, false)
    await untilListed(freed, true)
  })

  it('is read from the contract where no event told of an address', async () => {
    const destination = freshAddress()
    await issuer('blocklist', destination)
    await untilListed(destination, true)
    await harness.database.run(sql`update screening_entries set to_version = from_version + 1
      where list = ${listOf()} and address = ${destination}`)
    const { id } = await makeTransfer(world, '0.01', destination)
    expect(await ended(id)).toMatchObject({
      state: 'DENIED',
      transactionScreeningEvaluation: { ruleName: 'Issuer Blocklist' },
    })
    expect(await isListed(destination)).toBe(true)
  })

  it('is changed by no command', async () => {
    await expect(addEntry(operator(), { ...blocklist(freshAddress()), list: listOf() })).rejects.toThrow(
      'follows its issuer',
    )
  })
})

describe('a review', () => {
  const decide = (id: string, verdict: 'approve' | 'deny') =>
    harness.http('POST', `/operator/reviews/${id}/${verdict}`, { body: { reason: 'asked the customer' } })

  it('keeps the transaction INITIATED and its money held until an operator decides', async () => {
    const before = await held()
    const { id } = await makeReview(world)
    const waiting = await read(id)
    expect(waiting).toMatchObject({
      state: 'INITIATED',
      transactionScreeningEvaluation: { ruleName: 'High Illicit Behavior Risk (Owner)', actions: ['REVIEW'] },
      errorDetails: expect.stringContaining('operator'),
    })
    expect(await held()).toBe(before + 10_000n)
    expect((await decide(id, 'approve')).body.data).toMatchObject({
      state: 'approved',
      reason: 'asked the customer',
    })
    expect((await ended(id)).state).toBe('COMPLETE')
    expect((await decide(id, 'deny')).body.code).toBe(280004)
  })

  it('ends as DENIED when an operator denies it, and is withdrawn when the owner cancels', async () => {
    const before = await held()
    const [denied, cancelled] = [await makeReview(world), await makeReview(world)]
    await decide(denied.id, 'deny')
    await world.call('POST', `/v1/w3s/developer/transactions/${cancelled.id}/cancel`, {
      idempotencyKey: crypto.randomUUID(),
      entitySecretCiphertext: await harness.sealSecret(),
    })
    expect([(await read(denied.id)).state, (await read(cancelled.id)).state]).toEqual(['DENIED', 'CANCELLED'])
    expect(await held()).toBe(before)
    const withdrawn: { id: string }[] = await world.call('GET', '/operator/reviews?state=withdrawn')
    expect(withdrawn.map(({ id }) => id)).toEqual([cancelled.id])
    expect((await decide(cancelled.id, 'approve')).body.code).toBe(280004)
  })

  it('is approved, but denied by a list that names the recipient meanwhile', async () => {
    const { id } = await makeReview(world)
    await list((await read(id)).destinationAddress)
    await decide(id, 'approve')
    expect((await ended(id)).state).toBe('DENIED')
    expect(await countAttempts(id)).toBe(0)
  })

  it('is listed and decided by the command', async () => {
    const { id } = await makeReview(world)
    const reviews = (...args: string[]) =>
      runCommand({
        command: 'reviews',
        args: [...args, '--entity', harness.entityId],
        env: { DATABASE_URL: urlOf(harness.connection) },
      })
    const { amounts, destinationAddress, walletId, blockchain } = await read(id)
    const listed = (await reviews('list', '--state', 'pending')).stdout
    for (const shown of [id, amounts[0], 'USDC', blockchain, walletId, destinationAddress])
      expect(listed).toContain(shown)
    const [open] = (await world.call('GET', '/operator/reviews?state=pending')) as object[]
    expect(open).toMatchObject({ id, amount: amounts[0], token: 'USDC', walletId, destinationAddress })
    expect((await reviews('approve', id)).stderr).toContain('--reason is missing')
    expect((await reviews('approve', id, '--reason', 'the recipient is known')).code).toBe(0)
    expect((await ended(id)).state).toBe('COMPLETE')
    expect((await reviews('deny', id, '--reason', 'too late')).stderr).toContain('cannot be decided again')
  })

  it('needs the approval of two operators where the setting asks for them', async () => {
    const both = { ...harness.ctx, config: { ...harness.ctx.config, reviewApprovers: 2 as const } }
    const { id } = await makeReview(world)
    const approve = (actor: string) =>
      harness.database.tx((db) =>
        decideReview(
          { ...both, db, actor, entity: { id: harness.entityId } },
          { id, verdict: 'approve', reason: 'known' },
        ),
      )
    expect(await approve('key:one')).toMatchObject({ state: 'pending', firstApprover: 'key:one' })
    await expect(approve('key:one')).rejects.toThrow('another operator')
    expect(await approve('key:two')).toMatchObject({ state: 'approved', decidedBy: 'key:two' })
    expect((await ended(id)).state).toBe('COMPLETE')
  })
})

describe('a payout', () => {
  it('to a listed address fails as denied, and its money is free again', async () => {
    await world.money()
    const { id: addressId, address } = await makeActiveRecipient(world)
    await list(address)
    const payout = await makePayout(world, { destination: { type: 'address_book', id: addressId } })
    const read = async () => await world.call('GET', `/v1/payouts/${payout.id}`)
    await until(async () => (await read()).status !== 'pending', 'the payout ends')
    expect(await read()).toMatchObject({
      status: 'failed',
      errorCode: 'transaction_denied',
      riskEvaluation: { decision: 'denied', reason: '3000' },
    })
  })
})

describe('a signature that the caller receives', () => {
  it('is refused for typed data and transactions that name a listed recipient', async () => {
    const listed = freshAddress()
    await list(listed)
    const { id: walletId } = await world.fundedWallet()
    const { USDC } = harness.chain().tokens
    const permit = (spender: string) =>
      JSON.stringify({
        domain: { name: 'USDC', version: '2', chainId: 84532, verifyingContract: USDC },
        types: {
          Permit: [
            'owner:address',
            'spender:address',
            'value:uint256',
            'nonce:uint256',
            'deadline:uint256',
          ].map((field) => ({ name: field.split(':')[0], type: field.split(':')[1] })),
        },
        primaryType: 'Permit',
        message: { owner: USDC, spender, value: '1', nonce: '0', deadline: '9999999999' },
      })
    const transaction = (to: string, fields = {}) =>
      JSON.stringify({
        to,
        ...fields,
        value: '1',
        nonce: 7,
        chainId: 84532,
        gas: '21000',
        maxFeePerGas: '9',
        maxPriorityFeePerGas: '1',
        type: 2,
      })
    const sign = async (what: string, fields: object) => {
      const body = { walletId, entitySecretCiphertext: await harness.sealSecret(), ...fields }
      const { status, body: answer } = await harness.http('POST', `/v1/w3s/developer/sign/${what}`, { body })
      return [status, answer.code]
    }
    expect(await sign('typedData', { data: permit(freshAddress()) })).toEqual([200, undefined])
    expect(await sign('typedData', { data: permit(listed) })).toEqual([403, 155901])
    expect(await sign('transaction', { transaction: transaction(freshAddress()) })).toEqual([200, undefined])
    expect(await sign('transaction', { transaction: transaction(listed) })).toEqual([403, 155901])
    const abi = parseAbi(['function transfer(address to, uint256 amount)'])
    const data = encodeFunctionData({ abi, functionName: 'transfer', args: [listed as Hex, 1n] })
    const hidden = transaction(USDC as string, { data: `${data}00` })
    expect(await sign('transaction', { transaction: hidden })).toEqual([403, 155901])
  })
})
