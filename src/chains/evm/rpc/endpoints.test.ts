import { setTimeout as sleep } from 'node:timers/promises'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { entryPoint } from '#chains/entry-point'
import { baseSepolia } from '#chains/networks/base-sepolia'
import type { Network } from '#chains/networks/index'
import type { Hex } from '#lib/hex'
import { faults, type HostileRpc, mutate, mutations, openHostileRpc, seedsOf } from '#testing/adversary/index'
import { type LyingNode, openLyingNode } from '#testing/nodes/lying-node'
import { startTestChains, type TestChain } from '#testing/platform/chain'
import { until } from '#testing/platform/until'
import type { Address } from '../../addresses/types.ts'
import type { CrosschainAddresses } from '../../crosschain/crosschain.ts'
import type { RefusedEndpoint } from '../../facets/endpoints.ts'
import type { BroadcastOutcome } from '../../facets/payments.ts'
import { combineOutcomes } from '../../nodes/outcomes.ts'
import { knownCrosschainAddresses } from '../crosschain/index.ts'
import { createEvmChain } from '../index.ts'
import { createEndpoints, type Endpoints } from './endpoints.ts'
import { NodeUnreachable, RpcError } from './rpc.ts'

const account = privateKeyToAccount(`0x${'4c'.repeat(32)}`)
let chain: TestChain
let nodes: HostileRpc[]
let stop: () => Promise<void>
let endpoints: Endpoints
let nonce = 0
/** Longer than an honest node takes on a busy machine. */
const timeoutMs = 10_000

beforeAll(async () => {
  const started = await startTestChains({ blockchains: ['BASE-SEPOLIA'] })
  chain = started.chains[0]!
  stop = () => started.stop()
  await chain.send(account.address, 10n ** 18n)
  await chain.mine(5)
  nodes = await Promise.all([1, 2, 3].map(() => openHostileRpc(chain.rpcUrl, { seed: seedsOf(1)[0]! })))
})
afterAll(async () => {
  endpoints?.close()
  for (const node of nodes ?? []) await node.close()
  await stop?.()
})
beforeEach(async () => {
  for (const node of nodes) node.play()
  endpoints?.close()
  endpoints = open(nodes)
})
afterEach(() => {
  vi.restoreAllMocks()
})

/** Stops the clock that rests are measured by: on a busy machine a rest would end between two calls. */
const stopClock = () => {
  const nowMs = performance.now()
  return vi.spyOn(performance, 'now').mockReturnValue(nowMs)
}

const open = (some: readonly HostileRpc[], agree?: number, waitsMs = timeoutMs) =>
  createEndpoints({
    urls: some.map(({ url }) => url),
    network: baseSepolia,
    timeoutMs: waitsMs,
    agree,
  })
const height = () => endpoints.call<Hex>('eth_blockNumber', []).then(Number)
const signed = (): Promise<Hex> =>
  account.signTransaction({
    type: 'eip1559',
    chainId: chain.chainId,
    to: account.address,
    gas: 21_000n,
    maxFeePerGas: 10n ** 10n,
    maxPriorityFeePerGas: 10n ** 9n,
    nonce: nonce++,
  })
const askedFor = (method: string) => nodes.map(({ callCounts: asked }) => asked.get(method) ?? 0)

