/** The published command-line tool of agent wallets, as a process, through `bezant agent-proxy`: the chain says what moved. */
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshEmail } from '#testing/builders/users'
import { freshAddress, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { httpAs } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { type CircleCli, openCircleCli, startAgentProxy } from '#testing/processes/circle-cli'
import { runCommand } from '#testing/processes/command'
import { openSeller } from '#testing/servers/x402-seller'

let harness: Harness
let world: World
let proxyUrl: string
let circle: CircleCli
let address: string

const email = freshEmail()
const forecast = 'https://shop.example/forecast'
const chain = () => harness.chain().blockchain
const usdc = () => harness.chain().tokens.USDC
const from = () => ['--address', address, '--chain', chain()]
const paidTo = async (to: string) =>
  (await harness.chain().oracle.transfers({ to, token: usdc() })).map(({ amountAtomic }) => amountAtomic)

beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'ARC-TESTNET'] })
  world = worldOf(harness)
  const directory = await mkdtemp(join(tmpdir(), 'bezant-services-'))
  harness.atClose(() => rm(directory, { recursive: true, force: true }))
  const services = join(directory, 'services.json')
  await writeFile(
    services,
    JSON.stringify([{ resource: forecast, description: 'the weather', category: 'DATA' }]),
  )
  proxyUrl = await startAgentProxy(world, ['--services', services])
  circle = await openCircleCli(world, proxyUrl)
  await circle.logIn(email)
  const { wallets } = await circle.json('wallet', 'list', '--chain', chain())
  address = wallets[0].address
  await circle.json('wallet', 'fund', ...from(), '--token', 'usdc')
  await until(async () => (await balanceOf('USDC')) === '20', 'the faucet has paid')
})
afterAll(() => harness?.close())

async function balanceOf(symbol: string): Promise<string | undefined> {
  const { balances } = await circle.json('wallet', 'balance', ...from())
  return balances.find(({ token }: { token: { symbol: string } }) => token.symbol === symbol)?.amount
}

const transfer = (cli: CircleCli, to: string, amount: string, ...rest: string[]) =>
  cli.json('wallet', 'transfer', to, '--amount', amount, '--token', usdc(), ...from(), ...rest)

describe('property 270: the command-line tool', () => {
  it('logs in, and has a wallet on each network of the server', async () => {
    const { testnet } = await circle.json('wallet', 'status')
    expect(testnet).toMatchObject({ email, tokenStatus: 'VALID' })
    const onArc = (await circle.json('wallet', 'list', '--chain', 'ARC-TESTNET')).wallets
    expect(onArc.map((wallet: { address: string }) => wallet.address)).toEqual([address])
    const { wallets } = await circle.json('wallet', 'create', '--testnet')
    expect(wallets.map(({ blockchain }: { blockchain: string }) => blockchain).toSorted()).toEqual([
      'ARC-TESTNET',
      chain(),
    ])
  })

  it('estimates and makes a transfer, once for an idempotency key', async () => {
    const to = freshAddress()
    const fee = await transfer(circle, to, '1.5', '--estimate')
    expect(Number(fee.medium.networkFee)).toBeGreaterThan(0)
    const key = ['--idempotency-key', '5e0f0c9c-3f3c-4d5c-9a3b-2f3e7a1b6c4d']
    const made = await transfer(circle, to, '1.5', ...key)
    expect(made).toMatchObject({ state: 'COMPLETE', sourceAddress: address, amounts: ['1.5'] })
    expect((await transfer(circle, to, '1.5', ...key)).id).toBe(made.id)
    expect(await paidTo(to)).toEqual([1_500_000n])
    const { transactions } = await circle.json('transaction', 'list', ...from())
    expect(transactions.map(({ id }: { id: string }) => id)).toContain(made.id)
    for (const verb of ['cancel', 'accelerate'])
      expect((await circle.run('transaction', verb, made.id, ...from())).stderr).toContain(
        'The transaction is COMPLETE: ',
      )
  })

  it('executes and reads contracts, and signs', async () => {
    const spender = freshAddress()
    const executed = await circle.json(
      'wallet',
      'execute',
      'approve(address,uint256)',
      spender,
      '5',
      '--contract',
      usdc(),
      ...from(),
    )
    expect(executed.state).toBe('COMPLETE')
    const asked = ['contract', 'query', 'allowance(address,address)', address, spender] as const
    const { outputData } = await circle.json(...asked, '--contract', usdc(), '--chain', chain())
    expect(BigInt(outputData)).toBe(5n)
    const { signature } = await circle.json('wallet', 'sign', 'message', 'hello', ...from())
    expect(signature).toMatch(/^0x[0-9a-f]{130}$/)
  })

  it('finds services, and pays one by x402', async () => {
    expect((await circle.json('services', 'search', 'weather')).items).toMatchObject([{ resource: forecast }])
    expect((await circle.json('services', 'search', 'news')).items).toEqual([])
    const payTo = freshAddress()
    const { url } = await openSeller(harness, { payTo })
    const paid = await circle.run('services', 'pay', url, ...from(), '--output', 'json')
    expect(paid).toMatchObject({ code: 0, stdout: expect.stringContaining('it will be sunny') })
    expect(await paidTo(payTo)).toEqual([100_000n])
  })

  it('acts on another device after another login, with the same wallets', async () => {
    const second = await openCircleCli(world, proxyUrl)
    await second.logIn(email)
    const to = freshAddress()
    expect((await transfer(second, to, '0.25')).state).toBe('COMPLETE')
    expect(await paidTo(to)).toEqual([250_000n])
    await second.run('wallet', 'logout')
    expect((await second.run('wallet', 'list', '--chain', chain(), '--type', 'agent')).code).toBe(1)
  })

  it('is told why it may not log in, and that policies are set by an operator', async () => {
    const refused = await circle.run('wallet', 'login', 'ada@other.example', '--testnet', '--init')
    expect(refused.stderr).toContain('This address may not log in here')
    const live = await circle.run('wallet', 'login', email, '--init')
    expect(live.stderr).toContain('add --testnet')
  })
})

