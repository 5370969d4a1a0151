/** A sandbox whose only chain is simulated, as a user starts it: no node of the network can be installed. */
import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addressOfAccount, aptosAccount, aptosClient } from '#testing/nodes/aptos-clients'
import { until } from '#testing/platform/until'
import { type Program, startProgram } from '#testing/processes/program'
import { initializedDirectory } from '#testing/processes/programs'
import { labUserOf } from './lab-user.ts'

const blockchain = 'APTOS-TESTNET'
const usdcId = 'e3cbdafc-42c3-58cc-ae4c-b31dbb10354c'

let dataDir: string
let program: Program
const start = async (...more: string[]) => {
  program = await startProgram({ dataDir, args: ['--chains', blockchain, ...more] })
}
beforeAll(async () => {
  dataDir = await initializedDirectory()
  await start()
})
afterAll(async () => {
  await program?.killAll()
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
})

const user = labUserOf(() => program, { blockchain, usdcId })
const { data, get, post, refused, shown, onChain } = user
const { makeWallets, balanceOf, untilHolds, transfer, read, reaches } = user

/** The transaction as the node has it. */
async function committed(txHash: string): Promise<void> {
  const answer = await fetch(`${(await shown()).rpcUrl}/transactions/by_hash/${txHash}`)
  expect(await answer.json()).toMatchObject({ hash: txHash, success: true })
}

