import { type Hex, isHex } from '#lib/hex'
import type { Address, Chain, ContentAgreement, Inspection } from '../chain.ts'
import type { CrosschainAddresses } from '../crosschain/crosschain.ts'
import type { Network } from '../network.ts'
import { encodeCall } from './abi/encode.ts'
import { canonicalPins, type PinnedCode } from './accounts/contracts.ts'
import { accountsThrough } from './accounts/index.ts'
import { authorizationDigest, authorizedTransferCall, domainSeparatorSelector } from './authorization.ts'
import { type BlockKey, readBlock, readHead, type WholeBlock } from './blocks.ts'
import {
  attachSignature,
  callDataBytesMax,
  digestOf,
  intrinsicGas,
  readSigned,
  transferCall,
} from './build.ts'
import { contractsThrough } from './contracts.ts'
import { crosschainAt, knownCrosschainAddresses } from './crosschain/index.ts'
import { plannedAddresses, planSetup } from './crosschain/setup.ts'
import { decodeCall } from './decode-call.ts'
import { createEndpoints, type Endpoints } from './endpoints.ts'
import { estimateGas, suggestFees } from './fees.ts'
import { finalizedReader } from './finalized.ts'
import { watchHeads } from './heads.ts'
import { readHistory } from './history.ts'
import { readFromNode } from './node-read.ts'
import { parentFee } from './parent-fee.ts'
import { integer, quantity } from './quantities.ts'
import { readReceipts, receiptsFrom } from './receipts.ts'
import { replayRevert } from './revert.ts'
import { type Rpc, RpcUnreachable } from './rpc.ts'
import { RpcError } from './rpc-errors.ts'
import { tokensThrough } from './tokens.ts'

export type EvmChainInput = {
  network: Network
  rpcUrl: string
  /** All endpoints when there are several, `rpcUrl` the first of them. */
  rpcUrls?: readonly string[] | undefined
  agree?: number | undefined
  inspection?: Inspection | undefined
  confirmations: number
  finalityDepth: number
  local: boolean
  inFlightMax?: number | undefined
  timeoutMs?: number | undefined
  batchMax?: number | undefined
  accountCode?: PinnedCode | undefined
  /** A local chain has the contracts at their known addresses. */
  crosschain?: CrosschainAddresses | undefined
}

/** Interval of head polling while there is no subscription. */
const pollMs = 250

/** The first four bytes of keccak256("balanceOf(address)"). */
const balanceOfSelector = '0x70a08231'
const totalSupplySelector = '0x18160ddd'

/** Prefix of the code of an account that delegates to a contract (EIP-7702). */
const delegationPrefix = '0xef0100'

/** Endpoints with connections and health records of their own, for histories and for what pages read. */
function ownEndpoints(input: EvmChainInput) {
  const uninspected = { ...input, urls: input.rpcUrls ?? [input.rpcUrl], inspection: undefined }
  return { historyRpc: createEndpoints(uninspected), pageRpc: createEndpoints(uninspected) }
}

/** Transactions of the network, which no node is asked about. */
const signedTransactionsOf = (
  network: Network,
): Pick<Chain, 'digestOf' | 'attachSignature' | 'readSigned'> => ({
  digestOf: (transaction) => digestOf(network, transaction),
  attachSignature: (transaction, signature) => attachSignature(network, transaction, signature),
  readSigned: (raw) => readSigned(network, raw),
})

/** An EVM chain through its endpoints. */
export function createEvmChain(input: EvmChainInput): Chain {
  const { network, rpcUrl, confirmations, finalityDepth, local, inFlightMax = network.inFlightMax } = input
  const rpc = createEndpoints({ ...input, urls: input.rpcUrls ?? [rpcUrl] })
  const { historyRpc, pageRpc } = ownEndpoints(input)
  const recent = recentReceipts()
  const contents = openContents(rpc, input)
  const believed = <Read>(reading: Promise<Read>) =>
    reading.catch((error) => {
      if (error instanceof RpcUnreachable) rpc.doubt()
      throw error
    })
  const block = async (key: BlockKey) => {
    const whole = await believed(readBlock(rpc, input, key))
    if (whole) for (const kept of [recent, contents]) kept.keep(whole)
    return whole?.block
  }
  return {
    network,
    hosts: (input.rpcUrls ?? [rpcUrl]).map((url) => new URL(url).host),
    health: () => rpc.health(),
    inspect: () => rpc.inspect(),
    confirmations,
    finalityDepth,
    local,
    head: () => believed(readHead(rpc, network.chainId)),
    blockByNumber: (number) => block({ number }),
    blockByHash: (hash) => block({ hash }),
    logHistory: (query) => readHistory(historyRpc, network.chainId, query),
    receiptsOf: async (blockHash, txHashes) => {
      const read = recent.find(blockHash)
      return read ? receiptsFrom(read, blockHash, txHashes) : readReceipts(rpc, blockHash, txHashes)
    },
    nonceOf: async (address) =>
      integer(await rpc.call('eth_getTransactionCount', [address, 'latest']), 'nonce'),
    inFlightMaxOf: async (address) => ((await isDelegated(rpc, address)) ? 1 : inFlightMax),
    balanceOf: (address, token, atBlock) => balanceOf(rpc, address, token, atBlock),
    hasCode: async (address) => (await rpc.call('eth_getCode', [address, 'latest'])) !== '0x',
    totalSupplyOf: async (token) => quantity(await ask(rpc, token, totalSupplySelector), 'total supply'),
    fees: () => suggestFees(rpc, network),
    estimateGas: (from, call, errors) => estimateGas(rpc, from, call, errors),
    parentFee: (call, gasLimit) => parentFee(rpc, network, call, gasLimit),
    intrinsicGas,
    transferCall,
    domainSeparatorOf: (token) => domainSeparatorOf(rpc, token),
    authorizationDigest,
    authorizedTransferCall,
    encodeCall,
    callDataBytesMax,
    contracts: contractsThrough(rpc, input),
    tokens: tokensThrough(rpc),
    accounts: accountsThrough(rpc, pageRpc, network, canonicalPins(input.accountCode ?? {})),
    ...crosschainThrough(rpc, input),
    explainRevert: (...reverted) => replayRevert(rpc, ...reverted),
    decodeCall: (call) => decodeCall(network.blockchain, call),
    ...signedTransactionsOf(network),
    broadcast: (raws) => rpc.broadcast(raws),
    agreedUpTo: (number, hashAt) => rpc.agreedUpTo(number, hashAt),
    finalized: local ? async () => 'no tag' : finalizedReader(() => rpc.finalTags()),
    agreeing: rpc.agreeing,
    agreedContent: contents.agreed,
    read: (method, params) => readFromNode(pageRpc, method, params),
    // Polls a public chain a few times per block, a local one often enough that a person notices no delay.
    watchHeads: (onHead) =>
      watchHeads(rpcUrl, local ? pollMs : Math.max(pollMs, network.blockTimeMs / 4), onHead),
    close: async () => {
      for (const each of [rpc, historyRpc, pageRpc]) each.close()
    },
  }
}

