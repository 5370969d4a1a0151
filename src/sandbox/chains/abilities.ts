import type { Blockchain } from '#chains/blockchains'
import { familyOf } from '#chains/blockchains'
import type { ChainFamily } from '#chains/network'
import { invalid } from '#lib/errors'
import type { EvmLocalChain, LocalChain } from './local-chain.ts'
import { whyNoNative } from './solana/native.ts'

/** The acts of the lab that not every chain has, by the names of their operations or of the acts of a fault. */
const rareActs = ['base-fee', 'reorg', 'impersonate', 'gas-limit'] as const
export type RareAct = (typeof rareActs)[number]

/** Why the chains of a family lack an act, and what to do in its place. */
const lacking: { readonly [family in ChainFamily]?: Readonly<Partial<Record<RareAct, string>>> } = {
  aptos: {
    'base-fee': 'has no base fee: pause it, and transactions wait whatever they offer',
    reorg:
      'has no reorgs, because its blocks are final: drop a transaction while it waits, or restore a snapshot',
    impersonate:
      'takes no transaction without a signature: pay from POST /sandbox/faucet, or from a wallet of the platform',
    'gas-limit': 'has no gas limit of a block: pause it, or mine on a timer',
  },
  solana: {
    'base-fee': 'has no base fee: pause it, and transactions wait whatever they offer',
    impersonate:
      'takes no transaction without a signature: pay from POST /sandbox/faucet, or from a wallet of the platform',
    'gas-limit': 'has no gas limit of a block: pause it, or mine on a timer',
  },
}

/** The reasons why a machine lacks what local chains of a family need. */
const needs: { readonly [family in ChainFamily]?: () => string | undefined } = { solana: whyNoNative }

/** Returns why this machine has no local chain of a network; undefined where it has. */
export const whyNotHere = (blockchain: Blockchain): string | undefined => needs[familyOf(blockchain)]?.()

/** The interfaces of nodes other than JSON-RPC. */
const interfaces: { readonly [family in ChainFamily]?: 'rest' } = { aptos: 'rest' }

export const nodeInterfaceOf = (blockchain: Blockchain): 'json-rpc' | 'rest' =>
  interfaces[familyOf(blockchain)] ?? 'json-rpc'

/** Returns why a chain lacks an act; undefined of one that has it. */
export const lackOf = (blockchain: Blockchain, act: RareAct): string | undefined =>
  lacking[familyOf(blockchain)]?.[act]

/** The rare acts that a chain has. */
export const rareActsOf = (blockchain: Blockchain): RareAct[] =>
  rareActs.filter((act) => lackOf(blockchain, act) === undefined)

/** Returns the chain as one of EVM, which has every act; throws for one that lacks this act. */
export function requireEvm({ blockchain, evm }: LocalChain, act: RareAct): EvmLocalChain {
  if (evm) return evm
  throw invalid({
    at: 'blockchain',
    reason: `is ${blockchain}, which ${lackOf(blockchain, act) ?? 'has no such operation'}`,
    value: blockchain,
    kind: 'blockchainUnsupportedForOperation',
  })
}