describe('property 271: the proxy of the command-line tool', () => {
  const ask = (method: 'GET' | 'POST', path: string, headers = {}) =>
    httpAs(proxyUrl, undefined)(method, path, { headers, ...(method === 'POST' && { body: {} }) })

  it('serves listed operations alone, those of users only with their token', async () => {
    const { appId } = (await harness.http('GET', '/v1/w3s/config/entity')).body.data
    expect((await ask('GET', '/proxy/test/config')).body).toEqual({ appId })
    for (const path of ['/wallets', '/transactions', '/user']) {
      const { status, body } = await ask('GET', `/proxy/test/v1/w3s${path}`)
      expect([status, body.code, path]).toEqual([401, 401, path])
    }
    for (const path of [
      '/v1/w3s/walletSets',
      '/v1/w3s/users',
      '/v1/payouts',
      '/v1/w3s/wallets/../users',
      '/x',
    ])
      expect((await ask('GET', `/proxy/test${path}`, { 'X-User-Token': 'a' })).status).toBe(404)
    expect((await ask('POST', '/v1/policy')).body.message).toContain('bezant policy')
    expect((await ask('GET', '/proxy/test/config', { Origin: 'https://other.example' })).status).toBe(403)
  })

  it('is refused without a list of addresses, and with one that is none', async () => {
    const start = (...args: string[]) =>
      runCommand({ command: 'agent-proxy', args: ['--listen', '0', ...args] })
    expect((await start('--emails', 'everyone')).stderr).toContain('must be addresses')
    expect((await start('--services', 'missing.json')).stderr).toContain(
      '--services missing.json cannot be read',
    )
  })
})

describe('docs/circle-cli.md', () => {
  it('has a row for each command of the tool', async () => {
    const { stdout } = await circle.run('--help')
    const listed = stdout.slice(stdout.indexOf('Commands:'), stdout.indexOf('\nOptions:'))
    let resource = ''
    const commands = listed.split('\n').flatMap((line) => {
      const [, indent, name] = /^( {2}| {4})(\w[\w-]*) {2,}/.exec(line) ?? []
      if (indent === '  ') resource = name!
      return name === undefined ? [] : [indent === '  ' ? name : `${resource} ${name}`]
    })
    const text = readFileSync(join(import.meta.dirname, '../../../docs/circle-cli.md'), 'utf8')
    const rows = [...text.matchAll(/^\| `circle ([\w -]+)` \|/gm)].map(([, command]) => command)
    const leaves = commands.filter((name) => !commands.some((other) => other.startsWith(`${name} `)))
    expect(rows.toSorted()).toEqual(leaves.toSorted())
  })
})
