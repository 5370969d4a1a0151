import {
  type Abi,
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  encodeFunctionData,
  type Hex,
  type Log,
  parseEventLogs,
  type TransactionReceipt,
} from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { joinSignatures, messageDigest } from '#chains/crosschain/attestation'
import {
  type BurnBody,
  type CrosschainMessage,
  encodeBurnBody,
  encodeMessage,
} from '#chains/crosschain/message'
import { wordOfAddress } from '#chains/crosschain/native-address'
import { stablecoinAbi } from '#chains/evm/abi/stablecoin'
import { crossChainTokenServiceAbi } from '#chains/evm/crosschain/artifacts/cross-chain-token-service'
import { depositForHandlerAbi } from '#chains/evm/crosschain/artifacts/deposit-for-handler'
import { genericExecutorAbi } from '#chains/evm/crosschain/artifacts/generic-executor'
import { kitBridgeAbi } from '#chains/evm/crosschain/artifacts/kit-bridge'
import { messageTransmitterV2Abi } from '#chains/evm/crosschain/artifacts/message-transmitter-v2'
import { tokenMessengerV2Abi } from '#chains/evm/crosschain/artifacts/token-messenger-v2'
import { tokenMessengerWithFeesAbi } from '#chains/evm/crosschain/artifacts/token-messenger-with-fees'
import { tokenMinterV2Abi } from '#chains/evm/crosschain/artifacts/token-minter-v2'
import { crosschainContracts } from '#chains/evm/crosschain/deployed-contracts'
import { stablecoinNamed } from '#chains/network'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { ethSepolia } from '#chains/networks/eth-sepolia'
import type { Network } from '#chains/networks/index'
import { genesisOf } from '#sandbox/chains/genesis'
import { attesterAccount, faucetAccount, issuerAccount } from '#sandbox/constants'
import { viemChainOf } from '#testing/platform/viem-chain'
import { people, peopleCoins, startTokenChain, type TokenChain } from '../token-chain.ts'
import { nonceOf } from '../token-signatures.ts'

/** The chain of these tests, and the other chain that messages come from. */
export const local = baseSepolia
export const remote = ethSepolia

export const issuer = privateKeyToAccount(issuerAccount.privateKey)
export const attester = privateKeyToAccount(attesterAccount.privateKey)
export const addresses = crosschainContracts.TEST

export type Contract = { address: Address; abi: Abi }
const coinOf = (network: Network, symbol: string): Contract => {
  const { address } = stablecoinNamed(network, symbol)!
  return { address: address as Address, abi: stablecoinAbi as Abi }
}
export const usdcOf = (network: Network): Contract => coinOf(network, 'USDC')
export const eurcOf = (network: Network): Contract => coinOf(network, 'EURC')
export const usdc = usdcOf(local)
export const eurc = eurcOf(local)
export const transmitter: Contract = {
  address: addresses.messageTransmitter,
  abi: messageTransmitterV2Abi as Abi,
}
export const messenger: Contract = { address: addresses.tokenMessenger, abi: tokenMessengerV2Abi as Abi }
export const minter: Contract = { address: addresses.tokenMinter, abi: tokenMinterV2Abi as Abi }
export const bridge: Contract = { address: addresses.kitBridge, abi: kitBridgeAbi as Abi }
export const withFees: Contract = {
  address: addresses.tokenMessengerWithFees,
  abi: tokenMessengerWithFeesAbi as Abi,
}
export const tokenService: Contract = {
  address: addresses.crossChainTokenService,
  abi: crossChainTokenServiceAbi as Abi,
}
export const executor: Contract = { address: addresses.genericExecutor, abi: genericExecutorAbi as Abi }
export const handler: Contract = { address: addresses.depositForHandler, abi: depositForHandlerAbi as Abi }

export const zeroWord: Hex = `0x${'0'.repeat(64)}`
export const opening = 1_000_000_000000n

/** A local chain as the sandbox starts it, on which Alice has a million of USDC and of EURC. */
export async function startCrosschainChain(network: Network = local): Promise<TokenChain> {
  const genesis = genesisOf(network, {
    timestampS: Math.floor(Date.now() / 1000),
    gasLimit: 30_000_000n,
    attester: attester.address,
  })
  const alloc = { ...genesis.alloc, ...peopleCoins }
  const chain = await startTokenChain({ ...genesis, alloc }, viemChainOf(network))
  const faucet = privateKeyToAccount(faucetAccount.privateKey)
  for (const coin of [usdcOf(network), eurcOf(network)])
    await send(chain, faucet, coin, 'mint', [people.alice.address, opening])
  return chain
}

/** Sends a call and waits for its block; throws when it was reverted there. */
export async function send(
  { client }: TokenChain,
  account: PrivateKeyAccount,
  { address, abi }: Contract,
  functionName: string,
  args: readonly unknown[],
  value = 0n,
): Promise<TransactionReceipt> {
  const data = encodeFunctionData({ abi, functionName, args })
  return client.sendTransactionSync({ account, to: address, data, value })
}

