import type { Static, TObject, TSchema } from 'typebox'
import { type Endpoint, endpoint } from '#runtime/http/endpoint'
import type { RequestScope } from '#runtime/scope'
import { requireEvm } from '../chains/abilities.ts'
import type { LocalChain } from '../chains/index.ts'
import type { BaseFees } from './base-fee.ts'
import { type ChainControl, explainNode } from './control.ts'
import { dropTransaction } from './drop.ts'
import { payAny } from './faucet.ts'
import { sendAs } from './impersonate.ts'
import { mineBlocks, mineEvery, type PausedModes, pauseMining, resumeMining } from './mine.ts'
import { reorganise } from './reorg.ts'
import {
  baseFeeBody,
  chainsSchema,
  dropBody,
  faucetBody,
  impersonateBody,
  intervalBody,
  localChainParams,
  mineBody,
  reorgBody,
  reorgSchema,
  sentSchema,
} from './schema.ts'
import { chainStateSchema, showChain } from './state.ts'

/** The parts of the declaration that all of these operations share: they wait for a node, so they hold no `tx`. */
const common = { tag: 'Sandbox', auth: 'none', changing: false } as const

type About<Body> = {
  operationId: string
  summary: string
  description: string
  body?: Body
  /** Default: the state of the chain. */
  response?: TSchema
  /** Whether only some chains have it. */
  isRare?: true
}

type Act<Body> = (
  chain: LocalChain,
  body: Body extends TSchema ? Static<Body> : undefined,
) => Promise<unknown>

/** The operations by which developers and tests control the local chains. */
export function chainControlEndpoints(
  control: ChainControl,
  fees: BaseFees,
  modes: PausedModes,
): readonly Endpoint<never>[] {
  /** Declares an operation on one chain, which runs after the earlier ones on it, and shows the chain unless it returns something. */
  const on = <Body extends TObject | undefined = undefined>(
    name: string,
    { isRare, ...about }: About<Body>,
    act: Act<Body>,
  ): Endpoint<never> =>
    endpoint<RequestScope, typeof localChainParams, undefined, TObject | undefined>({
      ...common,
      response: chainStateSchema,
      ...about,
      method: 'POST',
      path: `/sandbox/chains/{blockchain}/${name}`,
      params: localChainParams,
      errors: ['notFound', 'unavailable', ...(isRare ? ['blockchainUnsupportedForOperation' as const] : [])],
      verb: async (_, { params, body }) => {
        const chain = control.chain(params.blockchain)
        return control.inTurn(chain, async () => (await act(chain, body as never)) ?? showChain(chain))
      },
    }) as Endpoint<never>
  return [
    listEndpoint(control),
    faucetEndpoint(control),
    ...miningEndpoints(on, modes),
    ...blockEndpoints(on, control, fees),
  ]
}

type On = <Body extends TObject | undefined = undefined>(
  name: string,
  about: About<Body>,
  act: Act<Body>,
) => Endpoint<never>

const listEndpoint = ({ chains }: ChainControl): Endpoint<never> =>
  endpoint<RequestScope>({
    ...common,
    method: 'GET',
    path: '/sandbox/chains',
    operationId: 'listSandboxChains',
    summary: 'List local chains',
    description:
      'Lists the chains of this sandbox: the newest block, what makes blocks, and what waits for one.',
    response: chainsSchema,
    errors: ['unavailable'],
    verb: async () => Promise.all(chains.map((chain) => showChain(chain).catch(explainNode(chain)))),
  }) as Endpoint<never>

const faucetEndpoint = (control: ChainControl): Endpoint<never> =>
  endpoint<RequestScope, undefined, undefined, typeof faucetBody>({
    ...common,
    method: 'POST',
    path: '/sandbox/faucet',
    operationId: 'payFromSandboxFaucet',
    summary: 'Pay test coins',
    description:
      'Pays any amount of a coin to any address, as often as you like. Answers once a block includes the payment, or at once with `unmined` while the chain is paused.',
    body: faucetBody,
    response: sentSchema,
    errors: ['notFound', 'unavailable', 'chainUnfitForCurrency'],
    verb: async (_, { body }) => payAny(control, body),
  }) as Endpoint<never>

function miningEndpoints(on: On, modes: PausedModes): Endpoint<never>[] {
  return [
    on(
      'mine',
      {
        operationId: 'mineSandboxBlocks',
        summary: 'Mine blocks',
        description:
          'Mines blocks now, also while the chain is paused: the first ones include the waiting transactions, the others are empty.',
        body: mineBody,
      },
      (chain, { blocks = 1, intervalS }) => mineBlocks(chain, blocks, intervalS),
    ),
    on(
      'pause',
      {
        operationId: 'pauseSandboxChain',
        summary: 'Pause a chain',
        description: 'Transactions are accepted and stay unmined, until the chain resumes or you mine.',
      },
      (chain) => pauseMining(chain, modes),
    ),
    on(
      'resume',
      {
        operationId: 'resumeSandboxChain',
        summary: 'Resume a chain',
        description: 'Mines as before the pause. What waits is mined with it.',
      },
      (chain) => resumeMining(chain, modes),
    ),
    on(
      'interval',
      {
        operationId: 'setSandboxBlockInterval',
        summary: 'Mine on a timer',
        description:
          'Mines a block at this interval, empty or not; 0 seconds: one for each transaction again.',
        body: intervalBody,
      },
      (chain, { seconds }) => mineEvery(chain, seconds),
    ),
  ]
}

const blockEndpoints = (on: On, control: ChainControl, fees: BaseFees): Endpoint<never>[] => [
  on(
    'base-fee',
    {
      operationId: 'setSandboxBaseFee',
      isRare: true,
      summary: 'Set the base fee',
      description:
        'Sets the base fee of the next block, or of several. Transactions that offer less wait. After that the fee moves by an eighth per block at most, by the rule of the chain. It is set again a moment after each block, so blocks that follow each other within 0.1 seconds may have a lower one.',
      body: baseFeeBody,
    },
    (chain, { gwei, blocks = 1 }) => fees.set(requireEvm(chain, 'base-fee'), gwei, blocks),
  ),
  on(
    'reorg',
    {
      operationId: 'reorganiseSandboxChain',
      isRare: true,
      summary: 'Make a reorg',
      description:
        'Replaces the newest blocks by empty ones. Their transactions return to the pool and are mined after them, or are dropped; the platform sends its own again in either case. Answers when the platform has followed: payments, transactions and balances are those of the new branch.',
      body: reorgBody,
      response: reorgSchema,
    },
    (chain, { depth, transactions = 'return', newBlocks }) =>
      reorganise(control.ctx, chain, { depth, transactions, newBlocks }),
  ),
  on(
    'drop',
    {
      operationId: 'dropSandboxTransaction',
      summary: 'Drop a transaction',
      description:
        'Removes an unmined transaction from the pool of the node, as a node does that is short of memory. The platform sends its own again.',
      body: dropBody,
    },
    (chain, { txHash }) => dropTransaction(chain, txHash),
  ),
  on(
    'impersonate',
    {
      operationId: 'sendAsSandboxAddress',
      isRare: true,
      summary: 'Send from any address',
      description:
        'Sends a payment or a call from any address without its key, such as a sanctioned one. The address pays the gas: give it coins first. Answers once a block includes it, or at once with `unmined` while the chain is paused.',
      body: impersonateBody,
      response: sentSchema,
    },
    (chain, body) => sendAs(control, requireEvm(chain, 'impersonate'), body),
  ),
]
