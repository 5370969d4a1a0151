/** A sandbox with a network that no wallet client has a code for, and with one of a file: the published clients move coins on both. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BridgeKit } from '@circle-fin/bridge-kit'
import { SeiTestnet } from '@circle-fin/bridge-kit/chains'
import { initiateDeveloperControlledWalletsClient } from '@circle-fin/developer-controlled-wallets'
import { createUnifiedBalanceKitContext, deposit, spend } from '@circle-fin/unified-balance-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { devAccounts } from '#sandbox/constants'
import { freshAddress } from '#testing/builders/world'
import { kitAdapter, redirectFetch } from '#testing/platform/kits'
import { openOracle } from '#testing/platform/oracle'
import { until } from '#testing/platform/until'
import { type Program, runProgram, startProgram } from '#testing/processes/program'

const address = (end: string) => `0x${end.padStart(40, '5')}`
const own = {
  blockchain: 'MYCHAIN-TESTNET',
  environment: 'TEST',
  name: 'My-Chain-Testnet',
  chainId: 990_001,
  nativeCoin: { name: 'My-Coin-Testnet', symbol: 'MINE-TESTNET', decimals: 18 },
  usdc: address('a1'),
  businessChain: 'MYCHAIN',
  confirmations: 5,
  blockTimeMs: 1_000,
  domain: 990,
  fastConfirmations: 1,
  // An older chain, whose transactions name one price of gas.
  feeModel: 'gasPrice',
  contracts: {
    messageTransmitter: address('b1'),
    tokenMessenger: address('b2'),
    tokenMinter: address('b3'),
    kitBridge: address('b4'),
  },
  unifiedBalance: {
    chain: 'My Chain',
    network: 'Testnet',
    contracts: { wallet: address('c1'), minter: address('c2') },
  },
}
const sonic = 'SONIC-TESTNET'
const mine = own.blockchain

/** The network of the file as the kits take one that they have no name for: under another one's. */
const kitChain = {
  ...SeiTestnet,
  name: own.name,
  chainId: own.chainId,
  usdcAddress: own.usdc,
  cctp: {
    ...SeiTestnet.cctp,
    domain: own.domain,
    contracts: {
      v2: {
        ...SeiTestnet.cctp.contracts.v2,
        tokenMessenger: own.contracts.tokenMessenger,
        messageTransmitter: own.contracts.messageTransmitter,
      },
    },
  },
  kitContracts: { bridge: own.contracts.kitBridge },
  gateway: {
    ...SeiTestnet.gateway,
    domain: own.domain,
    contracts: { v1: own.unifiedBalance.contracts },
  },
}
const chainOfKit: Record<string, unknown> = { [sonic]: 'Sonic_Testnet', [mine]: kitChain }

const owner = devAccounts[5]!
let directory: string
let file: string
let program: Program
let restoreFetch: (() => void) | undefined

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'bezant-own-networks-'))
  file = join(directory, 'networks.json')
  await writeFile(file, JSON.stringify([own]))
  const args = ['--ephemeral', '--chains', `${sonic},${mine}`]
  program = await startProgram({ args, env: { BEZANT_OWN_NETWORKS_FILE: file } })
  restoreFetch = redirectFetch(program.answer.url, [
    'https://iris-api-sandbox.circle.com',
    'https://gateway-api-testnet.circle.com',
  ])
})
afterAll(async () => {
  restoreFetch?.()
  await program?.killAll()
  await rm(directory, { recursive: true, force: true })
})

const chainOf = (name: string) => program.answer.chains.find(({ blockchain }) => blockchain === name)!
const adapter = () => {
  const [first, second] = program.answer.chains
  return kitAdapter([first!, { ...second!, standsFor: SeiTestnet.chainId }] as never, owner)
}
/** The dollars of an address, as the blocks tell. */
const usdcOf = (name: string, holder: string) => {
  const { rpcUrl, tokens } = chainOf(name)
  return openOracle(rpcUrl).balanceOf(holder, tokens.USDC)
}
const post = async (path: string, body: object) => {
  const { status, body: answer, text } = await program.tenant.http('POST', path, { body })
  expect(status, text).toBeLessThan(300)
  return answer.data ?? answer
}
const shown = async (path: string) => (await program.tenant.http('GET', path)).body.data
const pay = (blockchain: string, to: string, amount: string, token = 'USDC') =>
  post('/sandbox/faucet', { address: to, blockchain, token, amount })

