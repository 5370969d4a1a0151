import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { baseSepolia } from '#chains/networks/base-sepolia'
import type { Hex } from '#lib/hex'
import { startTestChains, type TestChain } from '#testing/platform/chain'
import { outcomeOf } from './broadcast.ts'
import { createEndpoints } from './endpoints.ts'
import { RpcError } from './rpc.ts'

/** Error messages of common clients, and their meaning. */
const wordings: Record<string, [string, string][]> = {
  geth: [
    ['already known', 'accepted'],
    ['nonce too low: next nonce 7, tx nonce 5', 'nonce-too-low'],
    ['nonce too high: tx nonce 9, gapped nonce 5', 'unknown'],
    ['replacement transaction underpriced', 'replacement-underpriced'],
    ['transaction underpriced', 'underpriced'],
    ['transaction underpriced: tip needed 1, tip permitted 0', 'underpriced'],
    ['transaction gas price below minimum: gas tip cap 0, minimum needed 1', 'underpriced'],
    ['insufficient funds for gas * price + value: balance 1, tx cost 2, overshot 1', 'insufficient-funds'],
    ['intrinsic gas too low: gas 100, minimum needed 21000', 'gas-limit'],
    ['insufficient gas for floor data gas cost: gas 21000, minimum needed 30000', 'gas-limit'],
    ['transaction gas limit too high (cap: 16777216, tx: 20000000)', 'gas-limit'],
    ['exceeds block gas limit', 'gas-limit'],
    ['gas uint64 overflow', 'gas-limit'],
    ['max priority fee per gas higher than max fee per gas: tip 2, cap 1', 'invalid'],
    ['invalid sender: invalid chain id for signer: have 1 want 5', 'invalid'],
    ['invalid transaction v, r, s values', 'invalid'],
    ['rlp: value size exceeds available input length', 'invalid'],
    ['transaction type not supported', 'invalid'],
    ['oversized data: transaction size 131077, limit 131072', 'invalid'],
    ['max initcode size exceeded: code size 49153 limit 49152', 'invalid'],
    ['negative value', 'invalid'],
    ['tx fee (1.50 ether) exceeds the configured cap (1.00 ether)', 'unknown'],
    ['txpool is full', 'unknown'],
    ['account limit exceeded: pooled 16 txs', 'unknown'],
    ['future transaction tries to replace pending', 'unknown'],
    ['in-flight transaction limit reached for delegated accounts', 'unknown'],
    ['gapped-nonce tx from delegated accounts', 'unknown'],
    ['address already reserved', 'unknown'],
    ['authority nonce too low', 'unknown'],
    ['only replay-protected (EIP-155) transactions allowed over RPC', 'unknown'],
  ],
  'op-geth': [
    ['transaction type not supported: deposit', 'invalid'],
    ['insufficient funds for gas * price + value + l1 cost', 'insufficient-funds'],
    ['transaction rejected by sequencer: overloaded', 'unknown'],
    ['no available sequencer', 'unknown'],
  ],
  bor: [
    ['transaction underpriced: gas tip cap 1000000000, minimum needed 25000000000', 'underpriced'],
    ['INTERNAL_ERROR: existing tx with same hash', 'unknown'],
    ['the sender has been rate limited', 'unknown'],
  ],
  avalanche: [
    ['nonce too low: address 0xabc, tx: 5 state: 7', 'nonce-too-low'],
    ['max fee per gas less than block base fee: address 0x1, maxFeePerGas: 1, baseFee: 25', 'underpriced'],
    ['transaction underpriced: address 0x1 have gas fee cap (1) < pool minimum fee cap (2)', 'underpriced'],
  ],
  nitro: [
    ['nonce too low: address 0x5E1497dD1f08C87b2d8FE23e9AAB6c1De833D927, tx: 5 state: 7', 'nonce-too-low'],
    ['nonce too high: address 0x5E1497dD1f08C87b2d8FE23e9AAB6c1De833D927, tx: 9 state: 7', 'unknown'],
    ['max fee per gas less than block base fee: address 0x1, maxFeePerGas: 1 baseFee: 2', 'underpriced'],
    ['insufficient funds for gas * price + value: address 0x1 have 1 want 2', 'insufficient-funds'],
    ['intrinsic gas too low: have 21000, want 30000', 'gas-limit'],
    // Simulated now and not kept; the same bytes may succeed in another block.
    ['execution reverted: ERC20: transfer amount exceeds balance', 'unknown'],
    ['execution reverted: nonce too low', 'unknown'],
    ['execution reverted: already known', 'unknown'],
    ['sequencer temporarily not available', 'unknown'],
    ['currently not accepting transactions due to expected surplus being below threshold', 'unknown'],
    ['context deadline exceeded', 'unknown'],
  ],
  erigon: [
    ['already known', 'accepted'],
    ['existing txn with same hash', 'accepted'],
    ['nonce too low', 'nonce-too-low'],
    ['could not replace existing tx', 'replacement-underpriced'],
    ['replacement transaction underpriced', 'replacement-underpriced'],
    ['underpriced', 'underpriced'],
    ['fee too low', 'underpriced'],
    ['insufficient funds', 'insufficient-funds'],
    ['IntrinsicGas', 'gas-limit'],
    ['GasUintOverflow', 'gas-limit'],
    ['gas limit is too high', 'gas-limit'],
    ['RLPTooLong', 'invalid'],
    ['invalid sender', 'invalid'],
    ['initcode too large', 'invalid'],
    ['spammer', 'unknown'],
    ['pending sub-pool is full', 'unknown'],
    ['baseFee sub-pool is full', 'unknown'],
    ['queued sub-pool is full', 'unknown'],
    ['replaced by transaction with higher tip', 'unknown'],
    ['mined', 'unknown'],
  ],
  nethermind: [
    ['AlreadyKnown', 'accepted'],
    ['OldNonce, Current nonce: 7, nonce of rejected tx: 5', 'nonce-too-low'],
    ['ReplacementNotAllowed', 'replacement-underpriced'],
    ['FeeTooLow, EffectivePriorityFeePerGas too low 0 < 1', 'underpriced'],
    ['FeeTooLowToCompete', 'underpriced'],
    ['InsufficientFunds, Account balance: 1, cumulative cost: 2', 'insufficient-funds'],
    ['GasLimitExceeded, Gas limit: 30000000, gas limit of rejected tx: 40000000', 'gas-limit'],
    ['FailedToResolveSender', 'invalid'],
    ['SenderIsContract', 'invalid'],
    ['Invalid, Transaction type is not supported: InvalidTxChainId: WrongChainId', 'invalid'],
    ['NonceGap, Future nonce. Expected nonce: 5', 'unknown'],
    ['NonceTooFarInFuture', 'unknown'],
    ['Int256Overflow', 'unknown'],
    ['DelegatorHasPendingTx', 'unknown'],
    ['Syncing', 'unknown'],
  ],
  besu: [
    ['Known transaction', 'accepted'],
    ['Nonce too low', 'nonce-too-low'],
    ['Replacement transaction underpriced', 'replacement-underpriced'],
    ['Upfront cost exceeds account balance', 'insufficient-funds'],
    ['Intrinsic gas exceeds gas limit', 'gas-limit'],
    ['Transaction gas limit exceeds block gas limit', 'gas-limit'],
    ['Gas price below configured minimum gas price', 'underpriced'],
    ['Gas price below current base fee', 'underpriced'],
    ['Invalid signature', 'invalid'],
    ['Wrong chainId', 'invalid'],
    ['ChainId not supported', 'invalid'],
    ['Max priority fee per gas exceeds max fee per gas', 'invalid'],
    ['Nonce too high', 'unknown'],
    ['Transaction nonce is too distant from current sender nonce', 'unknown'],
    ['An invalid transaction with a lower nonce exists', 'unknown'],
    ['Transaction fee cap exceeded', 'unknown'],
    ['Initial sync is still in progress', 'unknown'],
    [
      'Transaction pool not enabled. (Either txpool explicitly disabled, or node not yet in sync).',
      'unknown',
    ],
  ],
  reth: [
    ['already known', 'accepted'],
    ['[0xabcd]: already imported', 'accepted'],
    ['nonce too low: next nonce 7, tx nonce 5', 'nonce-too-low'],
    ['replacement transaction underpriced', 'replacement-underpriced'],
    ['insufficient gas price to replace existing transaction', 'replacement-underpriced'],
    ['transaction underpriced', 'underpriced'],
    ['transaction feeCap 1 below chain minimum', 'underpriced'],
    ['insufficient funds for gas * price + value: have 1 want 2', 'insufficient-funds'],
    ['transaction overdraws from account', 'insufficient-funds'],
    ["transaction's gas limit 40000000 exceeds block's gas limit 30000000", 'gas-limit'],
    ['intrinsic gas too low', 'gas-limit'],
    ['failed to decode signed transaction', 'invalid'],
    ['invalid transaction signature', 'invalid'],
    ['invalid chain ID', 'invalid'],
    ['txpool is full', 'unknown'],
    ['rejected due to 0xabcd being identified as a spammer', 'unknown'],
    ['transaction discarded outright due to pool size constraints', 'unknown'],
    ['transaction type 3 conflicts with existing transaction for 0xabcd', 'unknown'],
  ],
  anvil: [
    ['transaction already imported', 'accepted'],
    ['nonce too low', 'nonce-too-low'],
    ['replacement transaction underpriced', 'replacement-underpriced'],
    ['Insufficient funds for gas * price + value', 'insufficient-funds'],
    ['max fee per gas less than block base fee', 'underpriced'],
    ['intrinsic gas too high -- CallGasCostMoreThanGasLimit', 'gas-limit'],
    ['Failed to decode transaction', 'invalid'],
  ],
  'a provider': [
    ['unknown transaction type', 'unknown'],
    ['request rate limit exceeded', 'unknown'],
    ['Your app has exceeded its compute units per second capacity', 'unknown'],
    ['daily request count exceeded, request rate limited', 'unknown'],
    ['internal error', 'unknown'],
    ['timeout', 'unknown'],
    ['method handler crashed', 'unknown'],
    ['upstream connect error', 'unknown'],
    ['invalid nonce; got 9, expected 5', 'unknown'],
    ['', 'unknown'],
  ],
}

describe.each(Object.entries(wordings))('a refusal by %s', (_, said) => {
  it.each(said)('%j means %s', (message, meaning) => {
    const outcome = outcomeOf(new RpcError(-32000, message))
    expect(outcome.kind === 'refused' ? outcome.reason : outcome.kind).toBe(meaning)
  })
})

const endpointAt = (url: string) => createEndpoints({ urls: [url], network: baseSepolia })

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
    const endpoint = endpointAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    try {
      const outcomes = await endpoint.broadcast(raws)
      expect(outcomes.map(({ kind }) => kind)).toEqual(['unknown', 'unknown'])
    } finally {
      endpoint.close()
      server.closeAllConnections()
      server.close()
    }
  })

  it('is not there at all', async () => {
    const outcomes = await endpointAt('http://127.0.0.1:1').broadcast(raws)
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
    const endpoint = endpointAt(chain.rpcUrl)
    const outcomes = await endpoint.broadcast(raws)
    endpoint.close()
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
