import type { Address } from '#chains/addresses/types'
import type { Chains } from '#chains/chain'
import type { NetworkToken } from '#chains/network'
import type { Network } from '#chains/networks/index'

/** Where redeemed coins go: the address of their issuer, or of the operator, on one chain. */
export type RedemptionPlace = { network: Network; token: NetworkToken; address: Address }

/** The account of the bank that wires are sent to. Members are texts as banks write them. */
type BankInstructions = {
  beneficiary: { name?: string; address1?: string; address2?: string }
  beneficiaryBank: {
    name?: string
    swiftCode?: string
    routingNumber?: string
    accountNumber?: string
    currency?: string
    address?: string
    city?: string
    postalCode?: string
    country?: string
  }
}

/** An order to the bank. It is sent again until the bank takes it, always with the same id: the bank carries it out once. */
export type BankOrder =
  | {
      type: 'account'
      entityId: string
      id: string
      trackingRef: string
      /** The numbers of the account: `accountNumber` with `routingNumber`, or `iban`. */
      numbers: Record<string, string>
      billingDetails: object
      bankAddress: object
      /** Where the coins of deposits go. */
      deposits: { blockchain: string; address: string }
    }
  | {
      type: 'payout'
      entityId: string
      id: string
      bankAccountId: string
      amount: { amount: string; currency: string }
      /** Where the coins go if the payout fails or is returned. */
      returns: { blockchain: string; address: string }
    }

/** The connection to a bank, which moves the dollars behind redeemed and deposited coins. */
export type BankRail = {
  /** The environment whose keys it serves. */
  environment: 'TEST' | 'LIVE'
  instructions: BankInstructions
  /** The chains on which it takes redeemed coins; none where it is not connected to them. */
  places(chains: Chains): readonly RedemptionPlace[]
  /** Resolves once the bank has taken the order. A bank that is simulated says after what time it decides. */
  send(order: BankOrder): Promise<{ decidesAfterMs?: number }>
}
