import { toCircleSmartAccount } from '@circle-fin/modular-wallets-core'
import { createClient, encodePacked, type Hex, http, maxUint256, parseAbi, parseErc6492Signature } from 'viem'
import { createBundlerClient } from 'viem/account-abstraction'
import { readContract } from 'viem/actions'
import { baseSepolia } from '#chains/networks/base-sepolia'
import type { Harness } from '#testing/platform/harness'
import { addressOwner, baseSepoliaChain } from './modular-accounts.ts'

export const usdcPaymaster = baseSepolia.usdcPaymaster as Hex

const tokenAbi = parseAbi([
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function nonces(address) view returns (uint256)',
])

const permitTypes = {
  Permit: [
    { name: 'owner', type: 'address' },
    { name: 'spender', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
  ],
} as const

/**
 * The account of an owner on the first chain, and the client that sends its operations and pays for them in USDC, as the published
 * quickstart of the paymaster has it. `usdc`: what the account gets; `limits`: those that the application names, if any.
 */
export async function openPayingAccount(
  harness: Harness,
  {
    owner = addressOwner() as unknown,
    usdc = '1000',
    limits = undefined as { verification: bigint; postOp: bigint } | undefined,
    permitAmount = 10_000_000n,
    paymaster = usdcPaymaster,
  } = {},
) {
  const fetchOptions = { headers: { authorization: `Bearer ${harness.clientKey}` } }
  const transport = http(`${harness.url}/v1/rpc/w3s/buidl/baseSepolia`, { fetchOptions, timeout: 300_000 })
  const client = createClient({ chain: baseSepoliaChain, transport })
  const account = await toCircleSmartAccount({ client: client as never, owner: owner as never })
  const token = harness.chain().tokens.USDC as Hex
  const read = (functionName: 'name' | 'version' | 'nonces', args: readonly unknown[] = []) =>
    readContract(client, { address: token, abi: tokenAbi, functionName, args } as never)
  const signPermit = async () => {
    const [name, version, nonce] = await Promise.all([
      read('name'),
      read('version'),
      read('nonces', [account.address]),
    ])
    const domain = { name, version, chainId: baseSepoliaChain.id, verifyingContract: token }
    const message = {
      owner: account.address,
      spender: paymaster,
      value: permitAmount,
      nonce,
      deadline: maxUint256,
    }
    const wrapped = await account.signTypedData({
      domain,
      types: permitTypes,
      primaryType: 'Permit',
      message,
    } as never)
    return parseErc6492Signature(wrapped).signature
  }
  const getPaymasterData = async () => ({
    paymaster,
    paymasterData: encodePacked(
      ['uint8', 'address', 'uint256', 'bytes'],
      [0, token, permitAmount, await signPermit()],
    ),
    ...(limits && {
      paymasterVerificationGasLimit: limits.verification,
      paymasterPostOpGasLimit: limits.postOp,
    }),
    isFinal: true,
  })
  const bundler = createBundlerClient({
    account,
    chain: baseSepoliaChain,
    transport,
    paymaster: { getPaymasterData } as never,
  })
  await harness.fundWallet(account.address, { usdc })
  return { account, bundler }
}

/** The limits of the published quickstart. */
export const quickstartLimits = { verification: 200_000n, postOp: 15_000n }
