import type { Hex } from '#lib/hex'
import type { Address } from '../addresses/types.ts'
import type { Chain } from '../chain.ts'
import type { Crosschain } from '../crosschain/crosschain.ts'
import type { LogQuery } from '../facets/blocks.ts'
import type { Inspection } from '../facets/endpoints.ts'
import type { Payments } from '../facets/payments.ts'
import type { ChainInput, FamilyDeclaration } from '../family.ts'
import type { Network } from '../networks/index.ts'
import { watchHeads } from '../nodes/heads.ts'
import { type BlockKey, readHashAt } from './blocks/blocks.ts'
import { openContents } from './blocks/compared-contents.ts'
import { readHistory } from './blocks/history.ts'
import { openKnownReceipts } from './blocks/known-receipts.ts'
import { hasCode } from './contracts/contracts.ts'
import { crosschainAt, knownCrosschainAddresses } from './crosschain/index.ts'
import { plannedAddresses, planSetup } from './crosschain/setup.ts'
import { decodeCall } from './effects/decode-call.ts'
import { evmBrowserCall, evmPaymentUri } from './payment-uri.ts'
import { attachSignature, payloadOf, readSigned, transferCall } from './payments/build.ts'
import { ask, estimateBounds, type Reads, readsThrough } from './reads.ts'
import { createEndpoints, type Endpoints } from './rpc/endpoints.ts'
import { finalizedReader } from './rpc/finalized.ts'
import { createReadTurns } from './rpc/read-turns.ts'
import { NodeUnreachable, type Rpc } from './rpc/rpc.ts'
import { RpcError } from './rpc/rpc-errors.ts'
import { evmSigning } from './signing/index.ts'
import { contractVerdict } from './unified-balance/contract-signatures.ts'

/** Interval of head polling while there is no subscription. */
const pollMs = 250

const newHeads = { method: 'eth_subscribe', params: ['newHeads'], notice: 'eth_subscription' }

/** An inspection whose results another one reports. */
const silent: Inspection = { refused: () => undefined, accepted: () => undefined }

/**
 * Endpoints with connections and health records of their own: for histories, for the reads of requests, and for the contracts of
 * strangers, which decide how long a node works on their answers.
 */
function ownEndpoints(input: ChainInput) {
  const { network, local, rpcUrls: urls = [input.rpcUrl], inspection } = input
  const readRpc = createEndpoints({ ...input, urls, inspection: inspection && silent })
  const strangersRpc = createEndpoints({ ...input, urls, inspection: inspection && silent })
  const terms = { blockchain: network.blockchain, local, endpoints: urls.length }
  const strangers = createReadTurns(strangersRpc, terms)
  return {
    historyRpc: createEndpoints({ ...input, urls, inspection: undefined }),
    readRpc,
    strangersRpc,
    turns: createReadTurns(readRpc, terms),
    verdict: ((signed, block) =>
      contractVerdict(strangers.inTurnOf({ name: signed.account }), signed, block)) satisfies ContractAnswers,
  }
}

type ContractAnswers = Crosschain['contractVerdict']

/** Builds, signs and sends transactions: only the last asks a node. */
const paymentsThrough = (rpc: Endpoints, network: Network): Payments => ({
  transferCall,
  decodeCall: (call) => decodeCall(network.blockchain, call),
  payloadOf: (transaction) => payloadOf(network, transaction),
  attachSignature: (transaction, signature) => attachSignature(network, transaction, signature),
  dearer: (transaction, { maxFeeAtomic, priorityFeeAtomic }) => ({
    ...transaction,
    maxFeeAtomic,
    priorityFeeAtomic,
  }),
  readSigned: (raw) => readSigned(network, raw),
  broadcast: (raws) => rpc.broadcast(raws),
})

/** An EVM chain through its endpoints. */
export function createEvmChain(input: ChainInput): Chain {
  const { network, rpcUrl, confirmations, local } = input
  const rpc = createEndpoints({ ...input, urls: input.rpcUrls ?? [rpcUrl] })
  const { historyRpc, readRpc, strangersRpc, turns, verdict } = ownEndpoints(input)
  const { head, explainRevert, contracts, ...facets } = readsThrough(rpc, input)
  const logHistory = (query: LogQuery) => readHistory(historyRpc, network.chainId, query)
  const chain: Chain = {
    ...facets,
    network,
    local,
    confirmations,
    endpoints: {
      hosts: (input.rpcUrls ?? [rpcUrl]).map((url) => new URL(url).host),
      health: () => rpc.health(),
      inspect: () => rpc.inspect(),
      close: async () => {
        for (const each of [rpc, historyRpc, readRpc, strangersRpc]) each.close()
      },
    },
    contracts: { ...contracts, logHistory },
    ...blocksThrough(rpc, input, { head, explainRevert }),
    payments: paymentsThrough(rpc, network),
    ...crosschainThrough(rpc, input, verdict),
    get shared() {
      return chain
    },
    onBehalfOf: (asker) => {
      const inTurn = turns.inTurnOf(asker)
      const { head, explainRevert, contracts, ...own } = readsThrough(inTurn, input, {
        estimates: estimateBounds(input),
        together: turns.sharingTurnsOf(asker),
      })
      return {
        ...chain,
        ...own,
        contracts: { ...contracts, logHistory },
        blocks: { ...chain.blocks, head },
        effects: { ...chain.effects, explainRevert },
        ...crosschainThrough(inTurn, input, verdict),
      }
    },
  }
  return chain
}