describe('reads from several endpoints', () => {
  it('go to one of them, and over to the next when it fails', async () => {
    const before = askedFor('eth_gasPrice')
    for (let index = 0; index < 12; index++) await endpoints.call('eth_gasPrice', [])
    const asked = askedFor('eth_gasPrice').map((count, index) => count - before[index]!)
    expect(asked.reduce((sum, count) => sum + count, 0)).toBe(12)
    // A node that was slow for a moment may lose its place to another; nodes do not alternate.
    expect(Math.max(...asked)).toBeGreaterThan(12 / nodes.length)
    nodes[0]!.play({ fault: faults.error502 })
    for (let index = 0; index < 10; index++) expect(await height()).toBeGreaterThan(0)
  })

  it('leave one alone that fails, and come back to it when it is well', async () => {
    for (const node of nodes.slice(0, 2)) node.play({ fault: faults.resetBefore })
    const clock = stopClock()
    await height()
    const before = nodes[0]!.applied.length
    for (let index = 0; index < 50; index++) await height()
    expect(nodes[0]!.applied.length - before).toBeLessThan(5)
    clock.mockRestore()
    nodes[0]!.play()
    nodes[2]!.play({ fault: faults.resetBefore })
    await until(async () => (await height().catch(() => 0)) > 0, 'the first one serves again')
  })

  it('leave one alone for as long as it asks for by 429', async () => {
    nodes[0]!.play({ fault: faults.rateLimited })
    const clock = stopClock()
    const startedMs = performance.now()
    await height()
    for (const node of nodes.slice(1)) node.play({ fault: faults.resetBefore })
    nodes[0]!.play()
    const before = askedFor('eth_blockNumber')[0]
    clock.mockReturnValue(startedMs + 999)
    await expect(height()).rejects.toBeInstanceOf(NodeUnreachable)
    expect(askedFor('eth_blockNumber')[0]).toBe(before)
    clock.mockReturnValue(startedMs + 1_000)
    expect(await height()).toBeGreaterThan(0)
    for (const node of nodes) node.play()
    clock.mockReturnValue(startedMs + 10_000)
    nodes[0]!.play({ fault: faults.limitExceeded, methods: ['eth_blockNumber'] })
    for (let index = 0; index < 5; index++) expect(await height()).toBeGreaterThan(0)
  })

  it('fail without asking again when nothing can be reached, and tell no address', async () => {
    for (const node of nodes) node.play({ fault: faults.error500 })
    stopClock()
    await expect(height()).rejects.toBeInstanceOf(NodeUnreachable)
    const before = askedFor('eth_blockNumber')
    await expect(height()).rejects.toThrow(/every endpoint rests/)
    expect(askedFor('eth_blockNumber')).toEqual(before)
    await height().catch((error) => expect(String(error)).not.toContain('http://'))
  })

  it('are refused once when the call itself is at fault', async () => {
    const before = askedFor('eth_estimateGas')
    const call = { from: account.address, to: chain.tokens.USDC, data: '0xa9059cbb' }
    await expect(endpoints.call('eth_estimateGas', [call])).rejects.toBeInstanceOf(RpcError)
    const after = askedFor('eth_estimateGas').reduce((sum, count) => sum + count, 0)
    expect(after - before.reduce((sum, count) => sum + count, 0)).toBe(1)
  })

  it('never go to a node of another chain', async () => {
    nodes[0]!.play({ fault: faults.wrongChainId(1) })
    const before = askedFor('eth_blockNumber')[0]
    for (let index = 0; index < 5; index++) await height()
    expect(askedFor('eth_blockNumber')[0]).toBe(before)
  })

  it('property 68: go to one that comes back as another chain only when it is right again, and refuse it once', async () => {
    const told: string[] = []
    const inspection = {
      refused: ({ reason }: RefusedEndpoint) => void told.push(reason),
      accepted: () => void told.push('accepted'),
    }
    const inspected = createEndpoints({ urls: nodes.map(({ url }) => url), network: baseSepolia, inspection })
    const read = () => inspected.call<Hex>('eth_blockNumber', []).then(Number)
    expect(await inspected.inspect()).toEqual([])
    nodes[0]!.play({ fault: faults.resetBefore })
    for (let index = 0; index < 3; index++) await read()
    nodes[0]!.play({ fault: faults.wrongChainId(1) })
    const refused = async () => {
      await read()
      return told.length > 0
    }
    await until(refused, 'it is refused')
    const before = askedFor('eth_blockNumber')[0]
    for (let index = 0; index < 20; index++) await read()
    expect([askedFor('eth_blockNumber')[0], told]).toEqual([before, [expect.stringContaining('chain 1,')]])
    nodes[0]!.play()
    const accepted = async () => {
      await read()
      return told.at(-1) === 'accepted'
    }
    await until(accepted, 'it is used again')
    inspected.close()
  })

  it('never go to a node without one of the contracts of messages that the configuration names', async () => {
    const urls = nodes.map(({ url }) => url)
    const inspection = { refused: () => {}, accepted: () => {} }
    const known = knownCrosschainAddresses(baseSepolia)!
    const open = (crosschain: CrosschainAddresses) =>
      createEndpoints({ urls, network: baseSepolia, inspection, crosschain })
    const connected = open(known)
    expect(await connected.inspect()).toEqual([])
    connected.close()
    for (const contract of Object.keys(known)) {
      const address = `0x${'de'.repeat(20)}` as Address
      const missing = open({ ...known, [contract]: address })
      const reason = `it has no contract where ${contract} of BASE-SEPOLIA is`
      const refusal = expect.objectContaining({ reason, contract, address })
      expect(await missing.inspect()).toEqual([refusal, refusal, refusal])
      missing.close()
    }
  })

  it('property 68: never go to a node where a token has other decimals, or none, and wait for one that does not tell them', async () => {
    const inspected = async (answer: (node: LyingNode) => void, network: Network = baseSepolia) => {
      const node = await openLyingNode(chain.rpcUrl)
      answer(node)
      const inspection = { refused: () => {}, accepted: () => {} }
      const asked = createEndpoints({ urls: [node.url], network, inspection })
      const refused = await asked.inspect()
      asked.close()
      await node.close()
      return refused
    }
    const [usdc] = baseSepolia.tokens
    const telling = (told: unknown) => (node: LyingNode) =>
      node.lie((method, result, [call]) =>
        method === 'eth_call' && call.to === usdc!.address.toLowerCase() ? told : result,
      )
    const refusal = (decimals: string) => ({
      reason: `USDC of BASE-SEPOLIA has ${decimals} decimals there, and its amounts are read with 6: correct its address if it is from BEZANT_OWN_NETWORKS, or take BASE-SEPOLIA out of BEZANT_NETWORKS`,
      token: 'USDC',
      address: usdc!.address,
    })
    expect(await inspected(() => {})).toEqual([])
    expect(await inspected(telling(`0x${'12'.padStart(64, '0')}`))).toMatchObject([refusal('18')])
    expect(await inspected(telling('0x'))).toMatchObject([refusal('no')])
    expect(await inspected(telling('none'))).toEqual([])
    // The entry point of smart accounts, a contract that is no token, reverts.
    const tokens = [{ ...usdc!, address: entryPoint }]
    expect(await inspected(() => {}, { ...baseSepolia, tokens })).toMatchObject([
      { ...refusal('no'), address: entryPoint },
    ])
  })

  it('prefer a head that is not far behind', async () => {
    const head = await chain.height()
    nodes[0]!.play({ fault: faults.staleHead(4) })
    await until(async () => (await height()) === head, 'another one is asked')
  })

  it('go to the last one again after all were away, however often they are asked meanwhile', async () => {
    const rpcUrls = nodes.map(({ url }) => url)
    const evm = createEvmChain({
      network: baseSepolia,
      rpcUrl: rpcUrls[0]!,
      rpcUrls,
      confirmations: 1,
      finalityDepth: 1,
      local: true,
      timeoutMs,
    })
    const isThere = () =>
      evm.blocks.head().then(
        () => true,
        () => false,
      )
    for (const node of nodes) node.play({ fault: faults.resetBefore })
    const endMs = performance.now() + 1_000
    while (performance.now() < endMs) {
      expect(await isThere()).toBe(false)
      await sleep(10)
    }
    // Only the node that was read last.
    nodes[0]!.play()
    await until(isThere, 'it serves again')
    await evm.endpoints.close()
  })

  it('go elsewhere when what one says does not fit together', async () => {
    await chain.send(account.address, 1n, 'USDC')
    const number = await chain.height()
    const urls = nodes.map(({ url }) => url)
    const input = {
      network: baseSepolia,
      rpcUrl: urls[0]!,
      rpcUrls: urls,
      confirmations: 1,
      finalityDepth: 1,
      local: false,
    }
    const reader = createEvmChain(input)
    const [mutation] = mutations.filter(({ name }) => name.startsWith('receipt'))
    nodes[0]!.play({ fault: mutate(mutation!) })
    for (const node of nodes.slice(1)) node.play({ fault: faults.resetBefore })
    await expect(reader.blocks.byNumber(number)).rejects.toBeInstanceOf(NodeUnreachable)
    for (const node of nodes.slice(1)) node.play()
    const read = () => reader.blocks.byNumber(number).catch(() => undefined)
    await until(async () => (await read())?.transfers.length === 1, 'another one is read')
    await reader.endpoints.close()
  })
})

