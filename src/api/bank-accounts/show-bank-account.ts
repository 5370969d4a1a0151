import type { BankAccount } from '#engines/treasury/banking/index'

const billingNames = ['name', 'line1', 'line2', 'city', 'district', 'postalCode', 'country'] as const
const bankNames = ['bankName', 'line1', 'line2', 'city', 'district', 'country'] as const

type Texts<Name extends string> = { readonly [name in Name]?: string | null | undefined }

/** The texts of these members, in this order: the database keeps none. Members that are empty or unknown are left out. */
const textsOf =
  <Name extends string>(names: readonly Name[]) =>
  (given: Texts<Name>): Record<string, string> =>
    Object.fromEntries(names.flatMap((name) => (given[name] ? [[name, given[name]]] : [])))

export const readBillingDetails = textsOf(billingNames)
export const readBankAddress = textsOf(bankNames)

/** A linked bank account as the API shows it. */
export const showBankAccount = (account: BankAccount) => ({
  id: account.id,
  status: account.status,
  description: account.description,
  trackingRef: account.trackingRef,
  fingerprint: account.fingerprint,
  billingDetails: readBillingDetails(account.billingDetails),
  bankAddress: readBankAddress(account.bankAddress),
  createDate: account.createDate,
  updateDate: account.updateDate,
})
