import Type from 'typebox'
import type { Waiting } from '#engines/treasury/index'
import { described } from '#runtime/http/openapi/annotate'
import { businessChainField } from '../fields.ts'
import { moneySchema, showMoney } from './money.ts'

type Reason = Waiting['reason']

const reasons: readonly Reason[] = [
  'coins_on_other_chains',
  'coins_moving',
  'coins_sweeping',
  'coins_unswept',
  'gas_missing',
  'retrying',
]

export const waitingForField = Type.Optional(
  Type.Object(
    {
      reason: Type.Enum([...reasons], {
        description:
          'coins_on_other_chains: the account has the money, but its coins are on other chains and nothing moves them. coins_moving: they come from fromChain. coins_sweeping: they are collected from deposit addresses. coins_unswept: they could not be collected yet. gas_missing: the treasury lacks native coins. retrying: it could not be sent and is tried again.',
      }),
      chain: described(businessChainField, 'The chain on which it waits.'),
      fromChain: Type.Optional(described(businessChainField, 'The chain that the coins come from.')),
      missing: Type.Optional(
        described(moneySchema, 'What all waiting payments of this account lack on the chain.'),
      ),
      message: Type.String({ description: 'What it waits for, and what brings it, in words.' }),
    },
    {
      title: 'WaitingFor',
      description:
        'What an outgoing payment waits for before it is sent; kept when it failed for lack of coins. Absent otherwise.',
    },
  ),
)

type Waited = { waiting: Waiting | null; chain: string; currency: string }

const remedies: Record<Reason, (waited: Waited & { lack: string }) => string> = {
  coins_on_other_chains: ({ waiting, chain, lack }) =>
    `${lack} on ${chain}; the rest of this account's coins are on other chains. A deposit to an address of this account on ${chain} brings them. ${
      waiting?.rebalanced
        ? 'The operator allows coins to be moved between chains, but the other chains cannot spare as much now: see `bezant rebalancing list`.'
        : 'The operator can have them moved there: `bezant rebalancing allow`.'
    }`,
  coins_moving: ({ waiting, chain, lack }) =>
    `${lack} on ${chain}; they are on their way from ${waiting?.from}.`,
  coins_sweeping: ({ chain }) => `The coins are collected from deposit addresses on ${chain}.`,
  coins_unswept: ({ chain }) =>
    `The coins are at deposit addresses on ${chain} and could not be collected yet; it is tried again. The operator finds the reason in the alarm sweep-failed.`,
  gas_missing: ({ chain }) =>
    `The treasury of this account on ${chain} lacks native coins for gas. The operator has to fund it: the alarm treasury-low-on-gas names its address.`,
  retrying: () => 'It could not be sent, and is tried again. The operator finds the reason in the log.',
}

/** Shows the reason why an outgoing payment waits, or waited when it failed. */
export function showWaitingFor(waited: Waited) {
  const { waiting, chain, currency } = waited
  if (!waiting) return {}
  const missing = waiting.missing === undefined ? undefined : showMoney(BigInt(waiting.missing), currency)
  const lack = `${missing?.amount} ${currency} of coins are missing`
  return {
    waitingFor: {
      reason: waiting.reason,
      chain,
      ...(waiting.from !== undefined && { fromChain: waiting.from }),
      ...(missing && { missing }),
      message: remedies[waiting.reason]({ ...waited, lack }),
    },
  }
}
