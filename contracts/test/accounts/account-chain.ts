import { type Account, type Address, BaseError, type Hex, parseEther, parseEventLogs, toHex } from 'viem'
import { entryPoint07Abi } from 'viem/account-abstraction'
import { entryPoint } from '#chains/entry-point'
import { accountAddress, accountCreation, type FirstOwners } from '#chains/evm/accounts/account'
import { smartAccountAbi } from '#chains/evm/accounts/artifacts/smart-account'
import { newestAccountContracts } from '#chains/evm/accounts/deployed-contracts'
import { failedOperation } from '#chains/evm/accounts/executed'
import { accountMessageDigest } from '#chains/evm/accounts/message'
import { bundleInput, encodeExecution, hashesOf } from '#chains/evm/accounts/operation'
import { revertData } from '#chains/evm/contracts/revert'
import type { UnsignedOperation, UserOperation } from '#chains/facets/accounts'
import { bytesOf, hexOf } from '#lib/hex'
import { viemChain } from '#testing/platform/viem-chain'
import { people, startTokenChain, type TokenChain } from '../token-chain.ts'
import { type Signer, signBy } from './keys.ts'

export const chainId = viemChain.id
export const startAccountChain = startTokenChain

/** Creates the account of these owners, with a coin of its own to pay its gas; returns its address. */
export async function deploy(
  { client }: TokenChain,
  first: FirstOwners,
  contracts = newestAccountContracts,
): Promise<Address> {
  const address = accountAddress(first, contracts) as Address
  const { factory, data } = accountCreation(first, contracts)
  await client.sendTransactionSync({ account: people.carol, to: factory as Address, data })
  await client.sendTransactionSync({ account: people.carol, to: address, value: parseEther('1') })
  return address
}

let nonces = 0n

export const operationOf = (
  account: Address,
  callData: Hex,
  changes: Partial<UnsignedOperation> = {},
): UnsignedOperation => ({
  account,
  nonce: ++nonces << 64n,
  callData,
  callGas: 200_000n,
  verificationGas: 900_000n,
  preVerificationGas: 50_000n,
  maxFeeAtomic: 2_000_000_000n,
  priorityFeeAtomic: 1_000_000_000n,
  ...changes,
})

export const payment = (to: Address, valueAtomic: bigint): Hex =>
  encodeExecution({ to, valueAtomic, data: '0x' })

/** The operation with the signature of these owners, whose hash is made for `onChain`. */
export async function signed(
  operation: UnsignedOperation,
  signers: readonly Signer[],
  { onChain = chainId, isOperation = true } = {},
): Promise<UserOperation> {
  const { hash } = hashesOf(onChain, operation)
  return { ...operation, signature: await signBy(signers, hash, isOperation) }
}

export type Executed = { success: boolean; feeAtomic: bigint; gasUsed: bigint }

/** Executes operations in one bundle; gives back their outcomes, or the reason of the EntryPoint against one of them. */
export const execute = (chain: TokenChain, ...operations: readonly UserOperation[]) =>
  executeBy(chain, people.minter, entryPoint, operations)

/** The same in a bundle that `account` gives to the EntryPoint, or to the paymaster of a sponsor. */
export async function executeBy(
  { client }: TokenChain,
  account: Account,
  to: Address,
  operations: readonly UserOperation[],
): Promise<Executed[] | string> {
  const data = bundleInput(operations, account.address)
  const call = { account, to, data, gas: 15_000_000n }
  try {
    await client.call(call)
  } catch (error) {
    return reasonIn(error)
  }
  const { logs } = await client.sendTransactionSync(call)
  return parseEventLogs({ abi: entryPoint07Abi, eventName: 'UserOperationEvent', logs }).map(({ args }) => ({
    success: args.success,
    feeAtomic: args.actualGasCost,
    gasUsed: args.actualGasUsed,
  }))
}

function reasonIn(error: unknown): string {
  const isRaw = (each: unknown) => revertData((each as { data?: unknown })?.data) !== undefined
  const raw = error instanceof BaseError ? error.walk(isRaw) : undefined
  const data = revertData((raw as { data?: unknown } | undefined)?.data)
  const failed = data === undefined ? undefined : failedOperation(data)
  return failed?.reason ?? String(error)
}

/** The digest that owners sign for the hash of a message. */
export const messageDigestOf = (account: Address, hash: Hex, { onChain = chainId } = {}): Hex =>
  hexOf(accountMessageDigest(onChain, account, bytesOf(hash)))

/** Whether the account accepts the signature for the hash; a revert counts as a refusal. */
export async function accepts(
  { client }: TokenChain,
  account: Address,
  hash: Hex,
  signature: Hex,
): Promise<boolean> {
  const call = { address: account, abi: smartAccountAbi, functionName: 'isValidSignature' } as const
  const answer = await client.readContract({ ...call, args: [hash, signature] }).catch(() => '0x')
  return answer === '0x1626ba7e'
}

/** Calls the account as the EntryPoint does; gives back whether it went through. */
export async function asEntryPoint({ client }: TokenChain, to: Address, data: Hex): Promise<boolean> {
  await client.impersonateAccount({ address: entryPoint })
  await client.setBalance({ address: entryPoint, value: parseEther('100') })
  try {
    await client.call({ account: entryPoint, to, data })
    const receipt = await client.sendTransactionSync({ account: entryPoint, to, data, gas: 3_000_000n })
    return receipt.status === 'success'
  } catch {
    return false
  } finally {
    await client.stopImpersonatingAccount({ address: entryPoint })
  }
}

export const randomHash = (): Hex => toHex(crypto.getRandomValues(new Uint8Array(32)))
