/** A block that the indexer applied or undid. */
export type ObservedBlock = { number: number; hash: string }

/** An applied block. Deposits up to `completeTo` have their confirmations; those orphaned up to `lostTo` count as lost. */
export type FollowedBlock = ObservedBlock & { completeTo: number; lostTo: number }

/** A settled deposit of coins. `id` is that of the payment or incoming transfer. */
export type Deposit = {
  entityId: string
  id: string
  currency: string
  decimals: number
  amount: bigint
  blockchain: string
  tokenId: string
  depositAddress: string
}

/** The resource that a deposit is: a payment to an address of an intent, or a transfer to one of the account itself. */
export type DepositKind = 'payment' | 'transfer'

/** A deposit that a rule leaves to an operator is credited once it is approved. */
export type DepositReview = 'pending' | 'approved' | 'denied'
