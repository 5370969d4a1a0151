/** Processes that start beside nodes whose code was changed; each has connections and readings of its own. */
import { randomUUID } from 'node:crypto'
import { type Hex, keccak256 } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openContext, startApi } from '#context'
import { sql } from '#runtime/db/db'
import { alarmCounts, alarmWords } from '#runtime/log/alarms'
import { startSandboxEngines } from '#sandbox/engines'
import { openFaucet } from '#sandbox/faucet/faucet'
import { replaceCode } from '#testing/builders/account-contracts'
import { addressOwner } from '#testing/builders/modular-accounts'
import { accountActions } from '#testing/builders/smart-accounts'
import { freshAddress, worldOf } from '#testing/builders/world'
import { testRootKey } from '#testing/databases/template'
import { type Harness, openHarness } from '#testing/platform/harness'
import { httpAs } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'

let harness: Harness
const undo: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  harness = await openHarness()
})
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})
afterAll(() => harness?.close())

const blockchain = 'BASE-SEPOLIA'
const addresses = {
  entryPoint: '0x0000000071727de22e5e9d8baf0edac6f37da032',
  clientFactory: '0x0000000df7e6c9dc387cafc5ecbfa6c3a6179add',
  clientImplementation: '0xa70f1296869da9d7cb69578123f21888e6db2b62',
}
const codeAt = (address: string) => harness.chain().rpc<Hex>('eth_getCode', [address, 'latest'])

async function change(address: string, code?: string) {
  const { restore } = await replaceCode(harness.chain(), address, code ?? `${await codeAt(address)}00`)
  undo.push(restore)
  return restore
}

const raised = () => alarmCounts().get('account-code-unknown')!

/** Starts a process, and calls it as clients do. */
async function startProcess(accountCode?: Record<string, string>) {
  const { ctx: former, connection } = harness
  const { rpcUrl } = harness.chain()
  const { ctx, close } = await openContext({
    config: { ...former.config, publicUrl: undefined },
    log: former.log,
    connection,
    rootKey: testRootKey,
    clock: harness.clock,
    inspects: true,
    nodes: [{ blockchain, rpcUrl, local: true, accountCode }],
  })
  undo.push(close)
  const { url, stop } = await startApi(ctx)
  undo.push(stop)
  const rpc = async (method: string, params: unknown[]) => {
    const body = { jsonrpc: '2.0', id: 1, method, params }
    const answer = await httpAs(url, harness.clientKey)('POST', '/v1/rpc/w3s/buidl/baseSepolia', { body })
    return answer.body
  }
  return {
    ctx,
    makeModular: async () => {
      const owners = [{ address: addressOwner().address, weight: 1 }]
      const weightedMultisig = { owners, thresholdWeight: 1 }
      const scaConfiguration = {
        initialOwnershipConfiguration: { weightedMultisig },
        scaCore: 'circle_6900_v1',
      }
      const { error } = await rpc('circle_getAddress', [{ scaConfiguration }])
      return error?.code ?? 'made'
    },
    rpc,
    createWallet: async (accountType: 'EOA' | 'SCA') => {
      const { status, body } = await httpAs(url, harness.apiKey)('POST', '/v1/w3s/developer/wallets', {
        body: {
          idempotencyKey: randomUUID(),
          entitySecretCiphertext: await harness.sealSecret(),
          walletSetId: (await worldOf(harness).walletSet()).id,
          blockchains: [blockchain],
          accountType,
        },
      })
      return [status, body.code]
    },
    problems: async () => {
      const { body } = await httpAs(url, harness.apiKey)('GET', '/operator/chains')
      return body.data[0].contractProblems.map(({ contract, problem }: Record<string, string>) => [
        contract,
        problem,
      ])
    },
  }
}

describe('property 83: no account relies on code that is neither known nor pinned', () => {
  it('unknown code stops modular wallets until the operator pins it, and nothing else', async () => {
    const restore = await change(addresses.clientImplementation)
    const before = raised()
    const process = await startProcess()
    expect(await process.makeModular()).toBe(-32008)
    const entryPoint = addresses.entryPoint
    const operation = { sender: freshAddress(), nonce: '0x0', callData: '0x' }
    for (const method of ['pm_getPaymasterStubData', 'pm_getPaymasterData', 'eth_sendUserOperation'])
      expect((await process.rpc(method, [operation, entryPoint])).error.code).toBe(-32008)
    expect(await process.rpc('eth_chainId', [])).toMatchObject({ result: '0x14a34' })
    expect(raised()).toBe(before + 1)
    expect(alarmWords().get('account-code-unknown')).toContain('not known')
    expect(await process.problems()).toEqual([['client implementation', 'unknown-code']])
    expect(await process.createWallet('SCA')).toEqual([201, undefined])

    const hash = keccak256(await codeAt(addresses.clientImplementation))
    const pinning = await startProcess({
      [addresses.clientImplementation]: hash.toUpperCase().replace('X', 'x'),
    })
    expect(await pinning.makeModular()).toBe('made')
    expect(await pinning.problems()).toEqual([])
    await restore()
    await until(async () => (await process.makeModular()) === 'made', 'the first one serves again')
    // A process reports a pinned contract that is missing when it starts.
    const known = raised()
    await startProcess({ [addresses.clientImplementation]: hash })
    await until(async () => raised() === known + 1, 'the start tells')
  })

  it('a pinned factory that makes accounts of another proxy or implementation is refused', async () => {
    const ownFactory = await codeAt(harness.ctx.chains.find(blockchain)!.accounts!.creations[2]!.address)
    await change(addresses.clientFactory, ownFactory)
    const process = await startProcess({ [addresses.clientFactory]: keccak256(ownFactory) })
    expect(await process.makeModular()).toBe(-32008)
    expect(await process.problems()).toEqual([['client factory', 'other-accounts']])
  })

  it('unknown code creates no smart account of a developer, and other wallets are created', async () => {
    const accounts = harness.ctx.chains.find(blockchain)!.accounts!
    const restore = await change(accounts.creations[0]!.address)
    const before = raised()
    const process = await startProcess()
    await until(async () => raised() === before + 1, 'the start tells')
    expect(await process.createWallet('SCA')).toEqual([503, 155_902])
    expect(await process.createWallet('EOA')).toEqual([201, undefined])
    expect(await process.makeModular()).toBe('made')
    await restore()
    await until(async () => (await process.createWallet('SCA'))[0] === 201, 'it creates them again')
  })

  it('nothing is deposited or bundled until the EntryPoint is the one that all chains have', async () => {
    const world = worldOf(harness)
    const accounts = accountActions(world)
    const from = await accounts.make()
    await harness.stopEngines()
    const to = freshAddress()
    const id = await accounts.transfer(from, to)
    const restore = await change(addresses.entryPoint, '0x00')
    const before = raised()
    const { ctx } = await startProcess()
    const faucet = openFaucet(ctx)
    const engines = startSandboxEngines(ctx, faucet)
    undo.push(() => engines.stop(), faucet.stop)
    await accounts.signed(id)
    await until(async () => raised() > before, 'the alarm is raised')
    const calls = () =>
      harness.database.all(sql`select 1 from account_calls where entity_id = ${world.tenant.entityId}`)
    expect(await calls()).toEqual([])
    await restore()
    await accounts.reaches(id, 'COMPLETE')
    await accounts.movedOnce(from, [to])
  })
})
