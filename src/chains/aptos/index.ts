import { larger } from '#lib/amounts'
import type { Address } from '../addresses/types.ts'
import type { Chain } from '../chain.ts'
import type { BlockAt } from '../facets/blocks.ts'
import type { ChainInput, FamilyDeclaration } from '../family.ts'
import { type NodeReader, openAskedNodes } from '../nodes/asked-nodes.ts'
import { NodeUnreachable } from '../nodes/errors.ts'
import type { Nodes } from '../nodes/nodes.ts'
import { blocksThrough, type LastVersionOf, readNewest } from './blocks/chain-blocks.ts'
import { balanceAtVersion, readSupply } from './payments/balances.ts'
import { batchCallOf } from './payments/batch.ts'
import { dearer, paymentCall } from './payments/build.ts'
import { decodeAptosCall } from './payments/decode-call.ts'
import { expiryAfter, lifeOf } from './payments/lifetimes.ts'
import {
  estimateByNode,
  firstStoreGas,
  gasLimitMax,
  gasMin,
  limitWithStore,
  nextNonceOf,
  suggestPrices,
  unknownGas,
  whyUnpayable,
} from './payments/offers.ts'
import { readSignedPayment, signingMessageOf, withSignatures } from './payments/signatures.ts'
import { openRestNode, type RestNode } from './rest/node.ts'
import { nodeRulesOf } from './rest/rules.ts'
import { aptosSigning } from './signing.ts'

/** An Aptos chain through its endpoints. */
function createAptosChain(input: ChainInput): Chain {
  const { network, local, confirmations } = input
  const { nodes, endpoints, read, readFor } = openAskedNodes(input, {
    openNode: (url) => openRestNode(url, network.chainId, input.timeoutMs),
    rules: nodeRulesOf(network),
  })
  const { blocks, effects, lastVersionOf } = blocksThrough(nodes, input)
  const chain: Chain = {
    network,
    local,
    confirmations,
    endpoints,
    blocks,
    effects,
    ...readsThrough(read, input, lastVersionOf),
    lifetimes: {
      expiryAfter,
      lifeOf: (sent, own) => lifeOf(sent, own, nonceAgreed(nodes, lastVersionOf)),
    },
    functions: { callOf: batchCallOf },
    payments: {
      transferCall: paymentCall,
      decodeCall: (call) => decodeAptosCall(network.blockchain, call),
      payloadOf: (transaction) => signingMessageOf(network, transaction),
      attachSignature: (transaction, sender, feePayer) =>
        withSignatures(network, transaction, { sender, feePayer }),
      readSigned: async (raw) => readSignedPayment(network, raw),
      dearer,
      broadcast: nodes.broadcast,
    },
    get shared() {
      return chain
    },
    onBehalfOf: (asker) => {
      const own = readFor(asker)
      const head = () => own((node) => readNewest(node, network))
      return { ...chain, ...readsThrough(own, input, lastVersionOf), blocks: { ...blocks, head } }
    },
  }
  return chain
}

function readsThrough(
  read: NodeReader<RestNode>,
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
      estimateGas: async (from, call, { feePayer } = {}) => {
        const unknown = (error: Error) => ({ kind: 'unknown', message: error.message }) as const
        return read((node) => estimateByNode(node, network, { from, feePayer }, call), 'execution').catch(
          (error) => {
            if (error instanceof NodeUnreachable) return unknown(error)
            throw error
          },
        )
      },
      parentFee: async () => undefined,
      limitOf: (estimated) => larger(estimated, limitWithStore(gasMin)),
      quotedGas: (estimated) => (estimated === undefined ? unknownGas : estimated + firstStoreGas),
      gasLimitMax,
      intrinsicGas: () => gasMin,
      recipient: async (address) => ({ unpayable: await read((node) => whyUnpayable(node, address)) }),
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

/** Wallets sign messages; payments are the program's own. */
export const aptosFamily: FamilyDeclaration = {
  keys: 'aptos',
  facets: ['lifetimes', 'functions'],
  signing: aptosSigning,
  priceUnit: { name: 'octas', decimals: 0 },
  feePayers: true,
  derives: false,
  userWallets: true,
  hasLocalChains: true,
  connect: createAptosChain,
}
