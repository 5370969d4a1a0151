/**
 * A node without a virtual machine, in a process of its own: it passes every request on to a local node until `stub_begin`, and answers from
 * then on itself what the engines ask about transfers of USDC, so that a backlog shows what they can do alone.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { decodeAbiParameters, numberToHex } from 'viem'
import type { Hex } from '#lib/hex'
import { rpc } from '#testing/platform/json-rpc'
import { type RawHeader, Refused, type StubBlock, StubLedger } from './ledger.ts'

type Call = { id: unknown; method: string; params: readonly unknown[] }

const [behind = '', usdc = '', blockTimeMs = ''] = process.argv.slice(2)
const balanceOfSelector = '0x70a08231'
/** Gas of a transfer as the local node estimates it, with some to spare. */
const estimate = '0xea60'
let ledger: StubLedger | undefined

async function begin(): Promise<true> {
  await rpc(behind, 'evm_setIntervalMining', [0])
  const base = await rpc<RawHeader>(behind, 'eth_getBlockByNumber', ['latest', false])
  const balanceOf = (address: Hex) =>
    rpc<Hex>(behind, 'eth_call', [{ to: usdc, data: balanceCall(address) }, 'latest'])
  ledger = new StubLedger(base, usdc as Hex, {
    nonceOf: async (address) => Number(await rpc(behind, 'eth_getTransactionCount', [address, 'latest'])),
    coinsOf: async (address) => {
      const native = await rpc<Hex>(behind, 'eth_getBalance', [address, 'latest'])
      return [BigInt(await balanceOf(address)), BigInt(native)]
    },
  })
  const begun = ledger
  const mine = () => void begun.mine().then(() => setTimeout(mine, Number(blockTimeMs)))
  setTimeout(mine, Number(blockTimeMs))
  return true
}

const balanceCall = (address: Hex) => `${balanceOfSelector}${address.slice(2).padStart(64, '0')}`

type Filter = { blockHash?: string }
type Params = readonly [never, never]

/** Answers of the chain since the stub began; `undefined` for what the node behind it answers. */
const methods: Record<string, (chain: StubLedger, params: Params) => unknown> = {
  eth_blockNumber: (chain) => chain.head.number,
  eth_getBlockByNumber: (chain, [tag, isWhole]) => blockAt(chain, numberOf(chain, tag), isWhole),
  eth_getBlockByHash: (chain, [hash, isWhole]) => shown(chain.byHash.get(hash), isWhole),
  eth_getBlockTransactionCountByHash: (chain, [hash]) => {
    const block = chain.byHash.get(hash)
    return block && numberToHex(block.transactions.length)
  },
  eth_getBlockReceipts: (chain, [at]) =>
    (chain.byHash.get((at as Filter).blockHash ?? at) ?? chain.block(numberOf(chain, at)))?.receipts,
  eth_getTransactionReceipt: (chain, [hash]) => chain.receipts.get(hash),
  eth_getTransactionCount: async (chain, [address]) => numberToHex(await chain.nonceOf(address)),
  eth_getLogs: (chain, [filter]) => chain.byHash.get((filter as Filter).blockHash ?? '')?.logs,
  eth_getBalance: async (chain, [address, at]) =>
    numberToHex((await chain.coinsOf(address, heightOf(chain, at))).native),
  eth_call: async (chain, [call, at]) => {
    const { to, data } = call as { to?: string; data?: string }
    if (to?.toLowerCase() !== usdc.toLowerCase() || !data?.startsWith(balanceOfSelector)) return undefined
    const [address] = decodeAbiParameters([{ type: 'address' }], `0x${data.slice(10)}`)
    return numberToHex((await chain.coinsOf(address, heightOf(chain, at))).usdc, { size: 32 })
  },
  eth_estimateGas: () => estimate,
  eth_sendRawTransaction: (chain, [raw]) => chain.take(raw),
}

/** The number that a tag or a quantity names. Blocks are final two blocks later, as on the node behind. */
function numberOf(chain: StubLedger, tag: unknown): number {
  const head = Number(chain.head.number)
  if (tag === 'latest' || tag === 'pending') return head
  if (tag === 'safe' || tag === 'finalized') return Math.max(chain.baseNumber - 2, head - 2)
  return Number(tag)
}

function heightOf(chain: StubLedger, at: unknown): number {
  const hash = (at as { blockHash?: string } | undefined)?.blockHash
  if (hash !== undefined) return Number(chain.byHash.get(hash)?.header.number ?? chain.baseNumber)
  return at === undefined ? Number.POSITIVE_INFINITY : numberOf(chain, at)
}

function blockAt(chain: StubLedger, number: number, isWhole: boolean): unknown {
  if (number > Number(chain.head.number)) return null
  if (number > chain.baseNumber) return shown(chain.block(number), isWhole)
  return rpc(behind, 'eth_getBlockByNumber', [numberToHex(number), isWhole])
}

const shown = (block: StubBlock | undefined, isWhole: boolean) =>
  block && {
    ...block.header,
    transactions: isWhole
      ? block.transactions
      : block.transactions.map((each) => (each as { hash: Hex }).hash),
  }

/** Methods whose last parameter names a block. */
const ofState = ['eth_call', 'eth_getCode', 'eth_getStorageAt']

/** Parameters for the node behind: of a block that it does not have, its newest one is asked. */
function forwarded(method: string, params: readonly unknown[]): readonly unknown[] {
  if (!ledger || !ofState.includes(method)) return params
  return [
    ...params.slice(0, -1),
    heightOf(ledger, params.at(-1)) > ledger.baseNumber ? 'latest' : params.at(-1),
  ]
}

async function answer({ id, method, params = [] }: Call): Promise<object> {
  try {
    if (method === 'stub_begin') return { jsonrpc: '2.0', id, result: await begin() }
    const own =
      ledger && methods[method] ? await methods[method](ledger, params as unknown as Params) : undefined
    return {
      jsonrpc: '2.0',
      id,
      result: own === undefined ? await rpc(behind, method, forwarded(method, params)) : own,
    }
  } catch (error) {
    const { message } = error as Error
    return { jsonrpc: '2.0', id, error: { code: error instanceof Refused ? -32_000 : -32_603, message } }
  }
}

const server = createServer(async (request, response) => {
  // There are no subscriptions: the engines ask for the newest block.
  if (request.method !== 'POST') return void response.writeHead(405).end()
  const asked = JSON.parse(await text(request)) as Call | Call[]
  const answers = Array.isArray(asked) ? await Promise.all(asked.map(answer)) : await answer(asked)
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answers))
})
server.listen(0, '127.0.0.1', () =>
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }),
)
process.on('message', (order) => {
  if (order === 'end') process.send?.('done')
})
process.on('disconnect', () => process.exit())
process.on('SIGINT', () => undefined)
