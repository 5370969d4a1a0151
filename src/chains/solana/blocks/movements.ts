/**
 * The coins that a transaction moved, by the balances before and after it: neither logs nor instructions are believed. The owner of an
 * account of a listed token is believed where it is the associated one of that owner, which its address proves.
 */
import type { Address } from '../../addresses/types.ts'
import { NodeUnreachable } from '../../nodes/errors.ts'
import { listOfFields, type NodeFields, nodeFields, nodeList } from '../../nodes/values.ts'
import { isAssociatedAccount } from '../derived-addresses.ts'
import { programIds } from '../programs.ts'
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
  /** Changes of accounts of tokens that the network does not list. */
  otherChanges: BalanceChange[]
  /** Owners of these accounts as the node tells them. */
  claimedOwners: ReadonlyMap<Address, Address>
  /** The changes of all accounts of tokens, by the address of the account. */
  accountChanges: ReadonlyMap<Address, bigint>
}

/** The counterparty of coins that several accounts sent or received, or that were created or burnt. */
export const nobody: Address = '11111111111111111111111111111111'

/** Reads a transaction of a block. `listed`: the mints of the network. */
export function transactionBalancesOf(raw: NodeFields, listed: ReadonlySet<Address>): TransactionBalances {
  const transaction = nodeFields(raw['transaction'], 'transaction')
  const meta = nodeFields(raw['meta'], 'outcome of a transaction')
  const accounts = listOfFields(transaction['accountKeys'], 'accounts').map(({ pubkey }) =>
    accountIn(pubkey, 'account'),
  )
  const [payer] = accounts
  if (payer === undefined) throw new NodeUnreachable("the node's transaction has no account")
  const feeAtomic = lamportsIn(meta['fee'], 'fee')
  const ofAccounts = accountChangesOf(accounts, meta)
  const [ofListed, others] = [
    ofAccounts.filter(({ mint }) => listed.has(mint)),
    ofAccounts.filter((change) => !listed.has(change.mint) && isFollowed(change)),
  ]
  return {
    signature: base58SignatureIn(nodeList(transaction['signatures'], 'signatures')[0], 'signature'),
    payer,
    success: meta['err'] === null,
    feeAtomic,
    error: meta['err'],
    changes: [...lamportChanges(accounts, meta, feeAtomic), ...changesByOwner(ofListed)],
    otherChanges: others,
    claimedOwners: new Map(others.map(({ account, owner }) => [account, owner ?? account])),
    accountChanges: new Map(ofAccounts.map(({ account, byAtomic }) => [account, byAtomic])),
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

/** A change of an account of a token, with its owner and the program of its mint as the node tells them. */
type TokenAccountChange = {
  account: Address
  mint: Address
  owner?: Address
  program?: Address
  byAtomic: bigint
}

function accountChangesOf(accounts: readonly Address[], meta: NodeFields): TokenAccountChange[] {
  const sums = new Map<string, { account: Address; mint: Address; told: NodeFields; byAtomic: bigint }>()
  const add = (name: string, sign: bigint) => {
    for (const told of listOfFields(meta[name] ?? [], name)) {
      const account = accounts[slotIn(told['accountIndex'], 'place of an account')]
      if (account === undefined) throw new NodeUnreachable("the node's balance is of no account")
      const mint = accountIn(told['mint'], 'mint')
      const { amount } = nodeFields(told['uiTokenAmount'], 'amount')
      const key = `${mint} ${account}`
      const byAtomic = (sums.get(key)?.byAtomic ?? 0n) + sign * lamportsIn(amount, 'amount')
      sums.set(key, { account, mint, told, byAtomic })
    }
  }
  add('preTokenBalances', -1n)
  add('postTokenBalances', 1n)
  // Most accounts of a block keep their balance, and reading addresses is what takes the time.
  return [...sums.values()]
    .filter(({ byAtomic }) => byAtomic !== 0n)
    .map(({ told: { owner, programId }, ...change }) => ({
      ...change,
      ...(owner !== undefined && { owner: accountIn(owner, 'owner') }),
      ...(programId !== undefined && { program: accountIn(programId, 'program') }),
    }))
}

/** The owner of an account that is the associated one of its owner; any other account stands for itself. */
const provenOwner = ({ account, mint, owner, program }: TokenAccountChange): Address =>
  owner !== undefined && program !== undefined && isAssociatedAccount(account, owner, mint, program)
    ? owner
    : account

/** Tokens of the newer program may take fees as they move, and are not followed. */
const isFollowed = ({ program }: TokenAccountChange): boolean => program === programIds.token

function changesByOwner(changes: readonly TokenAccountChange[]): BalanceChange[] {
  const sums = new Map<string, BalanceChange & { mint: Address }>()
  for (const change of changes) {
    const { mint, byAtomic } = change
    const account = provenOwner(change)
    const key = `${mint} ${account}`
    sums.set(key, { account, mint, byAtomic: (sums.get(key)?.byAtomic ?? 0n) + byAtomic })
  }
  return [...sums.values()].filter(({ byAtomic }) => byAtomic !== 0n)
}

/**
 * The movements of a transaction: what one account alone sent went to those that received. Failed ones move nothing but their fee.
 */
export function movementsOf(success: boolean, changes: readonly BalanceChange[]): BalanceMovement[] {
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
