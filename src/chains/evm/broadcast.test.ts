import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Hex } from '#lib/hex'
import { startTestChains, type TestChain } from '../../../testing/chain.ts'
import { broadcast, outcomeOf } from './broadcast.ts'
import { createRpc, RpcError } from './rpc.ts'

/** What clients in use say, in their own words. */
const wordings: [string, string][] = [
  ['already known', 'accepted'],
  ['transaction already imported', 'accepted'],
  ['known transaction: 0xabcd', 'accepted'],
  ['AlreadyKnown', 'accepted'],
  ['unknown transaction type', 'unknown'],
  ['nonce too low', 'nonce-too-low'],
  ['nonce too low: next nonce 7, tx nonce 5', 'nonce-too-low'],
  ['OldNonce', 'nonce-too-low'],
  ['nonce too high', 'unknown'],
  ['invalid nonce; got 9, expected 5', 'unknown'],
  ['replacement transaction underpriced', 'replacement-underpriced'],
  ['transaction underpriced: tip needed 1, tip permitted 0', 'underpriced'],
  ['max fee per gas less than block base fee: address 0x1', 'underpriced'],
  ['insufficient funds for gas * price + value', 'insufficient-funds'],
  ['intrinsic gas too low', 'gas-limit'],
  ['exceeds block gas limit', 'gas-limit'],
  ['invalid sender', 'invalid'],
  ['txpool is full', 'unknown'],
  ['rate limit exceeded', 'unknown'],
  ['internal error', 'unknown'],
  ['', 'unknown'],
]

describe('a refusal', () => {
  it.each(wordings)('%j means %s', (message, meaning) => {
    const outcome = outcomeOf(new RpcError(-32000, message))
    expect(outcome.kind === 'refused' ? outcome.reason : outcome.kind).toBe(meaning)
  })
})

describe('a node that gives no answer to be trusted', () => {
  const raws: Hex[] = ['0x01', '0x02']
  const shapes: [string, RequestListener][] = [
    ['closes the connection', (request) => request.socket.destroy()],
    ['answers 500', (_, response) => response.writeHead(500).end('{}')],
    ['answers 502 with HTML', (_, response) => response.writeHead(502).end('<html>')],
    ['answers 429', (_, response) => response.writeHead(429).end('{"error":"slow down"}')],
    ['answers 200 with HTML', (_, response) => response.end('<html>')],
    ['cuts its JSON short', (_, response) => response.end('[{"id":1,"result":"0x')],
    [
      'hangs up in the middle',
      (request, response) => {
        response.writeHead(200, { 'content-length': '100' }).write('[')
        setImmediate(() => request.socket.destroy())
      },
    ],
    ['answers a batch with one error', (_, response) => response.end('{"error":{"message":"busy"}}')],
    ['answers half of the batch', (_, response) => response.end('[{"id":1,"result":"0xaa"}]')],
    ['answers nothing', (_, response) => response.end('[]')],
    ['answers for others', (_, response) => response.end('[{"id":81,"result":1},{"id":82,"result":1}]')],
  ]

  it.each(shapes)('%s: all of it is maybe sent', async (_, listener) => {
    const server = createServer(listener).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const rpc = createRpc(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    try {
      const outcomes = await broadcast(rpc, raws)
      expect(outcomes.map(({ kind }) => kind)).toEqual(['unknown', 'unknown'])
    } finally {
      rpc.close()
      server.closeAllConnections()
      server.close()
    }
  })

  it('is not there at all', async () => {
    const outcomes = await broadcast(createRpc('http://127.0.0.1:1'), raws)
    expect(outcomes.map(({ kind }) => kind)).toEqual(['unknown', 'unknown'])
  })
})

describe('a local node', () => {
  let chain: TestChain
  let stop: () => Promise<void>
  const account = privateKeyToAccount(`0x${'5d'.repeat(32)}`)

  beforeAll(async () => {
    const started = await startTestChains({ blockchains: ['BASE-SEPOLIA'] })
    chain = started.chains[0]!
    stop = () => started.stop()
    await chain.send(account.address, 10n ** 18n)
  })
  afterAll(() => stop?.())

  const signed = (nonce: number, changes: object = {}) =>
    account.signTransaction({
      type: 'eip1559',
      chainId: chain.chainId,
      to: account.address,
      gas: 21_000n,
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 10n ** 9n,
      nonce,
      ...changes,
    })
  const meanings = async (raws: Hex[]) => {
    const rpc = createRpc(chain.rpcUrl)
    const outcomes = await broadcast(rpc, raws)
    rpc.close()
    return outcomes.map((outcome) => (outcome.kind === 'refused' ? outcome.reason : outcome.kind))
  }

  it('answers each of a batch, and what it says is understood', async () => {
    await chain.setAutomine(false)
    const first = await signed(0)
    const raws = [
      first,
      first,
      await signed(1, { value: 10n ** 20n }),
      await signed(1, { gas: 100n }),
      await signed(1, { gas: 10n ** 10n }),
      await signed(1, { chainId: 1 }),
      '0xdeadbeef' as Hex,
      await signed(1),
    ]
    expect(await meanings(raws)).toEqual([
      'accepted',
      'accepted',
      'insufficient-funds',
      'gas-limit',
      'gas-limit',
      'invalid',
      'invalid',
      'accepted',
    ])
    await chain.mine()
    await chain.setAutomine(true)
    expect(await meanings([await signed(0, { value: 1n })])).toEqual(['nonce-too-low'])
    expect(await chain.oracle.transactions(account.address)).toHaveLength(2)
  })
})
