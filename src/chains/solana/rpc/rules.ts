import { bytesOf, type Hex } from '#lib/hex'
import type { RefusedEndpoint } from '../../facets/endpoints.ts'
import type { BroadcastOutcome } from '../../facets/payments.ts'
import { tokenAddress } from '../../network.ts'
import type { Network } from '../../networks/index.ts'
import { NodeUnreachable } from '../../nodes/errors.ts'
import { isUnreachable } from '../../nodes/health.ts'
import type { NodeRules } from '../../nodes/rules.ts'
import { nodeFields } from '../../nodes/values.ts'
import { fewFields, followed, readNewestSlot, readSlotRef } from '../blocks/slots.ts'
import { programIds } from '../programs.ts'
import { isSolanaNodeFault, refusalCodes, type SolanaClient, SolanaRefusal } from './client.ts'

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
    return { said: ref?.hash ?? 'has no such block', head: height }
  },
  send: sendToCluster,
  isFailure: isUnreachable,
  isEndpointFault: isSolanaNodeFault,
})

/** Limits of one broadcast: a slow one delays all due transactions. The outcome of a slower one is read from the blocks. */
const sendTimeoutMs = 10_000
const atOnceMax = 8

/**
 * Sends transactions without a simulation, which their estimate was, and without retries of the node: the same bytes are sent again
 * from here until they are in a block or dead.
 */
async function sendToCluster(node: SolanaClient, raws: readonly Hex[]): Promise<BroadcastOutcome[]> {
  const config = { encoding: 'base64', skipPreflight: true, maxRetries: 0 }
  const outcomes: BroadcastOutcome[] = []
  const endMs = performance.now() + sendTimeoutMs
  while (outcomes.length < raws.length) {
    const timeoutMs = endMs - performance.now()
    if (timeoutMs <= 0) break
    const part = raws.slice(outcomes.length, outcomes.length + atOnceMax)
    const told = await Promise.allSettled(
      part.map((raw) =>
        node.call('sendTransaction', [bytesOf(raw).toString('base64'), config], { ...fewFields, timeoutMs }),
      ),
    )
    const first = told.find((each) => each.status === 'rejected')
    if (outcomes.length === 0 && first && told.every(isUnanswered)) throw first.reason
    outcomes.push(...told.map(outcomeOfSending))
  }
  const message = 'not sent: the requests before it took too long'
  return raws.map((_, index) => outcomes[index] ?? { kind: 'unknown', message })
}

const isUnanswered = (told: PromiseSettledResult<unknown>) =>
  told.status === 'rejected' && !(told.reason instanceof SolanaRefusal)

/** A node that accepts bytes may still lose them. Refusals of bytes that no node takes are certain. */
function outcomeOfSending(told: PromiseSettledResult<unknown>): BroadcastOutcome {
  if (told.status === 'fulfilled') return { kind: 'accepted' }
  const { reason } = told
  const isCertain =
    reason instanceof SolanaRefusal &&
    (reason.code === refusalCodes.invalidParams || reason.code === refusalCodes.signature)
  const message = (reason as Error).message
  return isCertain ? { kind: 'refused', reason: 'invalid', message } : { kind: 'unknown', message }
}
