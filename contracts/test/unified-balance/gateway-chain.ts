import {
  type Abi,
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  decodeEventLog,
  encodeFunctionData,
  type Hex,
  pad,
  toHex,
} from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { burnIntentDigest, burnIntentSetDigest } from '#chains/crosschain/burn-intent-typed-data'
import { payloadDigest } from '#chains/crosschain/payload-digest'
import {
  type Attestation,
  type BurnIntent,
  encodeAttestation,
  encodeAttestationSet,
  encodeBurnIntent,
  encodeBurnIntentSet,
} from '#chains/crosschain/transfer-payload'
import type { TransferSpec } from '#chains/crosschain/transfer-spec'
import { stablecoinAbi } from '#chains/evm/abi/stablecoin'
import { gatewayMinterAbi } from '#chains/evm/unified-balance/artifacts/gateway-minter'
import { gatewayWalletAbi } from '#chains/evm/unified-balance/artifacts/gateway-wallet'
import { burnPayload } from '#chains/evm/unified-balance/calls'
import { unifiedBalanceContracts } from '#chains/evm/unified-balance/deployed-contracts'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { bytesOf, hexOf } from '#lib/hex'
import { genesisOf } from '#sandbox/chains/genesis'
import { localImplementations } from '#sandbox/chains/unified-balance-contracts'
import { attesterAccount, faucetAccount, gatewaySignerAccount, issuerAccount } from '#sandbox/constants'
import {
  genesisWith,
  people,
  startTokenChain,
  type TokenChain,
  tokenAddress,
  zeroAddress,
} from '../token-chain.ts'

export const token = tokenAddress
export const { wallet, minter } = unifiedBalanceContracts('TEST')
export const domain = baseSepolia.domain!
/** A domain that is not the one of the chain. */
export const elsewhere = 0
export const greatest = 2n ** 256n - 1n

export const issuer = privateKeyToAccount(issuerAccount.privateKey)
export const faucet = privateKeyToAccount(faucetAccount.privateKey)
export const gatewaySigner = privateKeyToAccount(gatewaySignerAccount.privateKey)
export const { alice, bob, carol, stranger } = people

const abis: Record<Address, Abi> = {
  [wallet]: gatewayWalletAbi,
  [minter]: gatewayMinterAbi,
  [token]: stablecoinAbi,
  [localImplementations.wallet]: gatewayWalletAbi,
  [localImplementations.minter]: gatewayMinterAbi,
}
/** All three: errors and events of each contract appear in the calls of others. */
const everything = [...gatewayWalletAbi, ...gatewayMinterAbi, ...stablecoinAbi] as Abi

/** The chain as the sandbox starts it, where alice and bob have 1,000 USDC each and let the wallet take them. */
export async function startGatewayChain(): Promise<TokenChain> {
  const genesis = genesisOf(baseSepolia, {
    timestampS: 0,
    gasLimit: 30_000_000n,
    attester: attesterAccount.address,
  })
  const chain = await startTokenChain(genesisWith(genesis.alloc))
  for (const { address } of [gatewaySigner, faucet, issuer])
    await chain.client.setBalance({ address, value: 10n ** 20n })
  for (const person of [alice, bob]) {
    await send(chain, faucet, token, 'mint', [person.address, 1_000_000000n])
    await send(chain, person, token, 'approve', [wallet, greatest])
  }
  return chain
}

export type GatewayEvent = { eventName: string; args: Record<string, unknown> }

/** Sends the call, requires that it succeeds in its block, and returns the events without those of ERC-20 and minting. */
export async function send(
  { client }: TokenChain,
  account: PrivateKeyAccount,
  to: Address,
  functionName: string,
  args: readonly unknown[],
): Promise<GatewayEvent[]> {
  const data = encodeFunctionData({ abi: abiOf(to), functionName, args })
  const receipt = await client.sendTransactionSync({ account, to, data, gas: 3_000_000n })
  if (receipt.status !== 'success') throw new Error(`${functionName} was reverted in its block`)
  return receipt.logs
    .filter(({ address }) => address.toLowerCase() !== token.toLowerCase())
    .map(({ data, topics }) => {
      const { eventName, args } = decodeEventLog({ abi: everything, data, topics })
      return { eventName: eventName!, args: { ...(args as unknown as Record<string, unknown>) } }
    })
}

