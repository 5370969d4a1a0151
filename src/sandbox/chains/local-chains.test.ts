import { createPublicClient, erc20Abi, getAddress, http, maxUint256 } from 'viem'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { stablecoinAbi } from '#chains/evm/abi/stablecoin'
import { create2Deployer } from '#chains/evm/accounts/deployed-contracts'
import { networks } from '#chains/networks/index'
import type { Hex } from '#lib/hex'
import {
  bob,
  dev,
  receipt,
  send,
  startBase,
  startVictim,
  temporaryDirectory,
  transfer,
} from '#testing/local-chains/kit'
import { testLog } from '#testing/platform/log'
import { until } from '#testing/platform/until'
import { isDeep } from '#testing/runner/size'
import { faucetAccount, issuerAccount } from '../constants.ts'
import { isRunning } from './end-killed-node.ts'
import { startLocalChains } from './index.ts'
import { call, callMany, postToNode } from './rpc.ts'

test('every chain starts at once with official ids, stablecoins and funded accounts, and leaves nothing', async () => {
  const wanted = networks.filter(({ environment, family }) => environment === 'TEST' && family === 'evm')
  const log = testLog()
  const local = await startLocalChains({ networks: wanted, dataDir: '', ephemeral: true, log })
  expect(local.chains.map(({ blockchain, chainId }) => [blockchain, chainId])).toEqual(
    wanted.map(({ blockchain, chainId }) => [blockchain, chainId]),
  )
  const pids = local.chains.map(({ pid }) => pid)
  for (const chain of local.chains) {
    const client = createPublicClient({ transport: http(chain.rpcUrl) })
    expect(await client.getChainId()).toBe(chain.chainId)
    expect(await client.getBlockNumber()).toBe(0n)
    for (const [symbol, text] of Object.entries(chain.tokens)) {
      const address = text as Hex
      const token = { address, abi: stablecoinAbi } as const
      expect(await client.readContract({ address, abi: erc20Abi, functionName: 'symbol' })).toBe(symbol)
      expect(await client.readContract({ ...token, functionName: 'owner' })).toBe(issuerAccount.address)
      const args = [faucetAccount.address] as const
      expect(await client.readContract({ ...token, functionName: 'minterAllowance', args })).toBe(maxUint256)
    }
    expect(await client.getBalance(faucetAccount)).toBe(10n ** 27n)
    expect(await client.getBalance({ address: dev[9]!.address })).toBe(10n ** 22n)
    expect((await client.getCode({ address: create2Deployer }))?.length).toBe(140)
  }
  await local.stop()
  expect(pids.filter((pid) => isRunning(pid))).toEqual([])
  await expect(call(local.chains[0]!.rpcUrl, 'eth_chainId')).rejects.toThrow()
})

const batchSize = isDeep ? 200 : 40
const reverts = isDeep ? 60 : 10

test('a transaction is mined at once; batches and large requests pass', async () => {
  const { chain } = await startBase({ ephemeral: true })
  const hash = await send(chain.rpcUrl, 0, 0)
  await until(async () => (await receipt(chain.rpcUrl, hash)) !== null)
  const raws = await Promise.all(Array.from({ length: batchSize }, (_, index) => transfer(1, index)))
  const answers = await callMany(
    chain.rpcUrl,
    raws.map((raw) => ({ method: 'eth_sendRawTransaction', params: [raw] })),
  )
  expect(answers.filter(({ error }) => error)).toEqual([])
  await until(
    async () => Number(await call(chain.rpcUrl, 'eth_getBalance', [bob, 'latest'])) === batchSize + 1,
  )
  const data = `0x${'ab'.repeat(3_000_000)}`
  expect(await call(chain.rpcUrl, 'web3_sha3', [data])).toBe(await call(chain.nodeUrl, 'web3_sha3', [data]))
})

test.each([
  ['kept for nobody', true],
  ['kept in a directory', false],
])('what the node holds back for later is mined when its turn has come: %s', async (_, ephemeral) => {
  const dataDir = temporaryDirectory()
  const { chain } = await startBase({ ephemeral, dataDir })
  const { rpcUrl } = chain
  const hashes = await Promise.all([3, 4, 6].map((nonce) => send(rpcUrl, 2, nonce)))
  expect(await call(rpcUrl, 'txpool_status')).toMatchObject({ pending: '0x0', queued: '0x3' })
  // The node does not check its pool again, as happens with a transaction that arrives while the block before is mined.
  await call(rpcUrl, 'anvil_setNonce', [dev[2]!.address, '0x3'])
  await until(async () => (await receipt(rpcUrl, hashes[1]!)) !== null)
  expect(await receipt(rpcUrl, hashes[0]!)).toMatchObject({ status: '0x1' })
  expect(await receipt(rpcUrl, hashes[2]!)).toBeNull()
  await send(rpcUrl, 2, 5)
  await until(async () => (await receipt(rpcUrl, hashes[2]!)) !== null)
})

