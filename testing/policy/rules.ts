import type { Operation } from '#custody/policy/index'
import type { Hex } from '#lib/hex'

/** Common rules of all cases of the corpus: one friend, one token, one contract, small amounts, no permission. */
export const blockchain = 'BASE-SEPOLIA'
export const chainId = 84532
export const usdc: Hex = '0x036cbd53842c5426634e7929541ec2318f3dcf7e'
export const friend: Hex = `0x${'fe'.repeat(20)}`
export const stranger: Hex = `0x${'57'.repeat(20)}`
export const vault: Hex = `0x${'aa'.repeat(20)}`
export const batcher: Hex = `0x${'bb'.repeat(20)}`
export const permit2: Hex = '0x000000000022d473030f116ddee9f6b43ac78ba3'
export const own: Hex = `0x${'0c'.repeat(20)}`

export const strictRules = {
  mode: 'rules',
  operations: [
    'transfer',
    'contractExecution',
    'contractDeployment',
    'signMessage',
    'signTypedData',
    'signTransaction',
  ],
  destinations: [`${blockchain}:${friend}`],
  tokens: [`${blockchain}:${usdc}`, `${blockchain}:native`],
  contracts: [
    { contract: `${blockchain}:${usdc}`, selectors: 'any' },
    { contract: `${blockchain}:${permit2}`, selectors: 'any' },
    { contract: `${blockchain}:${vault}`, selectors: ['deposit(uint256)'] },
    { contract: `${blockchain}:${batcher}`, selectors: 'any' },
  ],
  typedData: [
    { contract: `${blockchain}:${usdc}`, primaryTypes: 'any' },
    { contract: `${blockchain}:${permit2}`, primaryTypes: 'any' },
    { contract: `${blockchain}:${vault}`, primaryTypes: ['Vote', 'TransferWithAuthorization'] },
  ],
  limits: [
    { tokens: [`${blockchain}:${usdc}`], perTransactionAtomic: '1000' },
    { tokens: [`${blockchain}:native`], perTransactionAtomic: '1000' },
  ],
  permissions: [] as string[],
}

/** One case: the operation, and the permissions it needs; `never` is denied whatever the permissions. */
export type Case = { name: string; operation: Operation; needs: readonly string[] | 'never' }
