import type { Hex } from '#lib/hex'
import type { Address } from '../addresses/types.ts'
import type { Chain } from '../chain.ts'
import type { BlockAt, ContentAgreement } from '../facets/blocks.ts'
import type { Receipt } from '../facets/effects.ts'
import type { ChainInput, FamilyDeclaration } from '../family.ts'
import type { Network } from '../networks/index.ts'
import { NodeUnreachable } from '../nodes/errors.ts'
import { type Nodes, openNodes } from '../nodes/nodes.ts'
import { createTurns, type InTurn } from '../nodes/turns.ts'
import { type AptosBlock, readBlockAt } from './blocks/read-block.ts'
import { parentHashOf, readRef } from './blocks/read-ref.ts'
import { balanceAtVersion, readSupply } from './payments/balances.ts'
import { dearer, paymentCall, readSignedPayment, signingMessageOf, withSignature } from './payments/build.ts'
import { decodeAptosCall } from './payments/decode-call.ts'
import { expiryAfter, lifeOf } from './payments/lifetimes.ts'
import { estimateByNode, gasMin, limitWithStore, nextNonceOf, suggestPrices } from './payments/offers.ts'
import { openRestNode, type RestNode } from './rest/node.ts'
import { nodeRulesOf, readHeight } from './rest/rules.ts'

/** Reads from the nodes of a chain; `execution` where a node executes what a request chooses. */
type NodeReader = <Result>(
  act: (node: RestNode) => Promise<Result>,
  kind?: Parameters<InTurn>[0],
) => Promise<Result>

const pollMs = 250

/** An Aptos chain through its endpoints. */
function createAptosChain(input: ChainInput): Chain {
  const { network, rpcUrl, rpcUrls = [rpcUrl], local, confirmations } = input
  const open = () => {
    const nodes = rpcUrls.map((url) => openRestNode(url, network.chainId, input.timeoutMs))
    return openNodes({ ...input, nodes, rules: nodeRulesOf(network), blockTimeMs: network.blockTimeMs })
  }
  const [nodes, ofAskers] = [open(), open()]
  const turns = createTurns({ blockchain: network.blockchain, local, endpoints: rpcUrls.length })
  const { blocks, effects, lastVersionOf } = blocksThrough(nodes, input)
  const read: NodeReader = (act) => nodes.read(act)
  const chain: Chain = {
    network,
    local,
    confirmations,
    endpoints: {
      hosts: rpcUrls.map((url) => new URL(url).host),
      health: nodes.health,
      inspect: nodes.inspect,
      close: async () => {
        for (const each of [nodes, ofAskers]) each.close()
      },
    },
    blocks,
    effects,
    ...readsThrough(read, input, lastVersionOf),
    lifetimes: {
      expiryAfter,
      lifeOf: (sent, own) => lifeOf(sent, own, nonceAgreed(nodes, lastVersionOf)),
    },
    payments: {
      transferCall: paymentCall,
      decodeCall: (call) => decodeAptosCall(network.blockchain, call),
      payloadOf: (transaction) => signingMessageOf(network, transaction),
      attachSignature: (transaction, signature) => withSignature(network, transaction, signature),
      readSigned: async (raw) => readSignedPayment(network, raw),
      dearer,
      broadcast: nodes.broadcast,
    },
    get shared() {
      return chain
    },
    onBehalfOf: (asker) => {
      const inTurn = turns.of(asker)
      const own: NodeReader = (act, kind = 'lookup') => inTurn(kind, () => ofAskers.read(act))
      const head = () => own((node) => readHead(node, network))
      return { ...chain, ...readsThrough(own, input, lastVersionOf), blocks: { ...blocks, head } }
    },
  }
  return chain
}

type LastVersionOf = (node: RestNode, block: BlockAt) => Promise<bigint>

function readsThrough(
  read: NodeReader,
  { network, inFlightMax = network.inFlightMax }: ChainInput,
  lastVersionOf: LastVersionOf,
): Pick<Chain, 'lane' | 'offers' | 'balances'> {
  return {
    lane: {
      nonceOf: (address) => read((node) => nextNonceOf(node, address)),
      inFlightMaxOf: async () => inFlightMax,
    },
    offers: {
      fees: () => read(suggestPrices),
      estimateGas: async (from, call) => {
        const unknown = (error: Error) => ({ kind: 'unknown', message: error.message }) as const
        return read((node) => estimateByNode(node, network, from, call), 'execution').catch((error) => {
          if (error instanceof NodeUnreachable) return unknown(error)
          throw error
        })
      },
      parentFee: async () => undefined,
      limitOf: limitWithStore,
      intrinsicGas: () => gasMin,
    },
    balances: {
      of: (address, token, at) =>
        read(async (node) =>
          balanceAtVersion(
            node,
            address,
            token,
            at === undefined ? undefined : await lastVersionOf(node, at),
          ),
        ),
      totalSupplyOf: (token) => read((node) => readSupply(node, token), 'execution'),
    },
  }
}