async function balanceOf(rpc: Rpc, address: Address, token?: Address, atBlock?: Hex): Promise<bigint> {
  const at = atBlock === undefined ? 'latest' : { blockHash: atBlock }
  if (token === undefined) return quantity(await rpc.call('eth_getBalance', [address, at]), 'balance')
  const data = `${balanceOfSelector}${address.slice(2).padStart(64, '0')}` as const
  return quantity(await ask(rpc, token, data, at), 'token balance')
}

async function domainSeparatorOf(rpc: Rpc, token: Address): Promise<Hex> {
  const answer = await ask(rpc, token, domainSeparatorSelector)
  if (!isHex(answer, 32)) throw new Error(`${token} has no EIP-712 domain`)
  return answer
}

/** Whether an account delegates to a contract. */
const isDelegated = async (rpc: Rpc, address: Address): Promise<boolean> =>
  String(await rpc.call('eth_getCode', [address, 'latest']))
    .toLowerCase()
    .startsWith(delegationPrefix)

/** Calls a view function of a contract. */
const ask = (rpc: Rpc, to: Address, data: Hex, at: unknown = 'latest') =>
  rpc.call('eth_call', [{ to, data }, at])

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
  { network, local, crosschain }: EvmChainInput,
): Pick<Chain, 'crosschain' | 'planCrosschain' | 'crosschainAddressesOf'> {
  const addresses = crosschain ?? (local ? knownCrosschainAddresses(network) : undefined)
  const read = (to: Address, data: Hex) => ask(rpc, to, data)
  const agreed = (to: Address, data: Hex) => askAgreed(rpc, to, data)
  const hasCode = async (address: Address) => (await rpc.call('eth_getCode', [address, 'latest'])) !== '0x'
  return {
    crosschain: crosschainAt(network, addresses, { many: (to, data) => askMany(rpc, to, data), agreed }),
    planCrosschain: (terms) => planSetup(network, terms, { read, hasCode }),
    crosschainAddressesOf: plannedAddresses,
  }
}

/** The answer of a contract on which enough endpoints agree; throws RpcUnreachable where they do not. */
async function askAgreed(rpc: Endpoints, to: Address, data: Hex): Promise<unknown> {
  const answer = await ask(rpc, to, data)
  if (rpc.agreeing === 1) return answer
  const askOne = async (one: Rpc) => String(await ask(one, to, data))
  const { verdict, said } = await rpc.agreedOn(String(answer), askOne)
  if (verdict === 'agreed') return answer
  throw new RpcUnreachable(`the endpoints do not agree on the answer of a contract: ${said.join(', ')}`)
}

/** More blocks than finality takes on any network. */
const contentsMax = 5_000

/** Keeps the hashes of block contents that were read, and compares them with other endpoints. */
function openContents(rpc: Endpoints, input: EvmChainInput) {
  const own = new Set<Hex>()
  const contentOf = (hash: Hex) => async (one: Rpc) =>
    (await readBlock(one, input, { hash }))?.block.contentHash ?? 'has no such block'
  return {
    keep: ({ block }: WholeBlock) => {
      if (block.contentHash) own.add(block.contentHash)
      for (const oldest of own) if (own.size > contentsMax) own.delete(oldest)
    },
    // With a quorum of one, content that this process read itself needs no second read. Content that an earlier process
    // applied may come from another endpoint.
    agreed: async (blockHash: Hex, contentHash: Hex): Promise<ContentAgreement> =>
      rpc.agreeing === 1 && own.has(contentHash)
        ? { verdict: 'agreed', said: [] }
        : rpc.agreedOn(contentHash, contentOf(blockHash)),
  }
}

/** Number of blocks read ahead of the one that is applied, and a few more. */
const recentMax = 24

/** Caches the receipts of the blocks read last: the code that applies a block reads some of them right after. */
function recentReceipts() {
  const kept = new Map<Hex, NonNullable<WholeBlock['receipts']>>()
  return {
    keep: ({ block, receipts }: WholeBlock) => {
      if (!receipts) return
      kept.delete(block.hash)
      kept.set(block.hash, receipts)
      for (const oldest of kept.keys()) if (kept.size > recentMax) kept.delete(oldest)
    },
    find: (blockHash: Hex) => kept.get(blockHash),
  }
}
