/** Tools over HTTP, through the published client of the protocol: each request has the rights of its key, and no more. */
import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshAddress, type Wallet, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { runCommand } from '#testing/processes/command'
import { type Program, spawnProgram } from '#testing/processes/program'
import { newAgent, openToolsAt, type ToolClient } from '#testing/processes/tool-client'
import { openSeller } from '#testing/servers/x402-seller'

let harness: Harness
let wallet: Wallet
let command: Awaited<ReturnType<typeof startCommand>>

beforeAll(async () => {
  harness = await openHarness()
  wallet = await worldOf(harness).fundedWallet()
  command = await startCommand()
})
afterAll(() => harness?.close())

async function startCommand() {
  const { child, exited, stdout, stderr } = await spawnProgram({
    command: 'mcp',
    args: ['--listen', '0', '--allow-acts', '--local-sellers'],
    env: {
      BEZANT_URL: harness.url,
      BEZANT_API_KEY: harness.apiKey,
      BEZANT_ENTITY_SECRET: harness.entitySecret,
    },
  })
  const end = async (): Promise<Awaited<Program['exited']>> => {
    child.kill('SIGTERM')
    return exited
  }
  harness.atClose(end)
  await until(() => stdout().includes('/mcp') || child.exitCode !== null, `it serves: ${stderr()}`)
  return { url: /http\S+/.exec(stdout())![0], end, output: () => stdout() + stderr() }
}

async function agentTools(apiKey: string): Promise<ToolClient> {
  const tools = await openToolsAt(command.url, apiKey)
  harness.atClose(tools.close)
  return tools
}

const newKey = async () => {
  const { id, env } = await newAgent(harness)
  return { id, apiKey: env.BEZANT_API_KEY }
}

const transfer = (idempotencyKey: string, destinationAddress: string) => ({
  walletId: wallet.id,
  destinationAddress,
  amount: '1.5',
  tokenAddress: harness.chain().tokens.USDC,
  idempotencyKey,
})