/** The custom error with its arguments, as `Name(1,2)`, or the reason in words; an Error when the call is not refused. */
export async function refusal(
  chain: TokenChain,
  account: PrivateKeyAccount,
  address: Address,
  functionName: string,
  args: readonly unknown[],
): Promise<string> {
  const reason = await refusalIfAny(chain, account, address, functionName, args)
  if (reason === undefined) throw new Error(`${functionName} was not refused`)
  return reason
}

/** As `refusal`; undefined when the call is not refused. */
export async function refusalIfAny(
  { client }: TokenChain,
  account: PrivateKeyAccount,
  address: Address,
  functionName: string,
  args: readonly unknown[],
): Promise<string | undefined> {
  try {
    await client.simulateContract({ address, abi: abiWithErrors(address), functionName, args, account })
    return undefined
  } catch (error) {
    const reverted =
      error instanceof BaseError && error.walk((cause) => cause instanceof ContractFunctionRevertedError)
    if (!(reverted instanceof ContractFunctionRevertedError) || !reverted.data) throw error
    const { errorName, args: values } = reverted.data
    return errorName === 'Error' ? String(values![0]) : `${errorName}(${(values ?? []).join(',')})`
  }
}

export const read = <Value = bigint>(
  { client }: TokenChain,
  address: Address,
  functionName: string,
  args: readonly unknown[] = [],
): Promise<Value> =>
  client.readContract({ address, abi: abiOf(address), functionName, args }) as Promise<Value>

const abiOf = (address: Address) => abis[address]!

/** A call may be refused by the contract that it leads to. */
const abiWithErrors = (address: Address) => [
  ...abiOf(address),
  ...everything.filter(
    (item) => item.type === 'error' && !abiOf(address).some((own) => 'name' in own && own.name === item.name),
  ),
]

export const word = (address: Address): Hex => pad(address.toLowerCase() as Hex)
export const randomWord = (): Hex => toHex(crypto.getRandomValues(new Uint8Array(32)))

/** A transfer of 100 from alice to bob within the chain, with a salt of its own. */
export const specOf = (changes: Partial<TransferSpec> = {}): TransferSpec => ({
  version: 1,
  sourceDomain: domain,
  destinationDomain: domain,
  sourceContract: word(wallet),
  destinationContract: word(minter),
  sourceToken: word(token),
  destinationToken: word(token),
  sourceDepositor: word(alice.address),
  destinationRecipient: word(bob.address),
  sourceSigner: word(alice.address),
  destinationCaller: word(zeroAddress),
  value: 100n,
  salt: randomWord(),
  hookData: '0x',
  ...changes,
})

export const intentOf = (changes: Partial<TransferSpec> = {}, maxFee = 10n): BurnIntent => ({
  maxBlockHeight: greatest,
  maxFee,
  spec: specOf(changes),
})

export type Burn = { intents: Uint8Array; signature: Hex; feesAtomic: readonly bigint[] }

/** A signed intent, or a signed set for a list. */
export async function burnOf(
  signer: PrivateKeyAccount,
  intents: BurnIntent | readonly BurnIntent[],
  feesAtomic: readonly bigint[],
): Promise<Burn> {
  const isOne = 'spec' in intents
  const hash = isOne ? burnIntentDigest(intents) : burnIntentSetDigest({ intents })
  const bytes = isOne ? encodeBurnIntent(intents) : encodeBurnIntentSet({ intents })
  return { intents: bytes, signature: await signer.sign({ hash }), feesAtomic }
}

/** The arguments of gatewayBurn. */
export const burnArgs = (burns: readonly Burn[], by = gatewaySigner) => signedArgs(burnPayload(burns), by)

/** The arguments of gatewayMint: an attestation, or a set for a list. */
export const mintArgs = (attestations: Attestation | readonly Attestation[], by = gatewaySigner) =>
  signedArgs(
    hexOf('spec' in attestations ? encodeAttestation(attestations) : encodeAttestationSet({ attestations })),
    by,
  )

export async function signedArgs(payload: Hex, by = gatewaySigner): Promise<[Hex, Hex]> {
  return [payload, await by.sign({ hash: payloadDigest(bytesOf(payload)) })]
}

/** Both parts of a balance. */
export const holding = async (chain: TokenChain, { address }: { address: Address }) => ({
  available: await read(chain, wallet, 'availableBalance', [token, address]),
  withdrawing: await read(chain, wallet, 'withdrawingBalance', [token, address]),
})

export const tokensOf = (chain: TokenChain, address: Address) => read(chain, token, 'balanceOf', [address])

export const height = (chain: TokenChain): Promise<bigint> => chain.client.getBlockNumber({ cacheTime: 0 })