describe('raw transactions', () => {
  const meaning = ([outcome]: BroadcastOutcome[]) =>
    outcome?.kind === 'refused' ? outcome.reason : outcome?.kind

  it('go to all, and one that takes them is enough', async () => {
    const raw = await signed()
    nodes[0]!.play({ fault: faults.poolFull })
    nodes[1]!.play({ fault: faults.resetBefore, methods: ['eth_sendRawTransaction'] })
    expect(meaning(await endpoints.broadcast([raw]))).toBe('accepted')
    await until(async () => nodes.every(({ rawTransactions: raws }) => raws.includes(raw)), 'all got it')
  })

  it('are not waited for by whoever is slow', async () => {
    nodes[1]!.play({ fault: faults.timeOut, methods: ['eth_sendRawTransaction'] })
    // Longer than the test's limit: waiting for the slow node would fail it.
    const patient = open(nodes, undefined, 3_600_000)
    expect(meaning(await patient.broadcast([await signed()]))).toBe('accepted')
    patient.close()
  })

  it('are maybe sent when one gave no answer and the others refused', async () => {
    const raw = await signed()
    nonce -= 1
    nodes[0]!.play({ fault: faults.resetAfter, methods: ['eth_sendRawTransaction'] })
    for (const node of nodes.slice(1)) node.play({ fault: faults.refusedInvalid })
    expect(meaning(await endpoints.broadcast([raw]))).toBe('unknown')
    nonce += 1
  })

  it('are refused when all refuse', async () => {
    for (const node of nodes) node.play({ fault: faults.refusedInvalid })
    expect(meaning(await endpoints.broadcast(['0x01']))).toBe('invalid')
  })

  const accepted = { kind: 'accepted' } as const
  const unknown = { kind: 'unknown', message: 'reset' } as const
  const refused = (reason: 'nonce-too-low' | 'underpriced' | 'invalid') =>
    ({ kind: 'refused', reason, message: reason }) as const
  it('come to what leaves most open', () => {
    expect(combineOutcomes([refused('invalid'), unknown, accepted])).toEqual(accepted)
    expect(combineOutcomes([refused('invalid'), unknown])).toEqual(unknown)
    expect(combineOutcomes([refused('invalid'), refused('nonce-too-low')])).toEqual(refused('nonce-too-low'))
    expect(combineOutcomes([refused('invalid'), refused('underpriced')])).toEqual(refused('underpriced'))
    expect(combineOutcomes([])).toMatchObject({ kind: 'unknown' })
  })
})

