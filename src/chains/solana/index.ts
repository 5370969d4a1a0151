import type { Chain } from '../chain.ts'
import type { ChainInput, FamilyDeclaration } from '../family.ts'
import { type NodeReader, openAskedNodes } from '../nodes/asked-nodes.ts'
import { NodeUnreachable } from '../nodes/errors.ts'
import { readNewestBlock, solanaBlocksThrough } from './blocks/chain-blocks.ts'
import { solanaPaymentUri } from './payment-uri.ts'
import { balanceThrough, recipientThrough, supplyThrough } from './payments/balances.ts'
import { readSignedSolanaPayment, solanaMessageOf, withSolanaSignatures } from './payments/build.ts'
import { decodeSolanaCall, solanaTransferCall } from './payments/calls.ts'
import { solanaFeeOf, tokenAccountRent } from './payments/fees.ts'
import { heightExpiryAfter, lifeUpToHeight } from './payments/lifetimes.ts'
import {
  estimateUnits,
  recentPrices,
  similarPayments,
  unitLimitMax,
  unitsMin,
  unknownUnits,
} from './payments/offers.ts'
import type { BlockWithChanges } from './payments/taken-back.ts'
import { openSolanaClient, type SolanaClient } from './rpc/client.ts'
import { clusterRulesOf } from './rpc/rules.ts'
import { solanaSigning } from './signing.ts'
import { solanaTokensThrough } from './tokens/tokens.ts'

/** A Solana cluster through its endpoints. */
function createSolanaChain(input: ChainInput): Chain {
  const { network, local, confirmations } = input
  const { nodes, endpoints, read, readFor } = openAskedNodes(input, {
    openNode: (url) => openSolanaClient(url, input.timeoutMs),
    rules: clusterRulesOf(network, local ? undefined : network.genesisHash),
  })
  const { blocks, effects, wholeOf } = solanaBlocksThrough(nodes, input)
  const chain: Chain = {
    network,
    local,
    confirmations,
    endpoints,
    blocks,
    effects,
    ...readsThrough(read, input, wholeOf),
    gather: { by: 'payment' },
    lifetimes: {
      expiryAfter: heightExpiryAfter,
      lifeOf: (sent, own) => lifeUpToHeight(sent, own, input),
    },
    payments: {
      transferCall: (...terms) => solanaTransferCall(network, ...terms),
      decodeCall: (call) => decodeSolanaCall(network.blockchain, call),
      payloadOf: solanaMessageOf,
      attachSignature: (transaction, sender, feePayer) =>
        withSolanaSignatures(transaction, { sender, feePayer }),
      readSigned: async (raw) => readSignedSolanaPayment(network, raw),
      dearer: (transaction, price) => ({ ...transaction, ...price }),
      broadcast: nodes.broadcast,
    },
    get shared() {
      return chain
    },
    onBehalfOf: (asker) => {
      const own = readFor(asker)
      const head = () => own(readNewestBlock)
      return { ...chain, ...readsThrough(own, input, wholeOf), blocks: { ...blocks, head } }
    },
  }
  return chain
}

function readsThrough(
  read: NodeReader<SolanaClient>,
  { network, inFlightMax = network.inFlightMax }: ChainInput,
  wholeOf: BlockWithChanges,
): Pick<Chain, 'lane' | 'offers' | 'balances' | 'tokens'> {
  return {
    lane: { inFlightMaxOf: async () => inFlightMax },
    offers: {
      fees: () => read(recentPrices),
      estimateGas: async (from, call, { feePayer } = {}) =>
        read((node) => estimateUnits(node, { from, feePayer }, call), 'execution').catch((error) => {
          if (error instanceof NodeUnreachable) return { kind: 'unknown', message: error.message }
          throw error
        }),
      kindOf: similarPayments,
      parentFee: async () => undefined,
      limitOf: (estimated) => estimated,
      quotedGas: (estimated) => estimated ?? unknownUnits,
      depositMaxAtomic: tokenAccountRent,
      gasLimitMax: unitLimitMax,
      intrinsicGas: () => unitsMin,
      recipient: (address) => read((node) => recipientThrough(node, address)),
    },
    balances: {
      of: (address, token, at) => read((node) => balanceThrough(node, { address, token }, at, wholeOf)),
      totalSupplyOf: (token) => read((node) => supplyThrough(node, token)),
    },
    tokens: solanaTokensThrough(read, wholeOf),
  }
}

export const solanaFamily: FamilyDeclaration = {
  keys: 'solana',
  facets: ['gather', 'lifetimes', 'tokens'],
  signing: solanaSigning,
  priceUnit: { name: 'micro-lamports', decimals: 0 },
  feeOf: solanaFeeOf,
  paymentUri: solanaPaymentUri,
  feePayers: true,
  derives: false,
  userWallets: true,
  hasLocalChains: true,
  connect: createSolanaChain,
}