describe('a simulated chain', () => {
  it('says that it is simulated, and serves the published client at the address that it shows', async () => {
    const [known] = (await get('/sandbox')).chains
    expect(known).toMatchObject({ blockchain, chainId: 2, isSimulated: true })
    const account = addressOfAccount(aptosAccount('5c'))
    const paid = await post('/sandbox/faucet', { address: account, blockchain, token: 'USDC', amount: '7.5' })
    expect(paid).toMatchObject({ status: 'mined', blockNumber: expect.any(Number) })
    const client = aptosClient({ url: known.rpcUrl, faucetUrl: known.rpcUrl })
    const asset = { accountAddress: account, asset: known.tokens.USDC }
    expect(await client.getBalance(asset)).toBe(7_500_000)
    expect(await shown()).toMatchObject({
      mining: 'each_transaction',
      isSimulated: true,
      operations: ['mine', 'pause', 'resume', 'interval', 'drop'],
    })
  })

  it('property 220: a payment that expires is made again once, and snapshots, restarts and lost answers leave it paid once', async () => {
    const [payer, payee] = await makeWallets()
    data(
      await program.tenant.http('POST', '/v1/faucet/drips', {
        body: { address: payer.address, blockchain, native: true, usdc: true },
      }),
    )
    await untilHolds(payer, 'USDC', '20')
    expect(await balanceOf(payer, 'APT-TESTNET')).toBe('1')
    await onChain('pause')
    const id = await transfer(payer, payee, '1.5')
    await reaches(id, 'SENT')
    const { txHash } = await read(id)
    await post('/sandbox/snapshots', { name: 'sent' })

    const { isAdvancing } = await post('/sandbox/clock/advance', { by: 'P1D' })
    expect(isAdvancing).toBe(false)
    await onChain('mine')
    expect(await shown()).toMatchObject({ isPaused: true })
    await until(async () => (await read(id)).txHash !== txHash, 'the payment has other bytes')
    await onChain('resume')
    await reaches(id, 'COMPLETE')
    await untilHolds(payee, 'USDC', '1.5')

    await post('/sandbox/snapshots/sent/restore')
    expect(await shown()).toMatchObject({ isPaused: true, unmined: 1 })
    expect(await balanceOf(payee, 'USDC')).toBe('0')
    const before = await shown()
    await program.killAll()
    await start()
    const { rpcUrl, headHash, mining, unmined } = before
    expect(await shown()).toMatchObject({ rpcUrl, headHash, mining, unmined })
    await onChain('resume')
    await reaches(id, 'COMPLETE')
    expect((await read(id)).txHash).toBe(txHash)
    await untilHolds(payee, 'USDC', '1.5')

    const lost = { name: 'lost', on: 'node', match: { blockchain, method: 'POST /v1/transactions' } }
    const rule = JSON.stringify({ ...lost, when: { times: 2 }, do: { reply: 'resetAfter' } })
    data(await program.tenant.http('POST', '/sandbox/faults/rules', { body: rule }))
    const second = await transfer(payer, payee, '0.5')
    await reaches(second, 'COMPLETE')
    const met = await get('/sandbox/faults/met')
    expect(met[0].about).toMatchObject({ caller: 'platform', txHash: (await read(second)).txHash })
    data(await program.tenant.http('DELETE', '/sandbox/faults'))
    await untilHolds(payee, 'USDC', '2')
    expect(await balanceOf(payer, 'USDC')).toBe('18')
  })

  it('property 221: refuses the operations and the faults that it lacks, names the remedy, and stays as it is', async () => {
    const before = await shown()
    const on = `/sandbox/chains/${blockchain}`
    const lacking: [string, object, string][] = [
      ['reorg', { depth: 1 }, 'which has no reorgs, because its blocks are final: drop a transaction'],
      ['base-fee', { gwei: '3' }, 'which has no base fee: pause it'],
      [
        'impersonate',
        { address: `0x${'12'.repeat(32)}`, call: { to: `0x${'12'.repeat(32)}`, data: '0x' } },
        'which takes no transaction without a signature',
      ],
    ]
    for (const [verb, body, reason] of lacking)
      expect(await refused('POST', `${on}/${verb}`, body)).toEqual([
        400,
        155510,
        expect.stringContaining(`is ${blockchain}, ${reason}`),
      ])
    const rules: [object, string][] = [
      [{ on: 'chain', do: { reorg: { depth: 1 } } }, `${blockchain} has no reorgs`],
      [{ on: 'chain', do: { gasLimit: 30_000 } }, `${blockchain} has no gas limit`],
      [{ on: 'node', do: { reply: 'halfOfBatch' } }, 'has no answer halfOfBatch, which is one of JSON-RPC'],
      [
        { on: 'node', match: { method: 'eth_sendRawTransaction' }, do: { reply: 'resetAfter' } },
        'is no method of a node: write one such as POST /v1/transactions',
      ],
    ]
    for (const [rule, reason] of rules)
      expect(
        await refused('POST', '/sandbox/faults/rules', JSON.stringify({ name: 'lacked', ...rule })),
      ).toEqual([400, 2, expect.stringContaining(reason)])
    const wrong: [object, string][] = [
      [{ address: `0x${'ab'.repeat(20)}` }, '0x and 64 hexadecimal digits'],
      [{ address: `0x${'0'.repeat(64)}` }, 'and not zero'],
      [{ amount: '200000000000', token: 'NATIVE' }, 'whose amounts have 64 bits'],
    ]
    const payment = { address: `0x${'12'.repeat(32)}`, blockchain, token: 'USDC', amount: '1' }
    for (const [change, reason] of wrong)
      expect(await refused('POST', '/sandbox/faucet', { ...payment, ...change })).toEqual([
        400,
        2,
        expect.stringContaining(reason),
      ])
    expect(await shown()).toEqual(before)
    expect(await get('/sandbox/faults')).toEqual({ hits: {} })
  })

  it('property 235: triggers what it has by real operations, and refuses by name what it lacks', async () => {
    const { events } = await get('/sandbox/triggers')
    type Listed = { event: string; blockchains: string[]; needs?: string }
    const possible = (events as Listed[]).filter(({ blockchains }) => blockchains.includes(blockchain))
    expect(possible.map(({ event }) => event)).toEqual([
      'transaction.complete',
      'transaction.inbound',
      'transaction.denied',
      ...['initialize', 'setPin', 'changePin', 'restorePin', 'createWallet', 'createTransaction'].map(
        (name) => `challenge.${name}`,
      ),
      'challenge.accelerateTransaction',
      'challenge.cancelTransaction',
    ])
    for (const { event } of possible.filter(({ event }) => !/Pin|initialize|createWallet/.test(event))) {
      const { made } = await post('/sandbox/triggers', { event })
      const [found] = made.filter(({ kind }: { kind: string }) => kind === 'transaction')
      const { state, txHash } = await read(found.id)
      // A request of a user has happened once it is approved, whatever becomes of its transaction.
      if (/accelerate|cancel/.test(event)) continue
      expect(state, event).toBe(event === 'transaction.denied' ? 'DENIED' : 'COMPLETE')
      if (state === 'COMPLETE') await committed(txHash)
    }
    const wallets = async () => (await get('/v1/w3s/wallets?pageSize=50')).wallets.length
    const before = await wallets()
    for (const { event, needs } of (events as Listed[]).filter((each) => !possible.includes(each)))
      expect(await refused('POST', '/sandbox/triggers', { event })).toEqual([
        400,
        2,
        expect.stringContaining(
          `has no ${needs}: no chain of this sandbox has ${needs}, so start it with BASE-SEPOLIA too`,
        ),
      ])
    expect(await wallets()).toBe(before)
  })

  it('stands still while time is frozen, mines on a timer, forgets what is dropped, and begins anew', async () => {
    await post('/sandbox/clock/freeze')
    await onChain('mine', { blocks: 3 })
    const { rpcUrl } = await shown()
    const timeOf = async () => {
      const { ledger_timestamp: us } = (await (await fetch(rpcUrl)).json()) as { ledger_timestamp: string }
      return Date.parse((await get('/sandbox/clock')).now) - Number(BigInt(us) / 1_000n)
    }
    const frozen = await timeOf()
    await onChain('mine', { blocks: 1 })
    expect(await timeOf()).toBe(frozen)
    await post('/sandbox/clock/release')
    await onChain('interval', { seconds: 1 })
    const { headNumber } = await shown()
    await until(async () => (await shown()).headNumber > headNumber, 'a timer has made a block')
    await onChain('pause')
    const { txHash, status } = await post('/sandbox/faucet', {
      address: `0x${'34'.repeat(32)}`,
      blockchain,
      token: 'NATIVE',
      amount: '1',
    })
    expect(status).toBe('unmined')
    expect(await onChain('drop', { txHash })).toMatchObject({ unmined: 0 })
    expect(await refused('POST', `/sandbox/chains/${blockchain}/drop`, { txHash })).toEqual([
      404,
      expect.any(Number),
      expect.stringContaining('a node forgets what it drops'),
    ])
    await post('/sandbox/snapshots/@fresh/restore')
    expect(await shown()).toMatchObject({ headNumber: 1, mining: 'each_transaction', rpcUrl })
    const [payer] = await makeWallets()
    await post('/sandbox/faucet', { address: payer.address, blockchain, token: 'USDC', amount: '3' })
    await untilHolds(payer, 'USDC', '3')
  })
})
