/**
 * Plans the creation of the contracts of cross-chain messages and unified balances. A contract of the payer creates them in
 * batches, at addresses that are the same on every chain; each batch is done as a whole or not at all.
 */
import {
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  getContractAddress,
  parseAbiParameters,
  zeroAddress,
} from 'viem'
import type { Hex } from '#lib/hex'
import { canonicalAddress } from '../../addresses/canonical.ts'
import type { Address } from '../../addresses/types.ts'
import type { ContractCall, CrosschainAddresses } from '../../crosschain/crosschain.ts'
import { burnBodyVersion, messageBodySizeMax, messageVersion } from '../../crosschain/message.ts'
import { messageTokens } from '../../crosschain/message-tokens.ts'
import { wordOfAddress } from '../../crosschain/native-address.ts'
import type { CrosschainSetup, CrosschainTerms } from '../../crosschain/planned-contracts.ts'
import { stablecoinNamed, tokenAddress } from '../../network.ts'
import { type Network, networkOfDomain } from '../../networks/index.ts'
import { createdAt } from '../accounts/deployed-contracts.ts'
import { gatewayMinterAbi } from '../unified-balance/artifacts/gateway-minter.ts'
import { gatewayProxyCode } from '../unified-balance/artifacts/gateway-proxy.ts'
import { gatewayWalletAbi } from '../unified-balance/artifacts/gateway-wallet.ts'
import {
  implementationCreations,
  minterProxyCreation,
  walletProxyCreation,
} from '../unified-balance/deployed-contracts.ts'
import { contractCreatorAbi, contractCreatorCode } from './artifacts/contract-creator.ts'
import { crossChainTokenServiceCode } from './artifacts/cross-chain-token-service.ts'
import { depositForHandlerCode } from './artifacts/deposit-for-handler.ts'
import { genericExecutorCode } from './artifacts/generic-executor.ts'
import { messageTransmitterV2Abi, messageTransmitterV2Code } from './artifacts/message-transmitter-v2.ts'
import { tokenMessengerV2Abi, tokenMessengerV2Code } from './artifacts/token-messenger-v2.ts'
import { tokenMessengerWithFeesCode } from './artifacts/token-messenger-with-fees.ts'
import { tokenMinterV2Abi, tokenMinterV2Code } from './artifacts/token-minter-v2.ts'
import { type CrosschainNetwork, hasDomain } from './deployed-contracts.ts'
import { type FurtherToken, leftCalls, type ReadContract, viewer } from './left-calls.ts'

type Evm = `0x${string}`

const canonical = (address: string) => canonicalAddress(address) as Address & Evm

/** The addresses of the contracts that a payer creates: the order of the batches below determines them. */
export function plannedAddresses(payer: Address): Required<CrosschainAddresses> {
  const { address: creator } = creatorOf(payer)
  const at = (nonce: bigint) => canonical(getContractAddress({ from: creator, nonce }))
  return {
    messageTransmitter: at(2n),
    tokenMinter: at(4n),
    tokenMessenger: at(5n),
    wallet: at(7n),
    minter: at(9n),
    tokenMessengerWithFees: at(10n),
    genericExecutor: at(11n),
    depositForHandler: at(12n),
    crossChainTokenService: at(13n),
  }
}

const creatorOf = (payer: Address) => createdAt(contractCreatorCode.creation, payer as Evm)

/**
 * Reads which contracts of a chain are deployed and configured, and plans the calls that are missing; `undefined` where it
 * has no domain.
 */
