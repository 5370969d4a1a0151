/** A configured chain reverts final blocks: it is halted, and an operator decides. */

import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { acceptFork, ForkChanged, findFork, startIndexer } from '#engines/indexer/index'
import { findHalt } from '#engines/indexer/store/halts'
import { screener } from '#engines/transactions/screen'
import { signWaiting } from '#engines/transactions/sign'
import { claimDueAttempts } from '#engines/transactions/store/attempts'
import { sql } from '#runtime/db/db'
import { newTurn } from '#runtime/turns/store'
import { checkLedger } from '#testing/builders/ledger-checks'
import { transferActions } from '#testing/builders/transfers'
import { freshAddress, type Wallet } from '#testing/builders/world'
import { urlOf } from '#testing/databases/database-clone'
import { testRootKey } from '#testing/databases/template'
import { shortFinalityNetwork } from '#testing/platform/chain'
import { type Harness, openHarness } from '#testing/platform/harness'
import { mineUntil, until } from '#testing/platform/until'
import { chainCommand } from './chain.ts'
import { parseCommand } from './command.ts'

const { blockchain, confirmations } = shortFinalityNetwork
const to = { complete: freshAddress(), signed: freshAddress(), accepted: freshAddress() }
let harness: Harness
let on: ReturnType<typeof transferActions>
let wallet: Wallet
const ids: Record<keyof typeof to, string> = { complete: '', signed: '', accepted: '' }
let sends = 0
let printed = ''

beforeAll(async () => {
  harness = await openHarness({ blockchains: [blockchain], node: async () => ({ local: false }) })
  on = transferActions(harness)
})
beforeEach(() => {
  vi.stubEnv('DATABASE_URL', urlOf(harness.connection))
  vi.stubEnv('BEZANT_ROOT_KEY', testRootKey.toString('hex'))
  vi.stubEnv('BEZANT_NETWORKS', JSON.stringify([{ blockchain, rpcUrl: harness.chain().rpcUrl }]))
  printed = ''
  // No input at the terminal.
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(Readable.from([]) as never)
  vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += text
    return true
  })
})
afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})
afterAll(() => harness?.close())

async function bezantChain(...args: string[]): Promise<number> {
  const parsed = parseCommand('chain', chainCommand, args)
  if (parsed === 'help') throw new Error('asked for help')
  return chainCommand.run(parsed)
}

const grantOf = (id: string) => harness.database.maybe(sql`select 1 from grants where intent_id = ${id}`)
const hashAt = async (number: number | 'latest') =>
  (
    await harness
      .chain()
      .rpc<{ hash: string }>('eth_getBlockByNumber', [
        number === 'latest' ? number : `0x${number.toString(16)}`,
        false,
      ])
  ).hash

/** Drops all sent transactions, and counts them. */
const loseSends = () =>
  harness.chain().intercept(async ({ body }) => {
    if (!body.includes('eth_sendRawTransaction')) return 'forward'
    sends += 1
    return 'drop'
  })

it('property 67: a halted chain signs nothing, sends nothing and accepts nothing', async () => {
  const { mine, reorg, height } = harness.chain()
  wallet = await on.fundedWallet()
  ids.complete = await on.transfer(wallet, { destinationAddress: to.complete })
  const { blockHeight } = await on.reaches(ids.complete, 'CONFIRMED')
  await mine(confirmations)
  await on.reaches(ids.complete, 'COMPLETE')
  const isFinal = async () => (await grantOf(ids.complete)) === undefined
  await mineUntil(harness.chain(), isFinal, 'the transfer is final')
  loseSends()
  ids.signed = await on.transfer(wallet, { destinationAddress: to.signed })
  await until(async () => sends > 0, 'its bytes are sent, and lost')
  await harness.stopEngines()
  ids.accepted = await on.transfer(wallet, { destinationAddress: to.accepted })
  await reorg((await height()) - blockHeight! + 1)
  await mine()
  const indexer = startIndexer(harness.ctx)
  await until(async () => (await findHalt(harness.database, blockchain)) !== undefined, 'it is halted')
  await indexer.stop()

  sends = 0
  harness.startEngines()
  const chain = harness.ctx.chains.find(blockchain)!
  // The batch of a worker that did not know of the halt yet.
  expect(await screener(harness.ctx, chain)()).toBe(true)
  expect(await signWaiting(harness.ctx, chain, newTurn('signing'), () => undefined)).toBe(false)
  expect(await claimDueAttempts(harness.database, newTurn('sending'), blockchain, 10, 0)).toEqual([])
  const request = {
    idempotencyKey: randomUUID(),
    walletId: wallet.id,
    entitySecretCiphertext: await harness.sealSecret(),
  }
  const transfer = await harness.http('POST', '/v1/w3s/developer/transactions/transfer', {
    body: {
      ...request,
      tokenId: on.world.usdcId,
      destinationAddress: freshAddress(),
      amounts: ['1'],
      feeLevel: 'LOW',
    },
  })
  const { idempotencyKey: _, ...signing } = request
  const message = await harness.http('POST', '/v1/w3s/developer/sign/message', {
    body: { ...signing, message: 'hello', entitySecretCiphertext: await harness.sealSecret() },
  })
  for (const { status, body } of [transfer, message]) expect([status, body.code]).toEqual([503, 155901])
  expect(await on.attemptsOf(ids.accepted)).toEqual([])
  expect(await on.statesOf([ids.complete, ids.signed, ids.accepted])).toEqual(
    expect.arrayContaining(['COMPLETE', 'CLEARED']),
  )
  expect(sends).toBe(0)
})

