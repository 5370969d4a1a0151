/** Payments and other money that arrived. */

export {
  arrivalsOfWire,
  type FiatDeposit,
  findFiatDeposit,
  findReported,
  listFiatDeposits,
  lockLostWire,
  redemptionBroughtBack,
  takeWire,
} from './store/fiat-deposits.ts'
export {
  findPayment,
  findPayments,
  type Payment,
  type PaymentStatus,
  paymentIdsOf,
  paymentProgressOf,
  seenAmountOf,
} from './store/payments.ts'
export {
  findBusinessTransfer,
  findBusinessTransfers,
  type Transfer,
  type TransferStatus,
} from './store/transfers.ts'
export { acceptWire, creditMintedWires, endWire } from './wires.ts'