export async function planSetup(
  network: Network,
  terms: CrosschainTerms,
  { read, hasCode }: { read: ReadContract; hasCode: (address: Address) => Promise<boolean> },
): Promise<CrosschainSetup | undefined> {
  const token = stablecoinNamed(network, 'USDC')
  if (!hasDomain(network) || !token) return undefined
  const creator = canonical(creatorOf(terms.payer).address)
  const addresses = plannedAddresses(terms.payer)
  const isCreated = await hasCode(creator)
  const batches = isCreated ? await viewer(read)(contractCreatorAbi, creator, 'batches') : 0n
  const plan = {
    network,
    terms,
    addresses,
    token: canonical(tokenAddress(token)),
    further: furtherTokens(network, terms),
    creator: canonical(creator),
  }
  const create = creatorOf(terms.payer).call
  const creation: ContractCall = { to: canonical(create.to), valueAtomic: 0n, data: create.data }
  const run = (number: bigint, steps: readonly BatchStep[]): ContractCall => ({
    to: plan.creator,
    valueAtomic: 0n,
    data: encodeFunctionData({ abi: contractCreatorAbi, functionName: 'run', args: [number, steps] }),
  })
  const calls = [
    { name: 'creator of contracts', isDone: isCreated, call: creation },
    {
      name: 'contracts of messages',
      isDone: (batches as bigint) >= 1n,
      call: run(1n, messageSteps(plan)),
    },
    ...(terms.balance
      ? [
          {
            name: 'contracts of unified balances',
            isDone: (batches as bigint) >= 2n,
            call: run(2n, balanceSteps(plan, terms.balance)),
          },
        ]
      : []),
    ...(hasQuotes(terms)
      ? [
          {
            name: 'contracts of prepaid fees',
            isDone: (batches as bigint) >= 3n,
            call: run(3n, prepaidSteps(plan, terms.quoteSigner)),
          },
        ]
      : []),
    ...(hasQuotes(terms) && plan.further.length > 0
      ? [
          {
            name: 'token service',
            isDone: (batches as bigint) >= 4n,
            call: run(4n, [tokenServiceStep(plan, terms.quoteSigner)]),
          },
        ]
      : []),
  ]
  const left = await leftCalls(read, { ...plan, batches: Number(batches) })
  return { addresses: addressesFor(plan), calls, left }
}

/** The batch of these contracts is the one after that of unified balances. */
const hasQuotes = (terms: CrosschainTerms): terms is CrosschainTerms & { quoteSigner: Address } =>
  terms.balance !== undefined && terms.quoteSigner !== undefined

function addressesFor({ terms, further, addresses }: SetupPlan): CrosschainAddresses {
  const { messageTransmitter, tokenMessenger, tokenMinter, wallet, minter, ...quoted } = addresses
  const { crossChainTokenService, ...prepaid } = quoted
  return {
    messageTransmitter,
    tokenMessenger,
    tokenMinter,
    ...(terms.balance && { wallet, minter }),
    ...(hasQuotes(terms) && prepaid),
    ...(hasQuotes(terms) && further.length > 0 && { crossChainTokenService }),
  }
}

type SetupPlan = {
  network: CrosschainNetwork
  terms: CrosschainTerms
  addresses: Required<CrosschainAddresses>
  token: Evm
  /** The tokens that the token service moves. */
  further: readonly FurtherToken[]
  creator: Evm
}

/** The tokens of a network that have an id, with those that they are on the other chains. */
const furtherTokens = (network: Network, { remotes }: CrosschainTerms): FurtherToken[] =>
  messageTokens[network.environment].flatMap(({ id, symbol }) => {
    const local = stablecoinNamed(network, symbol)
    if (!local) return []
    const linked = remotes.flatMap(({ domain }) => {
      const remote = networkOfDomain(network.environment, domain)
      const token = remote && stablecoinNamed(remote, symbol)
      return token && !token.localOnly ? [{ domain, token: wordOfAddress(token.address) }] : []
    })
    return [{ id, token: canonical(tokenAddress(local)), remotes: linked }]
  })

type BatchStep = { target: Evm; data: Hex }

const created = (...code: readonly Hex[]): BatchStep => ({ target: zeroAddress, data: concatHex(code) })
const called = (target: string, data: Hex): BatchStep => ({ target: target as Evm, data })

const domainAndVersion = parseAbiParameters('uint32, uint32')
const addressAndVersion = parseAbiParameters('address, uint32')
const oneAddress = parseAbiParameters('address')
const twoAddresses = parseAbiParameters('address, address')
const threeAddresses = parseAbiParameters('address, address, address')
const serviceParameters = parseAbiParameters('address, address, address, bytes32[], address[]')
const proxyParameters = parseAbiParameters('address implementation, bytes initialization')

const proxied = (implementation: string, initialization: Hex): BatchStep =>
  created(
    gatewayProxyCode.creation,
    encodeAbiParameters(proxyParameters, [implementation as Evm, initialization]),
  )

