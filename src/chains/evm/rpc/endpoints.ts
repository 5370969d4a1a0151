/** The endpoints of one chain as one JSON-RPC endpoint: see `openNodes`. */
import type { Hex } from '#lib/hex'
import type { CrosschainAddresses } from '../../crosschain/crosschain.ts'
import type { Inspection } from '../../facets/endpoints.ts'
import type { Network } from '../../networks/index.ts'
import { isUnreachable } from '../../nodes/health.ts'
import { type Nodes, openNodes } from '../../nodes/nodes.ts'
import { type NodeRules, noSuchBlock } from '../../nodes/rules.ts'
import { sendRaws } from './broadcast.ts'
import { inspectEndpoint } from './check-endpoint.ts'
import { isEndpointFault, isLimited } from './endpoint-faults.ts'
import { type FinalTags, readFinalTag } from './finalized.ts'
import { readInteger, toQuantity } from './quantities.ts'
import { createRpc, NodeUnreachable, type Rpc, RpcError } from './rpc.ts'
import type { AnswerLimits, RpcCall } from './rpc-errors.ts'

export type Endpoints = Rpc &
  Omit<Nodes<Rpc>, 'read' | 'each'> & {
    /** The finalized block of each endpoint that is not in backoff, and the quorum. */
    finalTags(): Promise<FinalTags>
    /** The same endpoints for a few calls that one of them answers, if it can, and those that did. */
    forOneReader(): { reader: Rpc; answered(): Rpc[] }
  }

type EndpointsInput = {
  urls: readonly string[]
  network: Network
  /** Without it, an endpoint is asked for its chain id only, and a single endpoint is not verified. */
  inspection?: Inspection | undefined
  /** Contracts that an inspected endpoint has to have besides the tokens. */
  crosschain?: CrosschainAddresses | undefined
  /** Quorum of endpoints that must name the same block; more than half when absent. */
  agree?: number | undefined
  timeoutMs?: number | undefined
  /** Maximum calls of one request; learnt when absent. */
  batchMax?: number | undefined
}

const agreementTimeoutMs = 5_000

export function createEndpoints(input: EndpointsInput): Endpoints {
  const rpcs = input.urls.map((url) => createRpc(url, input))
  const { blockTimeMs } = input.network
  const { read, each, ...nodes } = openNodes({ ...input, nodes: rpcs, rules: rulesOf(input), blockTimeMs })
  const lacking = new Set<string>()
  const through = (answered?: Set<Rpc>): Rpc => ({
    url: rpcs[0]!.url,
    host: rpcs[0]!.host,
    call: <Result>(method: string, params: unknown[], limits?: AnswerLimits) =>
      read(async (rpc) => {
        const answer = await rpc.call<Result>(method, params, limits)
        answered?.add(rpc)
        return answer
      }, lastOf(answered)),
    batch: <Result>(calls: readonly RpcCall[], limits?: AnswerLimits) =>
      read(async (rpc) => {
        const answers = await rpc.batch<Result>(calls, limits)
        const limited = rpcs.length > 1 ? answers.find(isLimited) : undefined
        if (limited) throw limited
        answered?.add(rpc)
        return answers
      }, lastOf(answered)),
    batchMax: () => Math.min(...rpcs.map((rpc) => rpc.batchMax())),
    lacking,
    close: nodes.close,
  })
  return {
    ...nodes,
    ...through(),
    forOneReader: () => {
      const answered = new Set<Rpc>()
      return { reader: through(answered), answered: () => [...answered] }
    },
    finalTags: async () => {
      const tags = await each(readFinalTag)
      const told = tags.map((tag) => (tag.status === 'fulfilled' ? tag.value : 'unknown'))
      return { tags: told, needed: nodes.agreeing }
    },
  }
}

const lastOf = (answered: Set<Rpc> | undefined) => [...(answered ?? [])].at(-1)

const rulesOf = ({ network, crosschain }: EndpointsInput): NodeRules<Rpc> => ({
  checkIdentity: async (rpc) => checkChainId(rpc, await rpc.call('eth_chainId', []), network.chainId),
  inspect: (rpc) => inspectEndpoint(rpc, network, crosschain),
  headOf: async (rpc) => {
    const [id, head] = await rpc.batch([
      { method: 'eth_chainId', params: [] },
      { method: 'eth_blockNumber', params: [] },
    ])
    if (id instanceof RpcError || head instanceof RpcError) throw new NodeUnreachable(`${rpc.host}: no head`)
    checkChainId(rpc, id, network.chainId)
    return readInteger(head, 'block number')
  },
  voteOn: async (rpc, number) => {
    const calls = [
      { method: 'eth_getBlockByNumber', params: [toQuantity(number), false] },
      { method: 'eth_blockNumber', params: [] },
    ]
    const [block, head] = await rpc.batch<unknown>(calls, { timeoutMs: agreementTimeoutMs })
    const said = String((block as { hash?: Hex } | null)?.hash ?? noSuchBlock).toLowerCase()
    return { said, head: readInteger(head, 'block number') }
  },
  send: sendRaws,
  isFailure: (error) => isUnreachable(error) || isLimited(error),
  isEndpointFault,
})

function checkChainId(rpc: Rpc, answer: unknown, chainId: number): void {
  const given = readInteger(answer, 'chain id')
  if (given !== chainId)
    throw new NodeUnreachable(`${rpc.host} is a node of chain ${given}, not of ${chainId}`)
}
