/** Payments and other money that arrived. */

export {
  arrivalsOfWire,
  type FiatDeposit,
  findFiatDeposit,
  listFiatDeposits,
  lockLostWire,
  lockReported,
  lockReturn,
  type ReportedWire,
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
export { acceptWire, correctWire, creditMintedWires, endWire } from './wires.ts'
