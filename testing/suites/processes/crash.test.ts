/**
 * Kills the program, its PostgreSQL and its chain at a random moment, with many transfers under way. After a restart each
 * transfer has moved its value exactly once by the oracle, and the API agrees.
 */
import { randomInt, randomUUID } from 'node:crypto'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { devAccounts, issuerAccount } from '#sandbox/constants'
import { quantity, rpc } from '#testing/platform/json-rpc'
import { type Movement, openOracle } from '#testing/platform/oracle'
import { until } from '#testing/platform/until'
import { type Program, startProgram } from '#testing/processes/program'
import { initializedDirectory } from '#testing/processes/programs'
import { isDeep, sizeOf } from '#testing/runner/size'

const rounds = sizeOf('CRASH_ROUNDS', { usual: 1, deep: 6 })
const transfersPerRound = sizeOf('CRASH_TRANSFERS', { usual: 20, deep: 200 })
/** Number of kills in a round: the second comes during the recovery from the first. */
const killsPerRound = 2
/**
 * Alternates between rounds: blocks every two seconds keep all transfers pending in the node, instant mining keeps all
 * moving.
 */
const blockTimes = [['--block-time', '2'], []]
/** A single round uses one of the two at random. */
const firstRound = randomInt(1, 3)

const usdcDecimals = 6
type Order = { key: string; to: string; amount: string; walletId: string; id?: string }

let dataDir: string
let program: Program
let wallets: { id: string; address: string }[]
let accepted = 0
const orders: Order[] = []

const start = (round: number) =>
  startProgram({ dataDir, args: ['--chains', 'BASE-SEPOLIA', ...blockTimes[round % blockTimes.length]!] })
const chain = () => program.answer.chains[0]!

beforeAll(async () => {
  dataDir = await initializedDirectory()
  program = await start(1)
  wallets = await fundedWallets(3)
})
afterAll(async () => {
  await program?.killAll()
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
})

for (let round = firstRound; round < firstRound + rounds; round++) {
  it(`property 2: each of ${transfersPerRound} transfers moves its value once although every process is killed (round ${round})`, async () => {
    const made = Array.from({ length: transfersPerRound }, (_, index) => newOrder(round, index))
    orders.push(...made)
    for (let kill = 0; kill < killsPerRound; kill++) {
      accepted = 0
      const atLeast = randomInt(1, transfersPerRound)
      const sending = Promise.allSettled(made.map((order) => submit(order)))
      await until(async () => accepted >= atLeast, `${atLeast} transfers are accepted`)
      await sleep(randomInt(0, 300))
      const moved = await movedAmong(made)
      await program.killAll()
      await sending
      console.info(`killed with ${accepted} of ${made.length} requests answered and ${moved} values moved`)
      program = await start(round)
    }
    // Repeats the same requests with the same keys, as a client does whose connection was cut.
    await Promise.all(made.map((order) => submit(order)))
    await until(allFinal, 'every transfer is final')
    await checkBooks()
  })
}

it('sends the same bytes again when the chain has lost blocks for good', async () => {
  const made = Array.from({ length: isDeep ? 60 : 8 }, (_, index) => newOrder(firstRound + rounds, index))
  orders.push(...made)
  for (let from = 0; from < made.length; from += 8) {
    await Promise.all(made.slice(from, from + 8).map((order) => submit(order)))
    await until(allFinal, 'every transfer is final')
  }
  const before = (await onChain()).length
  await program.killAll()
  // Half of the journal of few transfers would contain the funding of the wallets, which no engine sends again.
  const lost = await cutJournal((lines) => (isDeep ? Math.ceil(lines / 2) : made.length / 2))
  expect(lost).toBeGreaterThan(0)
  program = await start(1)
  // The same transactions in the same order can make the same blocks, so block hashes prove nothing.
  await until(async () => (await onChain()).length >= before, 'all is mined again')
  await until(allFinal, 'every transfer is final again')
  await checkBooks()
})

it('still says the same after an orderly restart', async () => {
  program.signal('SIGTERM', 'process')
  expect(await program.exited).toEqual({ code: 0, signal: null })
  program = await start(rounds)
  await checkBooks()
})

function newOrder(round: number, index: number): Order {
  const to = `0x${(0xbeef_0000_0000n + BigInt(round * 100_000 + index)).toString(16).padStart(40, '0')}`
  const walletId = wallets[index % wallets.length]!.id
  return { key: randomUUID(), to, amount: `0.${String(index + 1).padStart(6, '0')}`, walletId }
}

async function submit(order: Order): Promise<void> {
  const { tenant } = program
  const answer = await tenant.http('POST', '/v1/w3s/developer/transactions/transfer', {
    body: {
      idempotencyKey: order.key,
      entitySecretCiphertext: await tenant.sealSecret(),
      walletId: order.walletId,
      tokenAddress: chain().tokens.USDC,
      blockchain: 'BASE-SEPOLIA',
      destinationAddress: order.to,
      amounts: [order.amount],
      feeLevel: 'MEDIUM',
    },
  })
  expect([200, 201], answer.text).toContain(answer.status)
  if (order.id !== undefined) expect(answer.body.data.id).toBe(order.id)
  order.id = answer.body.data.id
  accepted += 1
}

const onChain = () => openOracle(chain().rpcUrl).transactions()

