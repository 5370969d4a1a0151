import { type Hex, isHex } from '#lib/hex'
import type { Address } from '../addresses/types.ts'
import type { Chain } from '../chain.ts'
import type { BlockAt } from '../facets/blocks.ts'
import type { Contracts } from '../facets/contracts.ts'
import type { ChainInput } from '../family.ts'
import { canonicalPins } from './accounts/contracts.ts'
import { firstPaymentsOn } from './accounts/first-payments.ts'
import { accountsThrough } from './accounts/index.ts'
import { readHead } from './blocks/blocks.ts'
import { contractsThrough } from './contracts/contracts.ts'
import { replayRevert } from './contracts/revert.ts'
import { tokensThrough } from './contracts/tokens.ts'
import { permitsThrough } from './infrastructure/permits.ts'
import { readFromNode } from './node-read.ts'
import { intrinsicGas } from './payments/build.ts'
import { estimateGas, limitOf, quotedGas, suggestFees, tryCall } from './payments/fees.ts'
import { parentFee } from './payments/parent-fee.ts'
import { type CallBounds, callLimits } from './rpc/call-bounds.ts'
import { quantity, readInteger } from './rpc/quantities.ts'
import type { Rpc } from './rpc/rpc.ts'
import {
  authorizationDigest,
  authorizedTransferCall,
  domainSeparatorSelector,
} from './signing/authorization.ts'
import { authorizationSigner, authorizedPayment } from './signing/timed-authorization.ts'

/** The first four bytes of keccak256("balanceOf(address)"), and of "totalSupply()". */
const balanceOfSelector = '0x70a08231'
const totalSupplySelector = '0x18160ddd'

/** Prefix of the code of an account that delegates to a contract (EIP-7702). */
const delegationPrefix = '0xef0100'

/** The facets that are read from a node alone, and such reads of the others. */
export type Reads = Pick<
  Chain,
  'lane' | 'offers' | 'gather' | 'authorizations' | 'balances' | 'tokens' | 'accounts' | 'nodeRead'
> & { contracts: Omit<Contracts, 'logHistory'> } & Pick<Chain['blocks'], 'head'> &
  Pick<Chain['effects'], 'explainRevert'>

type OfAsker = {
  /** The bounds of an estimate; those of the node for an engine. */
  estimates?: CallBounds
  /** Calls with little gas, several of which may share a request. */
  together?: Rpc['call']
}

/** The reads of a chain through these endpoints. */
export function readsThrough(
  rpc: Rpc,
  input: ChainInput,
  { estimates, together = rpc.call }: OfAsker = {},
): Reads {
  const { network, inFlightMax = network.inFlightMax, callGasMax = callGasMaxDefault } = input
  return {
    head: () => readHead(rpc, network.chainId),
    explainRevert: (...reverted) => replayRevert(rpc, ...reverted),
    lane: {
      nonceOf: async (address) =>
        readInteger(await rpc.call('eth_getTransactionCount', [address, 'latest']), 'nonce'),
      inFlightMaxOf: async (address) => ((await isDelegated(rpc, address)) ? 1 : inFlightMax),
    },
    offers: {
      fees: () => suggestFees(rpc, network),
      estimateGas: (from, call, options) => estimateGas(rpc, from, call, options?.errors, estimates),
      parentFee: (call, gasLimit) => parentFee(rpc, network, call, gasLimit),
      intrinsicGas,
      limitOf,
      quotedGas,
      gasLimitMax: 1_000_000_000n,
    },
    gather: { by: 'authorization', authorizationDigest, authorizedTransferCall },
    authorizations: {
      domainSeparatorOf: (token) => domainSeparatorOf(rpc, token),
      signerOf: authorizationSigner,
      authorizedPayment,
      permits: permitsThrough(rpc, network),
      tryPayment: (from, call, gasMax) => tryCall({ ...rpc, call: together }, from, call, gasMax),
      estimatePayment: (from, call, gas) =>
        estimateGas({ ...rpc, call: together }, from, call, [], { gas, limits: callLimits }),
      firstPayments: firstPaymentsOn(network),
    },
    balances: {
      of: (address, token, atBlock) => balanceOf(rpc, address, token, atBlock),
      totalSupplyOf: async (token) => quantity(await ask(rpc, token, totalSupplySelector), 'total supply'),
    },
    tokens: tokensThrough(rpc, network),
    contracts: contractsThrough(rpc, { ...input, callGasMax }),
    accounts: accountsThrough(rpc, network, canonicalPins(input.accountCode ?? {})),
    nodeRead: (method, params) => readFromNode(rpc, method, params),
  }
}

const callGasMaxDefault = 30_000_000n

/** The bounds of an estimate for a request. */
export const estimateBounds = ({ callGasMax = callGasMaxDefault }: ChainInput): CallBounds => ({
  gas: callGasMax,
  limits: callLimits,
})

async function balanceOf(rpc: Rpc, address: Address, token?: Address, atBlock?: BlockAt): Promise<bigint> {
  const at = atBlock === undefined ? 'latest' : { blockHash: atBlock.hash }
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
export const ask = (rpc: Rpc, to: Address, data: Hex, at: unknown = 'latest') =>
  rpc.call('eth_call', [{ to, data }, at])
