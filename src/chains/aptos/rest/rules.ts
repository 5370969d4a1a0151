import type { Hex } from '#lib/hex'
import { bytesOf } from '#lib/hex'
import type { RefusedEndpoint } from '../../facets/endpoints.ts'
import type { BroadcastOutcome, RefusalReason } from '../../facets/payments.ts'
import { tokenAddress } from '../../network.ts'
import type { Network } from '../../networks/index.ts'
import { NodeUnreachable } from '../../nodes/errors.ts'
import { isUnreachable } from '../../nodes/health.ts'
import { type NodeRules, noSuchBlock } from '../../nodes/rules.ts'
import { sendEach } from '../../nodes/send-each.ts'
import { nodeFields } from '../../nodes/values.ts'
import { readRef } from '../blocks/read-ref.ts'
import { isNodeFault, type RestNode, RestRefusal, unlessMissing } from './node.ts'
import { safeNumber } from './values.ts'

/** Answers of one page of a few fields. */
export const small = { answerBytesMax: 1024 * 1024, timeoutMs: 5_000 }

/** The height of the newest block of a node of this network. */
export async function readHeight(node: RestNode, { chainId }: Network): Promise<number> {
  const info = nodeFields(await node.get('', small), 'ledger')
  if (info['chain_id'] !== chainId)
    throw new NodeUnreachable(
      `${node.host} is a node of chain ${String(info['chain_id']).slice(0, 20)}, not of ${chainId}`,
    )
  return safeNumber(info['block_height'], 'block height')
}

/** Compares the chain id of a node, and looks for the listed tokens. */
async function inspectNode(node: RestNode, network: Network): Promise<RefusedEndpoint | undefined> {
  const { blockchain, chainId } = network
  const info = nodeFields(await node.get('', small), 'ledger')
  const of = { blockchain, endpoint: node.host }
  if (info['chain_id'] !== chainId)
    return {
      ...of,
      reason: `it is a node of chain ${String(info['chain_id']).slice(0, 20)}, and ${blockchain} is chain ${chainId}`,
    }
  for (const token of network.tokens) {
    const address = tokenAddress(token)
    const path = `/accounts/${address}/resource/0x1::fungible_asset::Metadata`
    const found = await unlessMissing(node.get(path, small), 'resource_not_found', 'account_not_found')
    if (found === undefined)
      return {
        ...of,
        reason: `it has no fungible asset where ${token.symbol} of ${blockchain} is`,
        token: token.symbol,
        address,
      }
  }
  return undefined
}

export const nodeRulesOf = (network: Network): NodeRules<RestNode> => ({
  checkIdentity: async (node) => void (await readHeight(node, network)),
  inspect: (node) => inspectNode(node, network),
  headOf: (node) => readHeight(node, network),
  voteOn: async (node, number) => {
    const head = await readHeight(node, network)
    const ref = await readRef(node, number)
    return { said: ref?.hash ?? noSuchBlock, head }
  },
  send: sendTransactions,
  isFailure: isUnreachable,
  isEndpointFault: isNodeFault,
})

/** Pools park what comes before its turn, so that the order of arrival does not matter. */
const sendTransactions = (node: RestNode, raws: readonly Hex[]): Promise<BroadcastOutcome[]> =>
  sendEach(raws, {
    send: (raw, timeoutMs) => node.postTransaction('/transactions', bytesOf(raw), { ...small, timeoutMs }),
    meaningOf: (error) => (error instanceof RestRefusal ? outcomeOfRefusal(error) : undefined),
  })

/**
 * The refusals of a node that no later block can make good, by the codes of its virtual machine. All others are "maybe sent": an
 * expiry by the node's clock (6), a sequence number before its turn (4), an account that it does not know yet (7).
 */
const reasonsOfCodes: Readonly<Record<number, RefusalReason>> = {
  1: 'invalid',
  2: 'invalid',
  3: 'nonce-too-low',
  5: 'insufficient-funds',
  10: 'invalid',
  13: 'gas-limit',
  14: 'gas-limit',
  15: 'underpriced',
  16: 'invalid',
  23: 'invalid',
  24: 'invalid',
}

/** Codes of the interface that mean the same without one of the virtual machine. */
const reasonsOfErrors: Readonly<Record<string, RefusalReason>> = {
  invalid_transaction_update: 'replacement-underpriced',
  sequence_number_too_old: 'nonce-too-low',
  invalid_input: 'invalid',
}

function outcomeOfRefusal({ errorCode, vmErrorCode, message }: RestRefusal): BroadcastOutcome {
  const byCode = vmErrorCode === undefined ? undefined : reasonsOfCodes[vmErrorCode]
  const reason = errorCode === 'vm_error' ? byCode : (reasonsOfErrors[errorCode] ?? byCode)
  return reason ? { kind: 'refused', reason, message } : { kind: 'unknown', message }
}
