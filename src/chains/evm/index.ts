import type { Hex } from '#lib/hex'
import type { Address, Chain } from '../chain.ts'
import type { Network } from '../network.ts'
import { encodeCall } from './abi/encode.ts'
import { readBlock, readHead } from './blocks.ts'
import { broadcast } from './broadcast.ts'
import { attachSignature, callDataBytesMax, digestOf, intrinsicGas, transferCall } from './build.ts'
import { decodeCall } from './decode-call.ts'
import { estimateGas, suggestFees } from './fees.ts'
import { watchHeads } from './heads.ts'
import { integer, quantity, toQuantity } from './quantities.ts'
import { readReceipts } from './receipts.ts'
import { replayRevert } from './revert.ts'
import { createRpc } from './rpc.ts'

export type EvmChainInput = {
  network: Network
  rpcUrl: string
  finalityDepth: number
  local: boolean
  inFlightMax?: number | undefined
  timeoutMs?: number | undefined
}

/** How often a head is looked for while the node tells of none. */
const pollMs = 250

/** The first four bytes of keccak256("balanceOf(address)"). */
const balanceOfSelector = '0x70a08231'

/** What the code of an account begins with that delegates to a contract (EIP-7702). */
const delegationPrefix = '0xef0100'

/** An EVM chain through one node. */
export function createEvmChain(input: EvmChainInput): Chain {
  const { network, rpcUrl, finalityDepth, local, inFlightMax = network.inFlightMax } = input
  const rpc = createRpc(rpcUrl, input.timeoutMs)
  const tokens = network.tokens.map((token) => token.address.toLowerCase() as Address)
  return {
    network,
    finalityDepth,
    local,
    head: () => readHead(rpc, network.chainId),
    blockByNumber: (number) => readBlock(rpc, 'eth_getBlockByNumber', toQuantity(number), tokens),
    blockByHash: (hash) => readBlock(rpc, 'eth_getBlockByHash', hash, tokens),
    receiptsOf: (blockHash, txHashes) => readReceipts(rpc, blockHash, txHashes),
    nonceOf: async (address) =>
      integer(await rpc.call('eth_getTransactionCount', [address, 'latest']), 'nonce'),
    inFlightMaxOf: async (address) => {
      const code = await rpc.call('eth_getCode', [address, 'latest'])
      return String(code).toLowerCase().startsWith(delegationPrefix) ? 1 : inFlightMax
    },
    balanceOf: async (address, token, atBlock) => {
      const at = atBlock === undefined ? 'latest' : { blockHash: atBlock }
      if (token === undefined) return quantity(await rpc.call('eth_getBalance', [address, at]), 'balance')
      const data = `${balanceOfSelector}${address.slice(2).padStart(64, '0')}` as Hex
      return quantity(await rpc.call('eth_call', [{ to: token, data }, at]), 'token balance')
    },
    fees: () => suggestFees(rpc, network),
    estimateGas: (from, call) => estimateGas(rpc, from, call),
    intrinsicGas,
    transferCall,
    encodeCall,
    callDataBytesMax,
    explainRevert: (from, call, gasLimit, blockHash) => replayRevert(rpc, from, call, gasLimit, blockHash),
    decodeCall: (call) => decodeCall(network.blockchain, call),
    digestOf: (transaction) => digestOf(network, transaction),
    attachSignature: (transaction, signature) => attachSignature(network, transaction, signature),
    broadcast: (raws) => broadcast(rpc, raws),
    // A public chain's node is asked a few times per block, a local one as often as somebody would notice.
    watchHeads: (onHead) =>
      watchHeads(rpcUrl, local ? pollMs : Math.max(pollMs, network.blockTimeMs / 4), onHead),
    close: async () => rpc.close(),
  }
}
