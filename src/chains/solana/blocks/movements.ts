/**
 * The coins that a transaction moved, by the balances before and after it: neither logs nor instructions are believed. The owner of a
 * token account is believed where the account is the associated one of that owner, which its address proves.
 */
import type { Address } from '../../addresses/types.ts'
import { NodeUnreachable } from '../../nodes/errors.ts'
import { listOfFields, type NodeFields, nodeFields, nodeList } from '../../nodes/values.ts'
import { isAssociatedAccount } from '../derived-addresses.ts'
import { accountIn, base58SignatureIn, lamportsIn, slotIn } from '../rpc/values.ts'

/** A change of the balance of an account. Tokens have their mint. */
type BalanceChange = { account: Address; mint?: Address; byAtomic: bigint }

type BalanceMovement = { mint?: Address; from: Address; to: Address; amountAtomic: bigint }

/** A transaction as a block tells of it, with the balances of its accounts. */
export type TransactionBalances = {
  signature: string
  payer: Address
  success: boolean
  feeAtomic: bigint
  error: unknown
  changes: BalanceChange[]
}

/** The counterparty of coins that several accounts sent or received, or that were created or burnt. */
export const nobody: Address = '11111111111111111111111111111111'

/** Reads a transaction of a block, of which tokens other than these are left out. */
export function transactionBalancesOf(raw: NodeFields, mints: ReadonlySet<Address>): TransactionBalances {
  const transaction = nodeFields(raw['transaction'], 'transaction')
  const meta = nodeFields(raw['meta'], 'outcome of a transaction')
  const accounts = listOfFields(transaction['accountKeys'], 'accounts').map(({ pubkey }) =>
    accountIn(pubkey, 'account'),
  )
  const [payer] = accounts
  if (payer === undefined) throw new NodeUnreachable("the node's transaction has no account")
  const feeAtomic = lamportsIn(meta['fee'], 'fee')
  return {
    signature: base58SignatureIn(nodeList(transaction['signatures'], 'signatures')[0], 'signature'),
    payer,
    success: meta['err'] === null,
    feeAtomic,
    error: meta['err'],
    changes: [...lamportChanges(accounts, meta, feeAtomic), ...tokenChanges(accounts, meta, mints)],
  }
}

/** The fee is added back: no account receives it. */
function lamportChanges(accounts: readonly Address[], meta: NodeFields, feeAtomic: bigint): BalanceChange[] {
  const read = (name: string) => nodeList(meta[name], name).map((value) => lamportsIn(value, name))
  const [before, after] = [read('preBalances'), read('postBalances')]
  if (before.length !== accounts.length || after.length !== accounts.length)
    throw new NodeUnreachable("the node's balances are not those of the accounts")
  return accounts.flatMap((account, place) => {
    const byAtomic = after[place]! - before[place]! + (place === 0 ? feeAtomic : 0n)
    return byAtomic === 0n ? [] : [{ account, byAtomic }]
  })
}

/** Changes of tokens by owner. An account that is not the associated one of its owner stands for itself. */
function tokenChanges(
  accounts: readonly Address[],
  meta: NodeFields,
  mints: ReadonlySet<Address>,
): BalanceChange[] {
  const sums = new Map<string, { account: Address; mint: Address; byAtomic: bigint }>()
  const add = (name: string, sign: bigint) => {
    for (const held of listOfFields(meta[name] ?? [], name)) {
      const mint = accountIn(held['mint'], 'mint')
      if (!mints.has(mint)) continue
      const holder = accounts[slotIn(held['accountIndex'], 'place of an account')]
      if (holder === undefined) throw new NodeUnreachable("the node's balance is of no account")
      const account = ownerOf(holder, mint, held)
      const { amount } = nodeFields(held['uiTokenAmount'], 'amount')
      const key = `${mint} ${account}`
      const sum = sums.get(key) ?? { account, mint, byAtomic: 0n }
      sums.set(key, { ...sum, byAtomic: sum.byAtomic + sign * lamportsIn(amount, 'amount') })
    }
  }
  add('preTokenBalances', -1n)
  add('postTokenBalances', 1n)
  return [...sums.values()].filter(({ byAtomic }) => byAtomic !== 0n)
}

function ownerOf(holder: Address, mint: Address, { owner, programId }: NodeFields): Address {
  if (owner === undefined || programId === undefined) return holder
  const named = accountIn(owner, 'owner')
  return isAssociatedAccount(holder, named, mint, accountIn(programId, 'program')) ? named : holder
}

/**
 * The movements of a transaction: what one account alone sent went to those that received. Failed ones move nothing but their fee.
 */
export function movementsOf({ success, changes }: TransactionBalances): BalanceMovement[] {
  if (!success) return []
  const mints = [...new Set(changes.map(({ mint }) => mint))]
  return mints.flatMap((mint) => {
    const own = changes.filter((change) => change.mint === mint)
    const [sent, received] = [
      own.filter(({ byAtomic }) => byAtomic < 0n),
      own.filter(({ byAtomic }) => byAtomic > 0n),
    ]
    const named = mint === undefined ? {} : { mint }
    const total = (some: readonly BalanceChange[]) => some.reduce((sum, { byAtomic }) => sum + byAtomic, 0n)
    const isWhole = total(sent) + total(received) === 0n
    const [sender, receiver] = [sent[0], received[0]]
    if (isWhole && sender && sent.length === 1)
      return received.map(({ account: to, byAtomic: amountAtomic }) => ({
        ...named,
        from: sender.account,
        to,
        amountAtomic,
      }))
    if (isWhole && receiver && received.length === 1)
      return sent.map(({ account: from, byAtomic }) => ({
        ...named,
        from,
        to: receiver.account,
        amountAtomic: -byAtomic,
      }))
    return [
      ...sent.map(({ account: from, byAtomic }) => ({ ...named, from, to: nobody, amountAtomic: -byAtomic })),
      ...received.map(({ account: to, byAtomic: amountAtomic }) => ({
        ...named,
        from: nobody,
        to,
        amountAtomic,
      })),
    ]
  })
}
