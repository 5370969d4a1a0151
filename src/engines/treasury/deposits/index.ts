/** Payments and other money that arrived. */

export {
  arrivalsOfWire,
  endWire,
  type FiatDeposit,
  findFiatDeposit,
  listFiatDeposits,
  lockLostWire,
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
export { acceptWire, creditMintedWires } from './wires.ts'