describe('property 245: networks beyond those of the wallet clients', () => {
  it('start when they are named, with their ids and coins', async () => {
    expect(program.answer.chains.map(({ blockchain, chainId }) => [blockchain, chainId])).toEqual([
      [sonic, 14_601],
      [mine, own.chainId],
    ])
    expect(chainOf(mine).tokens.USDC).toBe(own.usdc)
    expect(await shown('/operator/chains')).toMatchObject([
      { blockchain: sonic, domain: 13, nativeSymbol: 'S-TESTNET' },
      { blockchain: mine, domain: own.domain, nativeSymbol: own.nativeCoin.symbol },
    ])
  })

  it.each<[string, string, 'FAST' | 'SLOW', bigint]>([
    [sonic, mine, 'FAST', 1_050n],
    [mine, sonic, 'FAST', 1_050n],
    [sonic, mine, 'SLOW', 0n],
    [mine, sonic, 'SLOW', 0n],
  ])('the bridge kit moves dollars from %s to %s, %s', async (from, to, transferSpeed, fee) => {
    const kit = new BridgeKit({ disableErrorReporting: true } as never)
    const recipientAddress = freshAddress()
    await pay(from, owner.address, '20')
    const before = await usdcOf(from, owner.address)
    const result = await kit.bridge({
      from: { adapter: adapter(), chain: chainOfKit[from] },
      to: { adapter: adapter(), chain: chainOfKit[to], recipientAddress },
      amount: '10.5',
      config: { transferSpeed },
    } as never)
    expect([result.state, result.steps.map(({ name, state }) => `${name} ${state}`)]).toEqual([
      'success',
      expect.anything(),
    ])
    expect(before - (await usdcOf(from, owner.address))).toBe(10_500_000n)
    expect(await usdcOf(to, recipientAddress)).toBe(10_500_000n - fee)
  })

  it.each<[string, string]>([
    [sonic, mine],
    [mine, sonic],
  ])('a unified balance deposited on %s is spent on %s', async (from, to) => {
    const context = createUnifiedBalanceKitContext({
      disableErrorReporting: true,
      disableAnalytics: true,
    } as never)
    await pay(from, owner.address, '30')
    await deposit(context, { from: { adapter: adapter(), chain: chainOfKit[from] }, amount: '20' } as never)
    const domain = from === mine ? own.domain : 13
    await until(async () => {
      const asked = { token: 'USDC', sources: [{ domain, depositor: owner.address }] }
      return Number((await post('/v1/balances', asked)).balances[0].balance) >= 20
    }, 'the deposit counts')
    const recipientAddress = freshAddress()
    await spend(context, {
      amount: '7.25',
      from: { adapter: adapter(), allocations: { amount: '7.25', chain: chainOfKit[from] } },
      to: { adapter: adapter(), chain: chainOfKit[to], recipientAddress },
    } as never)
    expect(await usdcOf(to, recipientAddress)).toBe(7_250_000n)
  })

  it.each([sonic, mine])('wallets on %s pay through the published client', async (blockchain) => {
    const { apiKey, entitySecret, url } = program.answer
    const client = initiateDeveloperControlledWalletsClient({ apiKey, entitySecret, baseUrl: url })
    const { walletSet } = (await client.createWalletSet({ name: blockchain })).data!
    const asked = { walletSetId: walletSet!.id!, blockchains: [blockchain] as never[], count: 1 }
    const [wallet] = (await client.createWallets(asked)).data!.wallets!
    expect(wallet).toMatchObject({ blockchain, state: 'LIVE' })
    await pay(blockchain, wallet!.address, '1', 'NATIVE')
    await pay(blockchain, wallet!.address, '8')
    const { id } = wallet!
    const held = async () => (await client.getWalletTokenBalance({ id })).data!.tokenBalances ?? []
    await until(async () => (await held()).length === 2, 'both coins are booked')
    const { token } = (await held()).find((each) => each.token.symbol === 'USDC')!
    const destinationAddress = freshAddress()
    const fee = { type: 'level', config: { feeLevel: 'MEDIUM' } } as const
    const sent = await client.createTransaction({
      walletId: id,
      tokenId: token.id,
      destinationAddress,
      fee,
      amount: ['3.5'],
    })
    const ended = async () => (await client.getTransaction({ id: sent.data!.id })).data!.transaction!
    await until(async () => (await ended()).state === 'COMPLETE', 'the payment is complete')
    expect(await ended()).toMatchObject({ blockchain, txHash: expect.stringMatching(/^0x/) })
    expect(await usdcOf(blockchain, destinationAddress)).toBe(3_500_000n)
    expect(await usdcOf(blockchain, wallet!.address)).toBe(4_500_000n)
  })

  it.each([
    ['SONIC', sonic],
    [own.businessChain, mine],
  ])('the business account is paid by the code %s', async (chain, blockchain) => {
    const path = '/v1/businessAccount/wallets/addresses/deposit'
    const { address: to } = await post(path, { idempotencyKey: crypto.randomUUID(), chain, currency: 'USD' })
    const available = async () => {
      const balances = await shown('/v1/businessAccount/balances')
      return Number(balances.available[0]?.amount ?? 0)
    }
    const before = await available()
    await pay(blockchain, to, '2.5')
    await until(async () => (await available()) === before + 2.5, 'the deposit is credited')
  })

  it('a file that is wrong stops each command with its remedy, and a name that no file has is refused', async () => {
    const wrong = join(directory, 'wrong.json')
    await writeFile(wrong, JSON.stringify([{ ...own, chainId: 84_532 }]))
    const run = (path: string, chain: string) =>
      runProgram({ args: ['--chains', chain], env: { BEZANT_OWN_NETWORKS_FILE: path } })
    expect(await run(wrong, mine)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        `${wrong}, ${mine}: chainId 84532 is that of BASE-SEPOLIA: correct it, or use BASE-SEPOLIA`,
      ),
    })
    expect((await run(join(directory, 'none.json'), sonic)).stderr).toMatch(
      /BEZANT_OWN_NETWORKS_FILE names a file that cannot be read .*: correct the path/,
    )
    expect((await run(file, 'MYCHAIN')).stderr).toMatch(/--chains must name test networks, not "MYCHAIN"/)
  })
})