describe('agreement', () => {
  const hashAt = async (number: number) =>
    (await chain.rpc<{ hash: string } | null>('eth_getBlockByNumber', [`0x${number.toString(16)}`, false]))
      ?.hash
  const other = `0x${'e7'.repeat(32)}`

  it('takes more than half of the endpoints', async () => {
    const number = await chain.height()
    expect(await endpoints.agreedUpTo(number, hashAt)).toEqual({ upTo: number })
    nodes[0]!.play({ fault: faults.error500 })
    expect(await endpoints.agreedUpTo(number, hashAt)).toEqual({ upTo: number })
    nodes[1]!.play({ fault: faults.error500 })
    const { upTo, said } = await endpoints.agreedUpTo(number, hashAt)
    expect(upTo).toBeUndefined()
    expect(said).toHaveLength(3)
    expect(said!.join()).not.toContain('http://')
  })

  it('property 21: is not given to a block that only its own node names', async () => {
    const number = await chain.height()
    const wrong = async () => other
    expect((await endpoints.agreedUpTo(number, wrong)).upTo).toBeUndefined()
    for (const node of nodes.slice(1)) node.play({ fault: faults.otherBlocks })
    expect((await endpoints.agreedUpTo(number, hashAt)).upTo).toBeUndefined()
    for (const node of nodes) node.play()
    await until(async () => (await endpoints.agreedUpTo(number, hashAt)).upTo === number, 'they agree again')
  })

  it('puts aside whoever is outvoted', async () => {
    const number = await chain.height()
    nodes[0]!.play({ fault: faults.otherBlocks })
    stopClock()
    const head = () => endpoints.call<{ hash: string }>('eth_getBlockByNumber', ['latest', false])
    expect((await head()).hash).not.toBe(await hashAt(number))
    expect((await endpoints.agreedUpTo(number, hashAt)).upTo).toBe(number)
    expect((await head()).hash).toBe(await hashAt(number))
  })

  it('is as many as configured, and of one endpoint with itself', async () => {
    const number = await chain.height()
    for (const node of nodes.slice(1)) node.play({ fault: faults.otherBlocks })
    const [easy, strict, alone] = [open(nodes, 1), open(nodes, 3), open(nodes.slice(0, 1))]
    expect((await easy.agreedUpTo(number, hashAt)).upTo).toBe(number)
    nodes[1]!.play()
    expect((await strict.agreedUpTo(number, hashAt)).upTo).toBeUndefined()
    expect((await alone.agreedUpTo(number, hashAt)).upTo).toBe(number)
    for (const each of [easy, strict, alone]) each.close()
  })

  it('reaches as far as enough of them have come', async () => {
    const number = await chain.height()
    for (const node of nodes.slice(1)) node.play({ fault: faults.staleHead(2) })
    expect(await endpoints.agreedUpTo(number, hashAt)).toEqual({ upTo: number - 2 })
  })
})
