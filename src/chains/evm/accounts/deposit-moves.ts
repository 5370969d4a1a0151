import { decodeEventLog, toEventSelector } from 'viem'
import { entryPoint07Abi } from 'viem/account-abstraction'
import type { Hex } from '#lib/hex'
import type { Address } from '../../addresses/types.ts'
import type { DepositMove } from '../../facets/accounts.ts'
import type { ChainLog, ChainTransaction } from '../../facets/blocks.ts'
import { entryPointAddress } from './deployed-contracts.ts'

const depositedTopic = toEventSelector('Deposited(address,uint256)')
const withdrawnTopic = toEventSelector('Withdrawn(address,address,uint256)')

type BlockParts = {
  transactions: readonly Pick<ChainTransaction, 'hash' | 'from' | 'to' | 'valueAtomic'>[]
  logs: readonly ChainLog[]
}

/**
 * The coins that a block added to deposits at the EntryPoint, and those that left them for another purpose than gas. The event
 * of an addition has no amount: a transaction that carries coins to the EntryPoint, or to the account of the deposit, adds
 * those. What other contracts add is left out.
 */
export function depositMovesIn({ transactions, logs }: BlockParts): DepositMove[] {
  const told = logs.filter(
    ({ address, topics }) =>
      address === entryPointAddress && (topics[0] === depositedTopic || topics[0] === withdrawnTopic),
  )
  if (told.length === 0) return []
  const byHash = new Map(transactions.map((transaction) => [transaction.hash, transaction]))
  return told.flatMap((log): DepositMove[] => {
    const { txHash, logIndex, topics, data } = log
    const event = decodeEventLog({ abi: entryPoint07Abi, topics: topics as [Hex, ...Hex[]], data })
    if (event.eventName === 'Withdrawn') {
      const { account, withdrawAddress, amount: amountAtomic } = event.args
      const told = { txHash, kind: 'log', position: logIndex } as const
      return [{ ...told, from: canonical(account), to: canonical(withdrawAddress), amountAtomic }]
    }
    if (event.eventName !== 'Deposited') return []
    const to = canonical(event.args.account)
    const carrier = byHash.get(txHash)
    const isDirect = carrier && (carrier.to === entryPointAddress || carrier.to === to)
    if (!isDirect || carrier.valueAtomic === 0n) return []
    return [{ txHash, kind: 'value', position: 0, from: carrier.from, to, amountAtomic: carrier.valueAtomic }]
  })
}

const canonical = (address: string) => address.toLowerCase() as Address
