/** Burns on local chains through their real contracts, and what anybody sees of their messages without a key. */
import { randomUUID } from 'node:crypto'
import { encodeFunctionData, toHex } from 'viem'
import type { Blockchain } from '#chains/blockchains'
import { finalizedThreshold } from '#chains/crosschain/message'
import { stablecoinAbi } from '#chains/evm/abi/stablecoin'
import { messageTransmitterV2Abi } from '#chains/evm/crosschain/artifacts/message-transmitter-v2'
import { tokenMessengerV2Abi } from '#chains/evm/crosschain/artifacts/token-messenger-v2'
import { crosschainContracts } from '#chains/evm/crosschain/deployed-contracts'
import { networkOf } from '#chains/networks/index'
import { devAccounts } from '#sandbox/constants'
import type { TestChain } from '#testing/platform/chain'
import type { Harness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { freshAddress, type Wallet, type World } from './world.ts'

export type Hex = `0x${string}`

export const { messageTransmitter, tokenMessenger } = crosschainContracts.TEST
export const burner = devAccounts[2]!.address as Hex

export const domainOf = (chain: TestChain) => networkOf(chain.blockchain as Blockchain)!.domain!
export const wordOf = (address: string): Hex => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`
const zeroWord: Hex = `0x${'0'.repeat(64)}`

export type Burn = {
  /** The receiver; default: a new address. */
  to?: Hex
  /** Base units; default: ten coins. */
  amount?: bigint
  /** Base units; default: none. */
  maxFee?: bigint
  /** Default: 2000. */
  threshold?: number
  hookData?: Hex
  /** The only account that may deliver the message; default: any. */
  destinationCaller?: Hex
  /** Default: USDC. */
  coin?: 'USDC' | 'EURC'
}

// biome-ignore lint/suspicious/noExplicitAny: the tests look at its shape
export type ShownMessage = any

/** Sends a call as the burner, or as another account of the node. */
export async function sendCall(
  chain: TestChain,
  to: string,
  data: Hex,
  from: string = burner,
  value = 0n,
): Promise<{ hash: Hex; ok: boolean }> {
  const sent = { from, to, data, gas: '0x2dc6c0', value: toHex(value) }
  const hash = await chain.rpc<Hex>('eth_sendTransaction', [sent])
  const receipt = await chain.rpc<{ status: string }>('eth_getTransactionReceipt', [hash])
  return { hash, ok: receipt.status === '0x1' }
}

/** Lets the messenger take the coins of a burn on one chain for a receiver on another; returns the function that burns. */
async function prepareBurn(
  from: TestChain,
  into: TestChain,
  options: Burn = {},
): Promise<() => Promise<Hex>> {
  const { to = freshAddress() as Hex, amount = 10_000_000n, maxFee = 0n, hookData } = options
  const { threshold = finalizedThreshold, destinationCaller: caller = zeroWord, coin = 'USDC' } = options
  const token = from.tokens[coin] as Hex
  await from.send(burner, amount, coin)
  const approve = {
    abi: stablecoinAbi,
    functionName: 'increaseAllowance',
    args: [tokenMessenger, amount],
  } as const
  await sendCall(from, token, encodeFunctionData(approve))
  const args = [amount, domainOf(into), wordOf(to), token, wordOf(caller), maxFee, threshold] as const
  const abi = tokenMessengerV2Abi
  const data = hookData
    ? encodeFunctionData({ abi, functionName: 'depositForBurnWithHook', args: [...args, hookData] })
    : encodeFunctionData({ abi, functionName: 'depositForBurn', args })
  return async () => {
    const { hash, ok } = await sendCall(from, tokenMessenger, data)
    if (!ok) throw new Error(`the burn was reverted: ${hash}`)
    return hash
  }
}

/** Calls a contract from a developer-controlled wallet; returns the hash of the transaction once it is complete. */
async function callFromWallet(
  world: World,
  walletId: string,
  contractAddress: string,
  { signature, parameters }: { signature: string; parameters: readonly unknown[] },
): Promise<Hex> {
  const { id } = await world.call('POST', '/v1/w3s/developer/transactions/contractExecution', {
    idempotencyKey: randomUUID(),
    entitySecretCiphertext: await world.tenant.sealSecret(),
    walletId,
    contractAddress,
    abiFunctionSignature: signature,
    abiParameters: parameters,
    feeLevel: 'MEDIUM',
  })
  let txHash = ''
  await until(async () => {
    const { transaction } = await world.call('GET', `/v1/w3s/transactions/${id}`)
    txHash = transaction.txHash
    return transaction.state === 'COMPLETE'
  }, 'the call is complete')
  return txHash as Hex
}

/** Burns coins of a wallet on one chain for a receiver on another; returns the hash of the transaction. */
export async function burnFromWallet(
  world: World,
  { id, blockchain }: Wallet,
  into: TestChain,
  {
    to = freshAddress() as Hex,
    amount = 10_000_000n,
    maxFee = 0n,
    threshold = finalizedThreshold,
    hookData,
  }: Burn,
): Promise<Hex> {
  const { USDC } = world.harness.chain(blockchain as Blockchain).tokens
  const approve = { signature: 'approve(address,uint256)', parameters: [tokenMessenger, String(amount)] }
  await callFromWallet(world, id, USDC, approve)
  const parameters = [
    String(amount),
    String(domainOf(into)),
    wordOf(to),
    USDC,
    zeroWord,
    String(maxFee),
    String(threshold),
  ]
  const types = 'uint256,uint32,bytes32,address,bytes32,uint256,uint32'
  return callFromWallet(
    world,
    id,
    tokenMessenger,
    hookData
      ? { signature: `depositForBurnWithHook(${types},bytes)`, parameters: [...parameters, hookData] }
      : { signature: `depositForBurn(${types})`, parameters },
  )
}

const burn = async (...burning: Parameters<typeof prepareBurn>): Promise<Hex> =>
  (await prepareBurn(...burning))()

const deliver = (
  into: TestChain,
  { message, attestation }: { message: Hex; attestation: Hex },
  from: string = burner,
) =>
  sendCall(
    into,
    messageTransmitter,
    encodeFunctionData({
      abi: messageTransmitterV2Abi,
      functionName: 'receiveMessage',
      args: [message, attestation],
    }),
    from,
  )

/** Anybody's view of cross-chain messages: the contracts through the nodes, and the API without a key. */
export function crosschainMessages(harness: Harness) {
  const withoutKey = { authorization: undefined }
  const get = (path: string, query: Record<string, string> = {}) =>
    harness.http('GET', path, { query, headers: withoutKey })
  const find = (from: TestChain, transactionHash: string) =>
    get(`/v2/messages/${domainOf(from)}`, { transactionHash })
  /** Waits until the message of a transaction is as wanted. */
  const messageWhen = async (
    from: TestChain,
    hash: string,
    wanted: (message: ShownMessage) => boolean,
  ): Promise<ShownMessage> => {
    let message: ShownMessage
    await until(async () => {
      const { status, body } = await find(from, hash)
      message = body.messages?.[0]
      return status === 200 && wanted(message)
    }, 'the message is as wanted')
    return message
  }
  return {
    prepareBurn,
    burn,
    deliver,
    get,
    find,
    messageWhen,
    attested: (from: TestChain, hash: string) =>
      messageWhen(from, hash, ({ status }) => status === 'complete'),
    reattest: (nonce: string) => harness.http('POST', `/v2/reattest/${nonce}`, { headers: withoutKey }),
    usdcOf: (chain: TestChain, address: string) => chain.oracle.balanceOf(address, chain.tokens.USDC),
    eurcOf: (chain: TestChain, address: string) => chain.oracle.balanceOf(address, chain.tokens.EURC),
  }
}

export type CrosschainMessages = ReturnType<typeof crosschainMessages>
