/** A sandbox whose only chain runs on the virtual machine of Solana: what its user does to the blocks. */
import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { solanaBalanceOf } from '#testing/nodes/solana-oracle'
import { until } from '#testing/platform/until'
import { type Program, startProgram } from '#testing/processes/program'
import { initializedDirectory } from '#testing/processes/programs'
import { labUserOf } from './lab-user.ts'

const blockchain = 'SOL-DEVNET'
const usdcId = '8fb3cadb-0ef4-573d-8fcd-e194f961c728'
const usdc = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU'

let dataDir: string
let program: Program
const start = async () => {
  program = await startProgram({ dataDir, args: ['--chains', blockchain] })
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

describe('property 239: another branch of a local Solana', () => {
  type Wallet = Awaited<ReturnType<typeof makeWallets>>[0]
  let payer: Wallet
  let payee: Wallet
  /** Reads the balance of the payee by the published client. */
  const atChain = async () => {
    const { rpcUrl } = await shown()
    return solanaBalanceOf(rpcUrl, payee.address, usdc)
  }

  it('takes a payment back, which returns and is paid once, also by a restarted sandbox', async () => {
    ;[payer, payee] = await makeWallets()
    const body = { address: payer.address, blockchain, native: true, usdc: true }
    data(await program.tenant.http('POST', '/v1/faucet/drips', { body }))
    await untilHolds(payer, 'USDC', '20')
    const id = await transfer(payer, payee, '1.5')
    await reaches(id, 'COMPLETE')
    const { txHash, blockHash } = await read(id)
    await onChain('pause')
    const { headNumber } = await shown()
    const reorg = await onChain('reorg', { depth: 1, newBlocks: 2 })
    expect(reorg.returned).toContain(txHash)
    expect(reorg.orphaned).toContain(blockHash)
    expect(reorg.head.number).toBe(headNumber + 1)
    expect(await read(id)).toMatchObject({ state: 'SENT', txHash })
    expect(await balanceOf(payee, 'USDC')).toBe('0')
    expect(await atChain()).toBe(0n)
    await program.killAll()
    await start()
    expect(await shown()).toMatchObject({ isPaused: true, headHash: reorg.head.hash, unmined: 1 })
    await onChain('resume')
    await reaches(id, 'COMPLETE')
    expect(await read(id)).toMatchObject({ txHash, blockHash: expect.not.stringMatching(blockHash) })
    await untilHolds(payee, 'USDC', '1.5')
    expect(await atChain()).toBe(1_500_000n)
  })

  it('drops a payment, which the platform sends again', async () => {
    const id = await transfer(payer, payee, '0.5')
    await reaches(id, 'COMPLETE')
    const { txHash } = await read(id)
    const { dropped } = await onChain('reorg', { depth: 1, transactions: 'drop' })
    expect(dropped).toEqual([txHash])
    await reaches(id, 'COMPLETE')
    expect((await read(id)).txHash).toBe(txHash)
    await untilHolds(payee, 'USDC', '2')
    expect(await atChain()).toBe(2_000_000n)
    expect(await balanceOf(payer, 'USDC')).toBe('18')
  })

  it('is refused beyond its depth, and with a fate that transactions here do not have', async () => {
    const path = `/sandbox/chains/${blockchain}/reorg`
    await onChain('mine', { blocks: 40 })
    const before = await shown()
    expect(before.operations).toContain('reorg')
    for (const [body, reason] of [
      [{ depth: 32 }, `depth must be at most 31 on ${blockchain} now`],
      [{ depth: 65 }, 'depth'],
      [{ depth: 2, newBlocks: 1 }, 'newBlocks must be at least depth, 2'],
      [{ depth: 1, transactions: 'replace' }, `cannot be replace on ${blockchain}`],
    ] as const)
      expect(await refused('POST', path, body)).toEqual([400, 2, expect.stringContaining(reason)])
    expect(await shown()).toEqual(before)
    expect((await onChain('reorg', { depth: 31 })).orphaned).toHaveLength(31)
  })

  it('comes by a plan of faults, and leaves what wallets have', async () => {
    const rule = { name: 'replaced', on: 'chain', when: { times: 1 }, do: { reorg: { depth: 1 } } }
    data(await program.tenant.http('POST', '/sandbox/faults/rules', { body: JSON.stringify(rule) }))
    const id = await transfer(payer, payee, '0.25')
    await reaches(id, 'COMPLETE')
    await until(
      async () => (await get('/sandbox/faults/met'))[0]?.rule === 'replaced',
      'the rule has replaced a block',
    )
    data(await program.tenant.http('DELETE', '/sandbox/faults'))
    await untilHolds(payee, 'USDC', '2.25')
    expect(await atChain()).toBe(2_250_000n)
  })
})

it('property 235: triggers what a chain of Solana has by real operations, payments of the business account among them', async () => {
  const { events } = await get('/sandbox/triggers')
  type Listed = { event: string; blockchains: string[] }
  const possible = (events as Listed[]).filter(({ blockchains }) => blockchains.includes(blockchain))
  const names = possible.map(({ event }) => event)
  expect(names).toEqual(
    expect.arrayContaining(['transaction.reorged', 'payment.reversed', 'payout.complete']),
  )
  for (const event of names) {
    const { made } = await post('/sandbox/triggers', { event })
    expect(made.length, event).toBeGreaterThan(0)
  }
})
