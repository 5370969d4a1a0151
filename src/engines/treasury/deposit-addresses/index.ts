/** The addresses at which merchants are paid. */

export { openDepositAddress } from './open-deposit-address.ts'
export {
  type DepositAddress,
  depositAddressesOfIntent,
  findDepositAddress,
  listDepositAddresses,
} from './store.ts'