/** Cuts lines off the end of the journal, as a failed disk does. Returns the number of lost lines. */
async function cutJournal(countOf: (lines: number) => number): Promise<number> {
  const folder = join(dataDir, 'chains', 'BASE-SEPOLIA')
  const generations = (await readdir(folder)).map((name) =>
    Number(/^journal-(\d+)\.jsonl$/.exec(name)?.[1] ?? 0),
  )
  const name = `journal-${Math.max(...generations)}.jsonl`
  const lines = (await readFile(join(folder, name), 'utf8')).split('\n').filter(Boolean)
  const kept = lines.slice(0, Math.max(0, lines.length - countOf(lines.length)))
  await writeFile(join(folder, name), `${kept.join('\n')}\n`)
  return lines.length - kept.length
}

async function movedAmong(made: readonly Order[]): Promise<number> {
  const due = new Set(made.map(({ to }) => to))
  const moved = await openOracle(chain().rpcUrl).transfers({ token: chain().tokens.USDC })
  return moved.filter(({ to }) => due.has(to)).length
}

async function allFinal(): Promise<boolean> {
  for (const state of ['INITIATED', 'CLEARED', 'QUEUED', 'SENT', 'STUCK', 'CONFIRMED']) {
    const query = { state, txType: 'OUTBOUND', pageSize: 1 }
    const { body } = await program.tenant.http('GET', '/v1/w3s/transactions', { query })
    if (body.data.transactions.length > 0) return false
  }
  return true
}

async function checkBooks(): Promise<void> {
  const oracle = openOracle(chain().rpcUrl)
  const token = chain().tokens.USDC
  const due: Movement[] = orders.map(({ to, amount }) => ({ to, token, amountAtomic: atomic(amount) }))
  await oracle.checkMovedOnce(due)
  const recipients = new Set(orders.map(({ to }) => to))
  const sent = (
    await Promise.all(wallets.map(({ address }) => oracle.transfers({ from: address, token })))
  ).flat()
  expect(sent).toHaveLength(orders.length)
  expect(sent.every(({ to }) => recipients.has(to))).toBe(true)
  const hashes = new Map(sent.map(({ to, txHash }) => [to, txHash]))
  for (const order of orders) {
    const { body } = await program.tenant.http('GET', `/v1/w3s/transactions/${order.id}`)
    const { state, txHash, amounts } = body.data.transaction
    expect([order.to, state, txHash]).toEqual([order.to, 'COMPLETE', hashes.get(order.to)])
    expect(atomic(amounts[0])).toBe(atomic(order.amount))
  }
  for (const { id, address } of wallets) {
    await oracle.checkNonces(address)
    await until(async () => {
      const { body } = await program.tenant.http('GET', `/v1/w3s/wallets/${id}/balances`)
      const balances = body.data.tokenBalances as { token: { symbol: string }; amount: string }[]
      const shown = balances.find((balance) => balance.token.symbol === 'USDC')!.amount
      return atomic(shown) === (await oracle.balanceOf(address, token))
    }, `the API shows what ${address} owns`)
  }
}

function atomic(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.split('.')
  return BigInt(whole + fraction.padEnd(usdcDecimals, '0'))
}

async function fundedWallets(count: number) {
  const { tenant } = program
  const post = async (path: string, body: object) => {
    const secret = { idempotencyKey: randomUUID(), entitySecretCiphertext: await tenant.sealSecret() }
    const answer = await tenant.http('POST', path, { body: { ...secret, ...body } })
    expect(answer.status, answer.text).toBe(201)
    return answer.body.data
  }
  const { walletSet } = await post('/v1/w3s/developer/walletSets', { name: 'Crash' })
  const { wallets: made } = await post('/v1/w3s/developer/wallets', {
    walletSetId: walletSet.id,
    blockchains: ['BASE-SEPOLIA'],
    count,
  })
  for (const { address } of made) await fund(address)
  await until(async () => {
    const shown = await Promise.all(
      made.map(async ({ id }: { id: string }) => {
        const { body } = await tenant.http('GET', `/v1/w3s/wallets/${id}/balances`)
        return body.data.tokenBalances.length as number
      }),
    )
    return shown.every((balances) => balances >= 2)
  }, 'the wallets show what they were given')
  return made as { id: string; address: string }[]
}

/** Sends ten native coins from an account of the node and 1,000 USDC from the issuer, which may mint after one call. */
async function fund(address: string): Promise<void> {
  const { rpcUrl, tokens } = chain()
  const word = (value: bigint) => value.toString(16).padStart(64, '0')
  const padded = (text: string) => text.slice(2).toLowerCase().padStart(64, '0')
  const from = devAccounts[0]!.address
  const send = (transaction: object) =>
    rpc(rpcUrl, 'eth_sendTransaction', [{ gas: '0x30d40', ...transaction }])
  await send({ from, to: address, value: quantity(10n ** 19n) })
  await rpc(rpcUrl, 'anvil_impersonateAccount', [issuerAccount.address])
  const allow = `0x4e44d956${padded(from)}${word(10n ** 18n)}`
  await send({ from: issuerAccount.address, to: tokens.USDC, data: allow })
  await rpc(rpcUrl, 'anvil_stopImpersonatingAccount', [issuerAccount.address])
  await send({ from, to: tokens.USDC, data: `0x40c10f19${padded(address)}${word(10n ** 9n)}` })
}
