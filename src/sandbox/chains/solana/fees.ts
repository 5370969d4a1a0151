/** Fees: a fixed one for each signature, and a price for the compute units that a transaction asks for, not those it uses. */
import { programIds } from '#chains/solana/programs'
import type { SolanaMessage } from '#chains/solana/transaction'

const lamportsPerSignature = 5_000n
const microLamports = 1_000_000n
const unitsMax = 1_400_000n
/** Units of an instruction of a program that is part of the runtime, and of any other, where no limit is asked for. */
const builtinUnits = 3_000n
const otherUnits = 200_000n

const builtins = new Set([
  programIds.system,
  programIds.computeBudget,
  programIds.vote,
  'Stake11111111111111111111111111111111111111',
  'BPFLoaderUpgradeab1e11111111111111111111111',
  'BPFLoader1111111111111111111111111111111111',
  'BPFLoader2111111111111111111111111111111111',
  'LoaderV411111111111111111111111111111111111',
])

/** The compute units that it asks for, and the price of a million of them in lamports. */
export function budgetOf({ instructions }: SolanaMessage): { units: bigint; price: bigint } {
  let units: bigint | undefined
  let price = 0n
  let usual = 0n
  for (const { program, data } of instructions) {
    if (program === programIds.computeBudget && data[0] === 2 && data.length === 5)
      units = BigInt(data.readUInt32LE(1))
    if (program === programIds.computeBudget && data[0] === 3 && data.length === 9)
      price = data.readBigUInt64LE(1)
    usual += builtins.has(program!) ? builtinUnits : otherUnits
  }
  const wanted = units ?? usual
  return { units: wanted < unitsMax ? wanted : unitsMax, price }
}

export function transactionFee(message: SolanaMessage): bigint {
  const { units, price } = budgetOf(message)
  const tip = (units * price + microLamports - 1n) / microLamports
  return lamportsPerSignature * BigInt(message.counts.signers) + tip
}