test('a revert right behind a transaction leaves no block of the old state on the new chain', async () => {
  const { chain } = await startBase({ ephemeral: true })
  const { rpcUrl } = chain
  for (let round = 0; round < reverts; round++) {
    const snapshot = await call(rpcUrl, 'evm_snapshot')
    const before = await call<{ hash: string }>(rpcUrl, 'eth_getBlockByNumber', ['latest', false])
    await send(rpcUrl, 0, 0)
    await call(rpcUrl, 'evm_revert', [snapshot])
    expect(await call(rpcUrl, 'eth_getBlockByNumber', ['latest', false])).toMatchObject({ hash: before.hash })
    expect(await call(rpcUrl, 'txpool_status')).toMatchObject({ pending: '0x0' })
  }
  await call(rpcUrl, 'evm_mine')
  const genesis = await call<{ hash: string }>(rpcUrl, 'eth_getBlockByNumber', ['0x0', false])
  expect(await call(rpcUrl, 'eth_getBlockByNumber', ['0x1', false])).toMatchObject({
    parentHash: genesis.hash,
  })
  expect(await call(rpcUrl, 'eth_getBalance', [bob, 'latest'])).toBe('0x0')
})

test('WebSocket clients call, send and subscribe', async () => {
  const { chain } = await startBase({ ephemeral: true })
  const socket = new WebSocket(chain.rpcUrl.replace('http', 'ws'))
  const received: { id?: number; result?: unknown; params?: { result: { number: string } } }[] = []
  socket.on('message', (data) => received.push(JSON.parse(String(data))))
  await new Promise((resolve) => socket.once('open', resolve))
  const ask = (id: number, method: string, params: unknown[]) =>
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
  ask(1, 'eth_subscribe', ['newHeads'])
  await until(async () => received.some(({ id }) => id === 1))
  ask(2, 'eth_sendRawTransaction', [await transfer(0, 0)])
  await until(async () => received.some(({ params }) => params?.result.number === '0x1'))
  const hash = received.find(({ id }) => id === 2)?.result
  expect((await receipt(chain.rpcUrl, String(hash)))?.status).toBe('0x1')
  socket.terminate()
})

test('a hook before the requests delays nothing else, answers, drops, and goes away', async () => {
  const { chain } = await startBase({ ephemeral: true })
  chain.intercept(async ({ body }) => {
    if (body.includes('eth_gasPrice')) return { body: '{"jsonrpc":"2.0","id":1,"result":"0xfa17"}' }
    return body.includes('eth_sendRawTransaction') ? 'drop' : 'forward'
  })
  expect(await call(chain.rpcUrl, 'eth_gasPrice')).toBe('0xfa17')
  expect(await call(chain.rpcUrl, 'eth_chainId')).toBe('0x14a34')
  await expect(send(chain.rpcUrl, 0, 0)).rejects.toThrow(/hang up|ECONNRESET/)
  expect(await call(chain.nodeUrl, 'eth_getTransactionCount', [dev[0]!.address, 'pending'])).toBe('0x0')
  chain.intercept(undefined)
  expect(await send(chain.rpcUrl, 0, 0)).toMatch(/^0x/)
})

test('errors of the node reach the client unchanged', async () => {
  const { chain } = await startBase({ ephemeral: true })
  for (const body of ['', '{"evm_', '[]', '{"jsonrpc":"2.0","id":1,"method":"evm_nothing"}', '"anvil_"']) {
    const [ours, theirs] = [await postToNode(chain.rpcUrl, body), await postToNode(chain.nodeUrl, body)]
    expect([ours.status, ours.body.toString()]).toEqual([theirs.status, theirs.body.toString()])
  }
})

test.each(isDeep ? [[150], [1000]] : [[150]])(
  'blocks every %i ms, until a user sets something else',
  async (blockTimeMs) => {
    const { chain } = await startBase({ ephemeral: true, blockTimeMs, gasLimit: 1_000_000_000n })
    const height = async () => Number(await call(chain.rpcUrl, 'eth_blockNumber'))
    await send(chain.rpcUrl, 0, 0)
    expect(await call(chain.rpcUrl, 'anvil_getAutomine')).toBe(false)
    await until(async () => (await height()) >= 3)
    expect(
      BigInt(
        (await call<{ gasLimit: string }>(chain.rpcUrl, 'eth_getBlockByNumber', ['latest', false])).gasLimit,
      ),
    ).toBe(1_000_000_000n)
    await call(chain.rpcUrl, 'evm_setAutomine', [true])
    const before = await height()
    await new Promise((resolve) => setTimeout(resolve, blockTimeMs * 2.5))
    expect(await height()).toBeLessThanOrEqual(before + 1)
  },
)

test('the watchdog of a killed process ends its ephemeral nodes', async () => {
  const victim = await startVictim({ dataDir: '', ephemeral: true })
  expect(isRunning(victim.chain.pid)).toBe(true)
  await victim.kill(false)
  await until(async () => !isRunning(victim.chain.pid))
})

test('an ephemeral node that dies is replaced by an empty one at the same address', async () => {
  const { chain } = await startBase({ ephemeral: true })
  const hash = await send(chain.rpcUrl, 0, 0)
  await until(async () => (await receipt(chain.rpcUrl, hash)) !== null)
  const { pid } = chain
  process.kill(pid, 'SIGKILL')
  await until(async () => chain.pid !== pid)
  expect(await call(chain.rpcUrl, 'eth_blockNumber')).toBe('0x0')
  expect(await call(chain.rpcUrl, 'eth_getCode', [getAddress(chain.tokens.USDC), 'latest'])).toMatch(/^0x60/)
})