async function readHead(node: RestNode, network: Network) {
  const height = await readHeight(node, network)
  const ref = await readRef(node, height)
  if (!ref) throw new NodeUnreachable(`the node does not have its newest block ${height}`)
  const { number, hash, timeMs } = ref
  return { number, hash, parentHash: await parentHashOf(node, height), timeMs }
}

/** Blocks whose receipts and versions are kept: those read ahead of the one that is applied, and a few more. */
const recentMax = 64
/** More blocks than agreement takes on any network. */
const contentsMax = 5_000

/** The blocks of a chain and their effects, which share what was read last. */
function blocksThrough(nodes: Nodes<RestNode>, { network, local, finalityDepth }: ChainInput) {
  const recent = new Map<string, AptosBlock>()
  const contents = new Set<Hex>()
  const keep = (whole: AptosBlock) => {
    recent.delete(whole.block.hash)
    recent.set(whole.block.hash, whole)
    for (const oldest of recent.keys()) if (recent.size > recentMax) recent.delete(oldest)
    contents.add(whole.block.contentHash!)
    for (const oldest of contents) if (contents.size > contentsMax) contents.delete(oldest)
  }
  const believed = <Answer>(reading: Promise<Answer>) =>
    reading.catch((error) => {
      if (error instanceof NodeUnreachable) nodes.doubt()
      throw error
    })
  const byNumber = async (number: number) => {
    const whole = await believed(nodes.read((node) => readBlockAt(node, network, number)))
    if (whole) keep(whole)
    return whole?.block
  }
  const contentOf =
    ({ number, hash }: BlockAt) =>
    async (node: RestNode) => {
      const whole = await readBlockAt(node, network, number)
      return whole?.block.hash === hash ? whole.block.contentHash! : 'has no such block'
    }
  const agreedContent = async (block: BlockAt, contentHash: Hex): Promise<ContentAgreement> =>
    nodes.agreeing === 1 && contents.has(contentHash)
      ? { verdict: 'agreed', said: [] }
      : nodes.agreedOn(contentHash, contentOf(block))
  const lastVersionOf: LastVersionOf = async (node, { number, hash }) => {
    const known = recent.get(hash)
    if (known) return known.lastVersion
    const ref = await readRef(node, number)
    if (ref?.hash === hash) return ref.lastVersion
    throw new NodeUnreachable(`the node has another block ${number} than ${hash}, or none`)
  }
  const blocks: Chain['blocks'] = {
    head: () => believed(nodes.read((node) => readHead(node, network))),
    byNumber,
    byHash: async (hash, number = recent.get(hash)?.block.number) => {
      const block = number === undefined ? undefined : await byNumber(number)
      return block?.hash === hash ? block : undefined
    },
    watchHeads: (onHead) => {
      const timer = setInterval(onHead, local ? pollMs : Math.max(pollMs, network.blockTimeMs))
      return () => clearInterval(timer)
    },
    finalityDepth,
    // What is committed is final: nodes have no tag for less.
    finalized: async () => 'no tag',
    agreeing: nodes.agreeing,
    agreedUpTo: nodes.agreedUpTo,
    agreedContent,
  }
  const wholeOf = async ({ number, hash }: BlockAt) => {
    if (!recent.has(hash)) await byNumber(number)
    return recent.get(hash)
  }
  const receiptsOf = async (at: BlockAt, txHashes: readonly string[]): Promise<Receipt[]> => {
    const whole = txHashes.length > 0 ? await wholeOf(at) : undefined
    return txHashes.map((txHash) => {
      const receipt = whole?.receipts.get(txHash)
      if (receipt) return receipt
      throw new NodeUnreachable(`block ${at.hash} is of no node, or does not have ${txHash}`)
    })
  }
  const effects: Chain['effects'] = {
    receiptsOf,
    explainRevert: async ({ block, txHash }) => (await wholeOf(block))?.failures.get(txHash),
  }
  return { blocks, effects, lastVersionOf }
}

/** The next nonce of an address after a block, as a quorum of endpoints has it. */
const nonceAgreed =
  (nodes: Nodes<RestNode>, lastVersionOf: LastVersionOf) =>
  async (address: Address, block: BlockAt): Promise<number> => {
    const ask = async (node: RestNode) => nextNonceOf(node, address, await lastVersionOf(node, block))
    const nonce = await nodes.read(ask)
    if (nodes.agreeing === 1) return nonce
    const { verdict, said } = await nodes.agreedOn(String(nonce), async (node) => String(await ask(node)))
    if (verdict === 'agreed') return nonce
    throw new NodeUnreachable(`the endpoints do not agree on the nonce of ${address}: ${said.join(', ')}`)
  }

/** Neither signs what callers send, nor has chains in a sandbox yet. */
export const aptosFamily: FamilyDeclaration = {
  // The types of the program know the keys that custody derives.
  keys: 'aptos' as 'evm',
  facets: ['lifetimes'],
  signs: false,
  derives: false,
  hasLocalChains: false,
  connect: createAptosChain,
}
