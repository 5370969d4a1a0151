import { bytesOf, type Hex } from '#lib/hex'
import type { RefusedEndpoint } from '../../facets/endpoints.ts'
import type { BroadcastOutcome } from '../../facets/payments.ts'
import { tokenAddress } from '../../network.ts'
import type { Network } from '../../networks/index.ts'
import { NodeUnreachable } from '../../nodes/errors.ts'
import { isUnreachable } from '../../nodes/health.ts'
import { type NodeRules, noSuchBlock } from '../../nodes/rules.ts'
import { sendEach } from '../../nodes/send-each.ts'
import { nodeFields } from '../../nodes/values.ts'
import { fewFields, followed, readNewestSlot, readSlotRef } from '../blocks/slots.ts'
import { programIds } from '../programs.ts'
import { isSolanaNodeFault, type SolanaClient, SolanaRefusal } from './client.ts'
import { refusalCodes } from './codes.ts'

/** Throws for a node of another cluster. Those of a sandbox have a genesis of their own. */
async function checkGenesis(node: SolanaClient, genesisHash: string | undefined): Promise<void> {
  const problem = await otherGenesis(node, genesisHash)
  if (problem) throw new NodeUnreachable(`${node.host} ${problem}`)
}

async function otherGenesis(
  node: SolanaClient,
  genesisHash: string | undefined,
): Promise<string | undefined> {
  const told = await node.call('getGenesisHash', [], fewFields)
  return genesisHash === undefined || told === genesisHash
    ? undefined
    : `is a node of the cluster ${String(told).slice(0, 50)}, not of ${genesisHash}`
}

/** Compares the genesis of a node, and looks for the listed tokens. */
async function inspectCluster(
  node: SolanaClient,
  network: Network,
  genesisHash: string | undefined,
): Promise<RefusedEndpoint | undefined> {
  const of = { blockchain: network.blockchain, endpoint: node.host }
  const problem = await otherGenesis(node, genesisHash)
  if (problem) return { ...of, reason: `it ${problem}` }
  for (const token of network.tokens) {
    const address = tokenAddress(token)
    const config = { commitment: followed, encoding: 'base64' }
    const { value } = nodeFields(await node.call('getAccountInfo', [address, config], fewFields), 'account')
    const owner = value === null ? undefined : nodeFields(value, 'account')['owner']
    if (owner !== programIds.token)
      return {
        ...of,
        reason: `it has no mint where ${token.symbol} of ${network.blockchain} is`,
        token: token.symbol,
        address,
      }
  }
  return undefined
}

export const clusterRulesOf = (
  network: Network,
  genesisHash: string | undefined,
): NodeRules<SolanaClient> => ({
  checkIdentity: (node) => checkGenesis(node, genesisHash),
  inspect: (node) => inspectCluster(node, network, genesisHash),
  headOf: async (node) => (await readNewestSlot(node)).height,
  voteOn: async (node, number) => {
    const { height } = await readNewestSlot(node)
    const ref = await readSlotRef(node, number)
    return { said: ref?.hash ?? noSuchBlock, head: height }
  },
  send: sendToCluster,
  isFailure: isUnreachable,
  isEndpointFault: isSolanaNodeFault,
})

/**
 * Sends transactions without a simulation, which their estimate was, and without retries of the node: the same bytes are sent again
 * from here until they are in a block or dead.
 */
const sendToCluster = (node: SolanaClient, raws: readonly Hex[]): Promise<BroadcastOutcome[]> =>
  sendEach(raws, {
    send: (raw, timeoutMs) => {
      const config = { encoding: 'base64', skipPreflight: true, maxRetries: 0 }
      const params = [bytesOf(raw).toString('base64'), config]
      return node.call('sendTransaction', params, { ...fewFields, timeoutMs })
    },
    meaningOf: (error) => (error instanceof SolanaRefusal ? meaningOfRefusal(error) : undefined),
  })

/** Refusals of bytes that no node takes are certain; after any other one a block may yet have them. */
function meaningOfRefusal({ code, message }: SolanaRefusal): BroadcastOutcome {
  const isCertain = code === refusalCodes.invalidParams || code === refusalCodes.signature
  return isCertain ? { kind: 'refused', reason: 'invalid', message } : { kind: 'unknown', message }
}
