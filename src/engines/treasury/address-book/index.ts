/** Recipients and their addresses, with their reviews. */

export { lockPayee } from './payee.ts'
export { addRecipientAddress, removeRecipientAddress } from './recipient-addresses.ts'
export { addRecipient, applyRecipientChanges, removeRecipient } from './recipients.ts'
export { startReviews } from './reviews.ts'
export {
  findRecipientAddress,
  listRecipientAddresses,
  lockRecipientAddress,
  type RecipientAddress,
  type RecipientAddressStatus,
  recipientAddressHold,
  recipientAddressStatuses,
} from './store/recipient-addresses.ts'
export {
  findRecipient,
  findRecipients,
  nicknamesAt,
  payeesNamed,
  type Recipient,
  type RecipientStatus,
  recipientHold,
  recipientStatuses,
} from './store/recipients.ts'