/** Creates the five contracts of messages, in the order of `plannedAddresses`, and connects them. */
function messageSteps({ network, terms, addresses, token, creator }: SetupPlan): BatchStep[] {
  const owner = terms.owner as Evm
  const implementation = (nonce: bigint) => getContractAddress({ from: creator, nonce })
  const minter = (functionName: string, args: readonly unknown[]) =>
    called(addresses.tokenMinter, encodeFunctionData({ abi: tokenMinterV2Abi, functionName, args } as never))
  return [
    created(
      messageTransmitterV2Code.creation,
      encodeAbiParameters(domainAndVersion, [network.domain, messageVersion]),
    ),
    proxied(
      implementation(1n),
      encodeFunctionData({
        abi: messageTransmitterV2Abi,
        functionName: 'initialize',
        args: [
          ...([owner, owner, owner, owner, terms.attesters as readonly Evm[]] as const),
          ...([terms.signatureThreshold, BigInt(messageBodySizeMax)] as const),
        ],
      }),
    ),
    created(
      tokenMessengerV2Code.creation,
      encodeAbiParameters(addressAndVersion, [addresses.messageTransmitter as Evm, burnBodyVersion]),
    ),
    created(tokenMinterV2Code.creation, encodeAbiParameters(oneAddress, [creator])),
    proxied(implementation(3n), messengerInitialization(terms, addresses)),
    minter('addLocalTokenMessenger', [addresses.tokenMessenger]),
    minter('setMaxBurnAmountPerMessage', [token, terms.burnLimitAtomic]),
    ...terms.remotes.map((remote) => minter('linkTokenPair', [token, remote.domain, remote.token])),
    // The creator was its own controller until here.
    minter('setTokenController', [owner]),
    minter('updatePauser', [owner]),
    minter('updateRescuer', [owner]),
    minter('transferOwnership', [owner]),
  ]
}

function messengerInitialization(terms: CrosschainTerms, addresses: CrosschainAddresses): Hex {
  const owner = terms.owner as Evm
  return encodeFunctionData({
    abi: tokenMessengerV2Abi,
    functionName: 'initialize',
    args: [
      {
        owner,
        rescuer: owner,
        feeRecipient: terms.feeRecipient as Evm,
        denylister: owner,
        tokenMinter: addresses.tokenMinter as Evm,
        minFeeController: owner,
      },
      0n,
      terms.remotes.map(({ domain }) => domain),
      terms.remotes.map(({ tokenMessenger }) => tokenMessenger),
    ],
  })
}

/** Creates the four contracts of unified balances, and offers their ownership. */
function balanceSteps(
  { network, terms, addresses, token, creator }: SetupPlan,
  { signer, withdrawalDelayBlocks }: NonNullable<CrosschainTerms['balance']>,
): BatchStep[] {
  const owner = terms.owner as Evm
  const roles = { pauser: owner, denylister: owner, tokens: [token], domain: network.domain }
  const offer = encodeFunctionData({
    abi: gatewayMinterAbi,
    functionName: 'transferOwnership',
    args: [owner],
  })
  return [
    created(implementationCreations.wallet),
    created(
      walletProxyCreation(getContractAddress({ from: creator, nonce: 6n }), {
        ...roles,
        withdrawalDelayBlocks,
        burnSigner: signer as Evm,
        feeRecipient: terms.feeRecipient as Evm,
      }),
    ),
    created(implementationCreations.minter),
    created(
      minterProxyCreation(getContractAddress({ from: creator, nonce: 8n }), {
        ...roles,
        attestationSigner: signer as Evm,
        mintAuthorities: [zeroAddress],
      }),
    ),
    called(
      addresses.wallet,
      encodeFunctionData({
        abi: gatewayWalletAbi,
        functionName: 'addContractSignatureSigner',
        args: [signer as Evm],
      }),
    ),
    called(addresses.wallet, offer),
    called(addresses.minter, offer),
  ]
}

/** Creates the contract that moves tokens other than USDC. */
const tokenServiceStep = ({ terms, addresses, further }: SetupPlan, quoteSigner: Address): BatchStep =>
  created(
    crossChainTokenServiceCode.creation,
    encodeAbiParameters(serviceParameters, [
      addresses.tokenMessenger as Evm,
      terms.owner as Evm,
      quoteSigner as Evm,
      further.map(({ id }) => id),
      further.map(({ token }) => token as Evm),
    ]),
  )

/** Creates the three contracts of prepaid fees, in the order of `plannedAddresses`. */
function prepaidSteps({ terms, addresses, token }: SetupPlan, quoteSigner: Address): BatchStep[] {
  return [
    created(
      tokenMessengerWithFeesCode.creation,
      encodeAbiParameters(threeAddresses, [
        addresses.tokenMessenger as Evm,
        terms.owner as Evm,
        quoteSigner as Evm,
      ]),
    ),
    created(
      genericExecutorCode.creation,
      encodeAbiParameters(twoAddresses, [addresses.messageTransmitter as Evm, token]),
    ),
    created(
      depositForHandlerCode.creation,
      encodeAbiParameters(twoAddresses, [addresses.genericExecutor as Evm, token]),
    ),
  ]
}
