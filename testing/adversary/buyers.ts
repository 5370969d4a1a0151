import { keccak256, stringToHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { buyerCount } from './schedule.ts'

/** Owners of coins that no wallet of the program has; they pay by signatures. */
export const buyers = Array.from({ length: buyerCount }, (_, index) =>
  privateKeyToAccount(keccak256(stringToHex(`buyer ${index}`))),
)