/** Headers as a program sends them, which `fetch` would not: Host, above all. */
const statusOf = (headers: Record<string, string>, body = '{}', path = '') =>
  new Promise<number | undefined>((resolve, reject) => {
    request(command.url + path, { method: 'POST', headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .once('error', reject)
      .end(body)
  })

describe('property 261: tools over HTTP', () => {
  it('act for the key that each request names', async () => {
    const [first, second] = await Promise.all([newKey(), newKey()])
    const to = freshAddress()
    const tools = await agentTools(first.apiKey)
    const { transaction } = await tools.call('make_transfer', transfer('over http', to))
    expect(transaction).toMatchObject({ state: 'COMPLETE', destinationAddress: to })
    const others = await agentTools(second.apiKey)
    await others.call('make_transfer', transfer('of the second', freshAddress()))
    const { data } = (await harness.http('GET', '/operator/events?type=tool.used&pageSize=2')).body
    expect(data.map(({ actor }: { actor: string }) => actor)).toEqual([`key:${second.id}`, `key:${first.id}`])
    // A transfer is repeated over a new connection of the same key, and of no other.
    const again = await agentTools(first.apiKey)
    expect((await again.call('make_transfer', transfer('over http', to))).transaction.id).toBe(transaction.id)
    const paid = await harness.chain().oracle.transfers({ to })
    expect(paid.map(({ amountAtomic }) => amountAtomic)).toEqual([1_500_000n])
  })

  it('buy once for a key, over connections of their own', async () => {
    const { apiKey } = await newKey()
    const payTo = freshAddress()
    const seller = await openSeller(harness, { payTo })
    const purchase = { url: seller.url, walletId: wallet.id, maxAmount: '0.10', idempotencyKey: 'one' }
    const agents = await Promise.all([1, 2, 3].map(() => agentTools(apiKey)))
    for (const answer of await Promise.all(agents.map((tools) => tools.call('fetch_with_payment', purchase))))
      expect(answer).toMatchObject({ paid: 'yes', content: 'it will be sunny' })
    expect(seller.payments).toHaveLength(1)
    const paid = await harness.chain().oracle.transfers({ to: payTo })
    expect(paid.map(({ amountAtomic }) => amountAtomic)).toEqual([100_000n])
  })

  it('read alone for a key of another tenant, and fetch nothing for it', async () => {
    const other = await harness.newEntity()
    const tools = await agentTools(other.apiKey)
    expect(await tools.refusal('show_wallet', { walletId: wallet.id })).toContain('no wallet of this entity')
    const seller = await openSeller(harness, { payTo: freshAddress() })
    const foreign = await worldOf(harness, other).wallet()
    const purchase = { url: seller.url, walletId: foreign.id, maxAmount: '0.10', idempotencyKey: 'one' }
    for (const [name, input] of [
      ['make_transfer', transfer('foreign', freshAddress())],
      ['fetch_with_payment', purchase],
    ] as const)
      await expect(tools.client.callTool({ name, arguments: { ...input } })).rejects.toThrow(name)
    expect(seller.asked()).toBe(0)
    const { wallets } = await tools.call('list_wallets')
    expect(wallets.map(({ id }: { id: string }) => id)).toEqual([foreign.id])
  })

  it('need a key that the platform accepts, and a host of their own', async () => {
    const authorization = `Bearer ${(await newKey()).apiKey}`
    expect(await statusOf({})).toBe(401)
    expect(await statusOf({ authorization: 'Bearer TEST_API_KEY:none:none' })).toBe(401)
    expect(await statusOf({ authorization: `Basic ${authorization.slice(7)}` })).toBe(401)
    await expect(openToolsAt(command.url, 'TEST_API_KEY:none:none')).rejects.toThrow()
    // Pages of other origins, also under a name that leads to this machine.
    expect(await statusOf({ authorization, origin: 'https://evil.example' })).toBe(403)
    expect(await statusOf({ authorization, origin: 'null' })).toBe(403)
    expect(await statusOf({ authorization, host: 'evil.example' })).toBe(403)
    expect(await statusOf({ authorization }, 'x'.repeat(300_000))).toBe(413)
    expect(await statusOf({ authorization }, '{}', '/more')).toBe(404)
    expect(await statusOf({ authorization }, 'no json')).toBeGreaterThanOrEqual(400)
  })

  it('end for a key that was revoked', async () => {
    const { id, apiKey } = await newKey()
    const tools = await agentTools(apiKey)
    await tools.call('list_wallets')
    const revoked = await harness.http('DELETE', `/operator/apiKeys/${id}`)
    expect(revoked.status).toBeLessThan(300)
    const isRefused = () =>
      tools.client.listTools().then(
        () => false,
        () => true,
      )
    await until(isRefused, 'the key is refused')
  })

  it('leave keys and the secret out of what the command writes', async () => {
    const { apiKey } = await newKey()
    const tools = await agentTools(apiKey)
    await tools.refusal('make_transfer', { ...transfer('x', 'nowhere'), amount: '-1' })
    for (const secret of [apiKey, harness.entitySecret]) expect(command.output()).not.toContain(secret)
  })

  it.each([
    [['--listen', 'x'], '--listen must be a port'],
    [['--listen', '70000'], '--listen must be a port'],
    [['--listen', '0.0.0.0:4030'], 'needs --public-url'],
    [['--listen', '4030', '--public-url', 'http://agents.example'], 'a proxy with https'],
    [['--public-url', 'https://agents.example'], '--public-url needs --listen'],
  ])('are refused with %j before anything is served', async (args, problem) => {
    const { code, stderr } = await runCommand({ command: 'mcp', args })
    expect([code, stderr]).toEqual([2, expect.stringContaining(problem)])
  })

  it('say that a port is in use, and end with a signal', async () => {
    const { port } = new URL(command.url)
    const { code, stderr } = await runCommand({ command: 'mcp', args: ['--listen', port] })
    expect([code, stderr]).toEqual([1, expect.stringContaining('(EADDRINUSE): choose another address')])
    expect(await command.end()).toEqual({ code: 0, signal: null })
  })
})
