import {
  type Address,
  encodeFunctionData,
  encodePacked,
  type Hex,
  hashTypedData,
  parseEther,
  parseEventLogs,
} from 'viem'
import { entryPoint07Abi } from 'viem/account-abstraction'
import { entryPoint } from '#chains/entry-point'
import { tokenPaymasterAbi } from '#chains/evm/accounts/artifacts/token-paymaster'
import { tokenPaymasterOf } from '#chains/evm/accounts/deployed-contracts'
import { encodeExecution } from '#chains/evm/accounts/operation'
import type { UnsignedOperation, UserOperation } from '#chains/facets/accounts'
import { people, type TokenChain, tokenAddress } from '../token-chain.ts'
import { domain } from '../token-signatures.ts'
import { deploy, messageDigestOf, operationOf, payment, signed, startAccountChain } from './account-chain.ts'
import { addressSigner, ownersOf, signBy } from './keys.ts'

export const abi = tokenPaymasterAbi
export const { address: paymaster, call: creation } = tokenPaymasterOf(people.owner.address, tokenAddress)
/** A whole native coin costs 3,000 of the token, and a tenth more. */
export const nativeTokenPrice = 3_000_000_000n
export const feeSpread = 1_000
const maxUint256 = 2n ** 256n - 1n

/** A chain with the paymaster, its price and a deposit. */
export async function startPaymasterChain(): Promise<TokenChain> {
  const chain = await startAccountChain()
  await chain.client.sendTransactionSync({ account: people.carol, ...creation })
  await chain.client.writeContractSync({
    account: people.carol,
    address: paymaster,
    abi,
    functionName: 'deposit',
    value: parseEther('10'),
  })
  await setPrice(chain)
  return chain
}

export async function setPrice(
  { client }: TokenChain,
  { by = people.owner, price = nativeTokenPrice, spread = feeSpread, lasting = 86_400n } = {},
) {
  const { timestamp } = await client.getBlock()
  const args = [price, spread, Number(timestamp + lasting)] as const
  return client.writeContractSync({ account: by, address: paymaster, abi, functionName: 'setPrice', args })
}

/** An account of a person, with 1,000 of the token. */
export async function openAccount(chain: TokenChain, person = people.alice) {
  const account = await deploy(chain, ownersOf([person], []))
  await give(chain, account, 1_000_000000n)
  return account
}

export const give = ({ client, token }: TokenChain, to: Address, amount: bigint) =>
  client.writeContractSync({
    account: people.minter,
    ...token,
    functionName: 'mint',
    args: [to, amount],
  })

export const balanceOf = ({ client, token }: TokenChain, holder: Address) =>
  client.readContract({ ...token, functionName: 'balanceOf', args: [holder] }) as Promise<bigint>

export const allowanceOf = ({ client, token }: TokenChain, holder: Address) =>
  client.readContract({ ...token, functionName: 'allowance', args: [holder, paymaster] }) as Promise<bigint>

export const depositOf = ({ client }: TokenChain) =>
  client.readContract({
    address: entryPoint,
    abi: entryPoint07Abi,
    functionName: 'balanceOf',
    args: [paymaster],
  })

/** The permit of an account for the paymaster, as the owner of the account signs it. */
export async function permitOf(chain: TokenChain, account: Address, value: bigint, by = people.alice) {
  const { client, token } = chain
  const nonce = (await client.readContract({ ...token, functionName: 'nonces', args: [account] })) as bigint
  const hash = hashTypedData({
    domain,
    primaryType: 'Permit',
    types: {
      Permit: [
        { name: 'owner', type: 'address' },
        { name: 'spender', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'nonce', type: 'uint256' },
        { name: 'deadline', type: 'uint256' },
      ],
    },
    message: { owner: account, spender: paymaster, value, nonce, deadline: maxUint256 },
  })
  return signBy([addressSigner(by)], messageDigestOf(account, hash), false)
}

export const handInPermit = (
  { client, token }: TokenChain,
  account: Address,
  value: bigint,
  signature: Hex,
) =>
  client.writeContractSync({
    account: people.stranger,
    ...token,
    functionName: 'permit',
    args: [account, paymaster, value, maxUint256, signature],
  })

export const dataOf = (value: bigint, signature: Hex, token: Address = tokenAddress): Hex =>
  encodePacked(['uint8', 'address', 'uint256', 'bytes'], [0, token, value, signature])

/** The limits of the published quickstart, with more gas for the permit of an account. */
export const sponsorship = { address: paymaster, verificationGas: 200_000n, postOpGas: 15_000n }

/** An operation that the paymaster pays for with this data, signed by the owner of its account. */
export const paid = (
  account: Address,
  data: Hex,
  {
    call = payment(people.bob.address, 1n),
    by = people.alice,
    changes = {} as Partial<UnsignedOperation>,
  } = {},
): Promise<UserOperation> =>
  signed(
    {
      ...operationOf(account, call, { verificationGas: 100_000n }),
      sponsorship: { ...sponsorship, data },
      ...changes,
    },
    [addressSigner(by)],
  )

/** The same with a permit of this amount. */
export async function permitted(
  chain: TokenChain,
  account: Address,
  options: Parameters<typeof paid>[2] & { value?: bigint } = {},
) {
  const { value = 50_000000n, by } = options
  return paid(account, dataOf(value, await permitOf(chain, account, value, by)), options)
}

export const calling = (to: Address, data: Hex): Hex => encodeExecution({ to, valueAtomic: 0n, data })
export const callOf = (functionName: string, args: readonly unknown[]): Hex =>
  encodeFunctionData({ abi, functionName, args } as never)

/** The events of the paymaster about the operations in the newest block. */
export async function toldIn({ client }: TokenChain) {
  const { transactions } = await client.getBlock()
  const { logs } = await client.getTransactionReceipt({ hash: transactions.at(-1)! })
  return parseEventLogs({ abi, eventName: 'UserOperationSponsored', logs }).map(({ args }) => args)
}

/** The most that an operation costs in the token. */
export function boundOf({ sponsorship: paidBy, ...operation }: UserOperation): bigint {
  const gas =
    operation.callGas +
    operation.verificationGas +
    operation.preVerificationGas +
    paidBy!.verificationGas +
    paidBy!.postOpGas +
    45_000n
  const up = (value: bigint, by: bigint) => (value + by - 1n) / by
  const cost = up(gas * operation.maxFeeAtomic * nativeTokenPrice, 10n ** 18n)
  return cost + up(cost * BigInt(feeSpread), 10_000n)
}

/** The value of coins in the token, without what is added to it. */
export const worthOf = (coins: bigint): bigint => (coins * nativeTokenPrice) / 10n ** 18n
