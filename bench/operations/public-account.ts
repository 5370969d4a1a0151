import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import {
  type Abi,
  type Address,
  concat,
  createWalletClient,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  http,
  pad,
  parseAbi,
  parseEther,
  publicActions,
  toHex,
} from 'viem'
import { entryPoint07Abi, getUserOperationHash } from 'viem/account-abstraction'
import { entryPoint } from '#chains/entry-point'
import { viemChain } from '#testing/platform/viem-chain'
import { devAccount, type Node } from '../chain.ts'

type Artifact = { abi: Abi; bytecode: Hex }

const { resolve } = createRequire(import.meta.url)
const artifactOf = (name: string): Artifact =>
  JSON.parse(readFileSync(resolve(`@account-abstraction/contracts/artifacts/${name}.json`), 'utf8'))

const abi = parseAbi(['function transfer(address to, uint256 amount)'])
/** Limits as a bundler estimates them for this account: unused gas above 40,000 would cost a tenth. */
const limits = { callGasLimit: 60_000n, verificationGasLimit: 60_000n, preVerificationGas: 48_000n }
const sponsorLimits = { verification: 60_000n, postOp: 0n }
const fees = { maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n }

/**
 * The account and the paymaster that the package of the EntryPoint publishes as samples, deployed on a local node. `transfer` sends one
 * operation in a bundle of its own, whose sponsor bundles, and returns the gas of the transaction.
 */
export async function openPublicAccount(node: Node) {
  const client = clientOf(node)
  const mined = async (hash: Hex) => {
    const receipt = await client.waitForTransactionReceipt({ hash, pollingInterval: 20 })
    if (receipt.status !== 'success') throw new Error(`${hash} failed on the chain`)
    return receipt
  }
  const deploy = async (name: string, args: unknown[]) => {
    const { abi: own, bytecode } = artifactOf(name)
    const { contractAddress } = await mined(await client.deployContract({ abi: own, bytecode, args }))
    return { address: contractAddress!, abi: own }
  }
  const factory = await deploy('SimpleAccountFactory', [entryPoint])
  const paymaster = await deploy('VerifyingPaymaster', [entryPoint, bundler.address])
  const args = [owner.address, 0n]
  await mined(await client.writeContract({ ...factory, functionName: 'createAccount', args }))
  const address = (await client.readContract({ ...factory, functionName: 'getAddress', args })) as Address
  await mined(await client.writeContract({ ...paymaster, functionName: 'deposit', value: parseEther('1') }))
  return {
    address,
    transfer: async (to: Address, amount: bigint): Promise<number> => {
      const operation = await signedTransfer(node, { address, paymaster }, to, amount)
      const call = {
        ...entryPointContract,
        functionName: 'handleOps',
        args: [[operation], bundler.address],
      } as const
      return Number((await mined(await client.writeContract(call))).gasUsed)
    },
  }
}

const [bundler, owner] = [devAccount(7), devAccount(8)]
const entryPointContract = { address: entryPoint, abi: entryPoint07Abi } as const

const clientOf = ({ chainId, url }: Node) =>
  createWalletClient({
    account: bundler,
    chain: { ...viemChain, id: chainId },
    transport: http(url),
  }).extend(publicActions)

type PublicAccount = { address: Address; paymaster: { address: Address; abi: Abi } }

/** The next operation of the account, signed by its owner and by its sponsor. */
async function signedTransfer(
  node: Node,
  { address, paymaster }: PublicAccount,
  to: Address,
  amount: bigint,
) {
  const client = clientOf(node)
  const data = encodeFunctionData({ abi, functionName: 'transfer', args: [to, amount] })
  const execution = { abi: artifactOf('SimpleAccount').abi, functionName: 'execute' }
  const packed = {
    sender: address,
    nonce: await client.readContract({
      ...entryPointContract,
      functionName: 'getNonce',
      args: [address, 0n],
    }),
    initCode: '0x' as Hex,
    callData: encodeFunctionData({ ...execution, args: [node.usdc, 0n, data] }),
    accountGasLimits: concat([word16(limits.verificationGasLimit), word16(limits.callGasLimit)]),
    preVerificationGas: limits.preVerificationGas,
    gasFees: concat([word16(fees.maxPriorityFeePerGas), word16(fees.maxFeePerGas)]),
    paymasterAndData: paidBy(paymaster.address, '0x'),
    signature: '0x' as Hex,
  }
  const asked = { ...paymaster, functionName: 'getHash', args: [packed, 0, 0] }
  const digest = (await client.readContract(asked)) as Hex
  const sponsored = await bundler.signMessage({ message: { raw: digest } })
  const hash = getUserOperationHash({
    chainId: node.chainId,
    entryPointAddress: entryPoint,
    entryPointVersion: '0.7',
    userOperation: {
      ...limits,
      ...fees,
      sender: address,
      nonce: packed.nonce,
      callData: packed.callData,
      paymaster: paymaster.address,
      paymasterVerificationGasLimit: sponsorLimits.verification,
      paymasterPostOpGasLimit: sponsorLimits.postOp,
      paymasterData: concat([validity, sponsored]),
      signature: '0x',
    },
  })
  const signature = await owner.signMessage({ message: { raw: hash } })
  return { ...packed, paymasterAndData: paidBy(paymaster.address, sponsored), signature }
}

/** No end, and no beginning. */
const validity = encodeAbiParameters([{ type: 'uint48' }, { type: 'uint48' }], [0, 0])

const paidBy = (paymaster: Address, signature: Hex): Hex =>
  concat([paymaster, word16(sponsorLimits.verification), word16(sponsorLimits.postOp), validity, signature])

const word16 = (value: bigint): Hex => pad(toHex(value), { size: 16 })
