/** Units and fees of execution, near those of the test network and the same for the same transaction on the same state. */
export const gasLimits = {
  maxGasMin: 2n,
  maxGasMax: 2_000_000n,
  priceMin: 100n,
  priceMax: 10_000_000_000n,
  transactionBytesMax: 64 * 1024,
}

/** Prices that the node recommends. */
export const gasEstimates = {
  deprioritized_gas_estimate: 100,
  gas_estimate: 100,
  prioritized_gas_estimate: 150,
}

const executionBase = 3n
const ioBase = 3n
const executionPerMovement = 1n
const ioPerMovement = 2n
/** Octas that stay with what is stored: about 522 units for a store and 482 for an account at the lowest price. */
const storeOctas = 52_240n
const accountOctas = 48_260n

/** The work that a transaction did. */
export type Work = { movements: number; newStores: number; newAccounts: number }

export const noWork = (): Work => ({ movements: 0, newStores: 0, newAccounts: 0 })

/** The parts of the fee of a transaction. */
export type GasStatement = {
  totalUnits: bigint
  executionUnits: bigint
  ioUnits: bigint
  storageOctas: bigint
}

export function gasOf({ movements, newStores, newAccounts }: Work, price: bigint): GasStatement {
  const executionUnits = executionBase + executionPerMovement * BigInt(movements)
  const ioUnits = ioBase + ioPerMovement * BigInt(movements)
  const storageOctas = storeOctas * BigInt(newStores) + accountOctas * BigInt(newAccounts)
  const storageUnits = (storageOctas + price - 1n) / price
  return { totalUnits: executionUnits + ioUnits + storageUnits, executionUnits, ioUnits, storageOctas }
}