/** Puts the call into a block without a dry run; its receipt says whether it succeeded there. */
export async function mined(
  { client }: TokenChain,
  account: PrivateKeyAccount,
  { address, abi }: Contract,
  functionName: string,
  args: readonly unknown[],
  gas = 1_000_000n,
): Promise<TransactionReceipt> {
  const data = encodeFunctionData({ abi, functionName, args })
  return client.sendTransactionSync({
    account,
    to: address,
    data,
    gas,
    throwOnReceiptRevert: false,
  })
}

/** The reason that a contract gives for refusing a call, or the name of its error; throws when it does not refuse. */
export async function refusal(
  { client }: TokenChain,
  account: PrivateKeyAccount | Address,
  { address, abi }: Contract,
  functionName: string,
  args: readonly unknown[],
  value = 0n,
): Promise<string> {
  try {
    await client.simulateContract({ address, abi, functionName, args, account, value })
  } catch (error) {
    const reverted =
      error instanceof BaseError && error.walk((cause) => cause instanceof ContractFunctionRevertedError)
    if (reverted instanceof ContractFunctionRevertedError)
      return reverted.reason ?? reverted.data?.errorName ?? 'no reason'
    throw error
  }
  throw new Error(`${functionName} was not refused`)
}

export const read = (
  { client }: TokenChain,
  contract: Contract,
  functionName: string,
  args: unknown[] = [],
) => client.readContract({ ...contract, functionName, args })

export const balanceOf = (chain: TokenChain, account: Address, token = usdc) =>
  read(chain, token, 'balanceOf', [account]) as Promise<bigint>

/** The arguments of the one event of this name in the logs. */
export function eventOf({ abi }: Contract, eventName: string, logs: Log[]): Record<string, unknown> {
  const found = parseEventLogs({ abi, eventName, logs })
  if (found.length !== 1) throw new Error(`${found.length} events are ${eventName}`)
  return { ...(found[0]!.args as object) }
}

export const sentMessage = ({ logs }: TransactionReceipt): Hex =>
  eventOf(transmitter, 'MessageSent', logs)['message'] as Hex

let count = 0

/** A filled message about a burn of 100 USDC on the other chain for Bob; each has another nonce. */
export function burnMessage(envelope: Partial<CrosschainMessage> = {}, body: Partial<BurnBody> = {}): Hex {
  count += 1
  const messageBody = encodeBurnBody({
    version: 1,
    burnToken: wordOfAddress(usdcOf(remote).address),
    mintRecipient: wordOfAddress(people.bob.address),
    amount: 100_000000n,
    messageSender: wordOfAddress(people.carol.address),
    maxFee: 2_000000n,
    feeExecuted: 0n,
    expirationBlock: 0n,
    hookData: '0x',
    ...body,
  })
  return encodeMessage({
    version: 1,
    sourceDomain: remote.domain!,
    destinationDomain: local.domain!,
    nonce: nonceOf(`message ${count}`),
    sender: wordOfAddress(addresses.tokenMessenger),
    recipient: wordOfAddress(addresses.tokenMessenger),
    destinationCaller: zeroWord,
    minFinalityThreshold: 2000,
    finalityThresholdExecuted: 2000,
    messageBody,
    ...envelope,
  })
}

/** The attestation of these attesters. */
export async function attest(message: Hex, signers: readonly PrivateKeyAccount[] = [attester]): Promise<Hex> {
  const hash = messageDigest(message)
  return joinSignatures(hash, await Promise.all(signers.map((signer) => signer.sign({ hash }))))
}

/** The reason why the transmitter refuses a message with a good attestation. */
export const receiptRefusal = async (
  chain: TokenChain,
  message: Hex,
  account: PrivateKeyAccount = people.stranger,
) => refusal(chain, account, transmitter, 'receiveMessage', [message, await attest(message)])

export const receive = async (
  chain: TokenChain,
  message: Hex,
  account: PrivateKeyAccount = people.stranger,
) => send(chain, account, transmitter, 'receiveMessage', [message, await attest(message)])

/** Puts a contract onto the chain that calls another with the data of its own call, and answers as that does. */
export async function placeBetween({ client }: TokenChain, contract: Contract): Promise<Contract> {
  const address = '0x00000000000000000000000000000000000ca11e'
  const target = contract.address.slice(2).toLowerCase()
  const code = `0x365f5f375f5f365f5f73${target}5af13d5f5f3e602a573d5ffd5b3d5ff3` as const
  await client.setCode({ address, bytecode: code })
  return { ...contract, address }
}

/** A chain whose state returns at `revert` to the time of the call. */
export async function checkpoint({ client }: TokenChain): Promise<{ revert(): Promise<void> }> {
  const id = await client.snapshot()
  return { revert: () => client.revert({ id }) }
}
