import {
  type Abi,
  type Address,
  BaseError,
  type ContractFunctionName,
  ContractFunctionRevertedError,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  parseEventLogs,
} from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { stablecoinAbi } from '#chains/evm/abi/stablecoin'
import { people, type TokenChain, tokenAddress } from './token-chain.ts'

/** Arguments are not typed by function: inferring each call took the compiler longer than all the rest of the project. */
type WriteName = ContractFunctionName<typeof stablecoinAbi, 'nonpayable'>

/** Sends a call to the token, waits for its block, and gives back what was decoded of its logs and the gas used. */
export async function send(
  { client }: TokenChain,
  account: PrivateKeyAccount,
  functionName: WriteName,
  args: readonly unknown[],
  address: Address = tokenAddress,
) {
  const data = calldata(functionName, args)
  const receipt = await client.sendTransactionSync({ account, to: address, data })
  if (receipt.status !== 'success') throw new Error(`${functionName} was reverted in its block`)
  const logs = parseEventLogs({ abi: stablecoinAbi as Abi, logs: receipt.logs })
  if (logs.length !== receipt.logs.length) throw new Error('A log of the token is not in its ABI')
  return {
    gasUsed: receipt.gasUsed,
    events: logs.map(({ eventName, args }) => ({ eventName, args: { ...args } })),
  }
}

/** Puts the call into a block without a dry run; whether it succeeded there. */
export async function mined(
  { client }: TokenChain,
  account: PrivateKeyAccount,
  functionName: WriteName,
  args: readonly unknown[],
): Promise<boolean> {
  const data = calldata(functionName, args)
  const receipt = await client.sendTransactionSync({
    account,
    to: tokenAddress,
    data,
    gas: 300_000n,
    throwOnReceiptRevert: false,
  })
  return receipt.status === 'success'
}

/** The reason the token gives for refusing a call; an Error when it does not refuse. */
export async function refusal(
  { client }: TokenChain,
  account: PrivateKeyAccount,
  functionName: WriteName,
  args: readonly unknown[],
  address: Address = tokenAddress,
): Promise<string> {
  try {
    await client.simulateContract({ address, abi: stablecoinAbi as Abi, functionName, args, account })
  } catch (error) {
    const reverted =
      error instanceof BaseError && error.walk((cause) => cause instanceof ContractFunctionRevertedError)
    if (reverted instanceof ContractFunctionRevertedError && reverted.reason) return reverted.reason
    throw error
  }
  throw new Error(`${functionName} was not refused`)
}

/** Puts a contract onto the chain; its address. */
export async function deploy(
  { client }: TokenChain,
  abi: Abi,
  bytecode: Hex,
  args: readonly unknown[] = [],
): Promise<Address> {
  const data = encodeDeployData({ abi, bytecode, args })
  const { contractAddress } = await client.sendTransactionSync({ account: people.stranger, data })
  if (!contractAddress) throw new Error('The contract was not created')
  return contractAddress
}

/** The parts of a 65-byte signature, as the v, r, s forms take them. */
export function splitSignature(signature: Hex): [v: number, r: Hex, s: Hex] {
  return [
    Number.parseInt(signature.slice(130), 16),
    `0x${signature.slice(2, 66)}`,
    `0x${signature.slice(66, 130)}`,
  ]
}

function calldata(functionName: WriteName, args: readonly unknown[]): Hex {
  return encodeFunctionData({ abi: stablecoinAbi as Abi, functionName, args })
}