/** The blocks of a chain and their effects, which share what was read last. */
function blocksThrough(
  rpc: Endpoints,
  input: ChainInput,
  { head, explainRevert }: Pick<Reads, 'head' | 'explainRevert'>,
): Pick<Chain, 'blocks' | 'effects'> {
  const { network, rpcUrl, finalityDepth, local } = input
  const receipts = openKnownReceipts(rpc)
  const contents = openContents(rpc, input)
  const believed = <Read>(reading: Promise<Read>) =>
    reading.catch((error) => {
      if (error instanceof NodeUnreachable) rpc.doubt()
      throw error
    })
  const block = async (key: BlockKey) => {
    const whole = await believed(contents.read(key))
    if (whole) receipts.keep(whole)
    return whole?.block
  }
  return {
    blocks: {
      head: () => believed(head()),
      hashAt: (number) => believed(readHashAt(rpc, number)),
      byNumber: (number) => block({ number }),
      byHash: (hash) => block({ hash }),
      // Polls a public chain a few times per block, a local one often enough that a person notices no delay.
      watchHeads: (onHead) =>
        watchHeads(rpcUrl, local ? pollMs : Math.max(pollMs, network.blockTimeMs / 4), newHeads, onHead),
      finalityDepth,
      finalized: local ? async () => 'no tag' : finalizedReader(() => rpc.finalTags()),
      agreeing: rpc.agreeing,
      agreedUpTo: (number, hashAt) => rpc.agreedUpTo(number, hashAt),
      agreedContent: contents.agreed,
    },
    effects: { receiptsOf: receipts.receiptsOf, explainRevert },
  }
}

/** Requests wait for these answers, and a node that hangs holds up the questions that come next. */
const patience = { timeoutMs: 5_000 }

/** Calls view functions of a contract in one request. Throws when the node refuses one of them. */
async function askMany(rpc: Rpc, to: Address, data: readonly Hex[]): Promise<unknown[]> {
  const calls = data.map((each) => ({ method: 'eth_call', params: [{ to, data: each }, 'latest'] }))
  const answers = await rpc.batch(calls, patience)
  for (const answer of answers) if (answer instanceof RpcError) throw answer
  return answers
}

/** Cross-chain messages and unified balances: at the addresses of the configuration, or at the known ones of a local chain. */
function crosschainThrough(
  rpc: Endpoints,
  { network, local, crosschain }: ChainInput,
  verdict: ContractAnswers,
): Pick<Chain, 'crosschain' | 'crosschainPlanner'> {
  const addresses = crosschain ?? (local ? knownCrosschainAddresses(network) : undefined)
  const read = (to: Address, data: Hex) => ask(rpc, to, data)
  const agreed = (to: Address, data: Hex) => askAgreed(rpc, to, data)
  return {
    crosschain: crosschainAt(network, addresses, {
      many: (to, data) => askMany(rpc, to, data),
      agreed,
      verdict,
    }),
    crosschainPlanner: {
      plan: (terms) => planSetup(network, terms, { read, hasCode: (address) => hasCode(rpc, address) }),
      addressesOf: plannedAddresses,
    },
  }
}

/** The answer of a contract on which enough endpoints agree; throws NodeUnreachable where they do not. */
async function askAgreed(rpc: Endpoints, to: Address, data: Hex): Promise<unknown> {
  const answer = await ask(rpc, to, data)
  if (rpc.agreeing === 1) return answer
  const askOne = async (one: Rpc) => String(await ask(one, to, data))
  const { verdict, said } = await rpc.agreedOn(String(answer), askOne)
  if (verdict === 'agreed') return answer
  throw new NodeUnreachable(`the endpoints do not agree on the answer of a contract: ${said.join(', ')}`)
}

export const evmFamily: FamilyDeclaration = {
  keys: 'evm',
  facets: ['gather', 'authorizations', 'tokens', 'contracts', 'accounts', 'crosschainPlanner', 'nodeRead'],
  signing: evmSigning,
  priceUnit: { name: 'gwei', decimals: 9 },
  paymentUri: evmPaymentUri,
  browserCall: evmBrowserCall,
  feePayers: false,
  derives: true,
  userWallets: true,
  hasLocalChains: true,
  // Enough for a whole backlog.
  localInFlightMax: 4_000,
  connect: createEvmChain,
}