it('refuses an unknown block, a block on both branches, and a run without confirmation', async () => {
  const head = (await harness.database.one<{ hash: string; number: number }>(
    sql`select hash, number from blocks where canonical order by number desc limit 1`,
  ))!
  await expect(bezantChain('accept', blockchain, '--at', 'latest')).rejects.toThrow('--at must be the hash')
  await expect(bezantChain('accept', 'BASE', '--at', head.hash)).rejects.toThrow('no chain "BASE"')
  await expect(bezantChain('accept', blockchain, '--at', head.hash)).rejects.toThrow(
    `no endpoint of ${blockchain} has`,
  )
  await expect(bezantChain('accept', blockchain, '--at', await hashAt(1))).rejects.toThrow(
    'is on both branches',
  )
  expect(await bezantChain('accept', blockchain, '--at', await hashAt('latest'))).toBe(1)
  expect(printed).toContain('1 transfer from wallet addresses: 0.5 USDC')
  expect(printed).toContain('Nothing was changed.')
  printed = ''
  expect(await bezantChain('list', '--json')).toBe(0)
  expect(JSON.parse(printed)).toMatchObject({ blockchain, head: head.number, blockHash: head.hash })
  expect(
    await harness.database.all(sql`select hash from blocks where canonical order by number desc limit 1`),
  ).toEqual([{ hash: head.hash }])
})

it('property 67: resumes on the branch that its operator accepts, and each transfer is paid once', async () => {
  const { mine, oracle, tokens, intercept } = harness.chain()
  const accepted = await hashAt('latest')
  const chain = harness.ctx.chains.find(blockchain)!
  const shownToAnother = await findFork(harness.ctx, chain, accepted)
  expect(await bezantChain('accept', blockchain, '--at', accepted, '--yes')).toBe(0)
  intercept(undefined)
  for (const id of Object.values(ids)) await on.reaches(id, 'CONFIRMED')
  await mine(confirmations)
  for (const id of Object.values(ids)) await on.reaches(id, 'COMPLETE')
  await expect(acceptFork(harness.ctx, chain, shownToAnother)).rejects.toBeInstanceOf(ForkChanged)
  await oracle.checkMovedOnce(
    Object.values(to).map((address) => ({ to: address, token: tokens.USDC, amountAtomic: 500_000n })),
  )
  await oracle.checkNonces(wallet.address)
  await checkLedger(harness.database)
  expect(await on.held(wallet)).toBe(0n)
  const events = await harness.database.all<{ type: string }>(
    sql`select type from events where resource_id = ${ids.complete} order by create_date, id`,
  )
  const reopened = events.map(({ type }) => type).lastIndexOf('transaction.sent')
  expect(events.slice(reopened).map(({ type }) => type)).toEqual([
    'transaction.sent',
    'transaction.confirmed',
    'transaction.complete',
  ])
  expect(await harness.database.all(sql`select actor, accepted_hash as hash from chain_acceptances`)).toEqual(
    [{ actor: 'operator', hash: accepted }],
  )
  expect(
    await harness.database.all(
      sql`select actor, resource_id as id from audit where action = 'chain.accepted'`,
    ),
  ).toEqual([{ actor: 'operator', id: blockchain }])
  await expect(bezantChain('accept', blockchain, '--at', accepted)).rejects.toThrow('is not halted')
})
