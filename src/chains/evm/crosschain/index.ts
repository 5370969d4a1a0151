import { type Abi, decodeEventLog, encodeFunctionData } from 'viem'
import type { Hex } from '#lib/hex'
import { canonicalAddress } from '../../addresses/canonical.ts'
import type { Address } from '../../addresses/types.ts'
import type {
  Crosschain,
  CrosschainAddresses,
  CrosschainEvent,
  CrosschainFact,
} from '../../crosschain/crosschain.ts'
import { decodeBurnBody } from '../../crosschain/message.ts'
import { MessageProblem } from '../../crosschain/message-problem.ts'
import { addressOfWord } from '../../crosschain/native-address.ts'
import type { ChainLog } from '../../facets/blocks.ts'
import type { Party } from '../../facets/call-effects.ts'
import type { Network } from '../../networks/index.ts'
import { arrivalOf } from '../effects/arrival.ts'
import { partiesOfSpec } from '../effects/decode-call.ts'
import { quantity } from '../rpc/quantities.ts'
import { recoverSigner } from '../signing/recover-signer.ts'
import { gatewayMinterAbi } from '../unified-balance/artifacts/gateway-minter.ts'
import { gatewayWalletAbi } from '../unified-balance/artifacts/gateway-wallet.ts'
import {
  burnPayload,
  gatewayBurnCall,
  gatewayMintCall,
  paymentsPayload,
  paymentsSeparator,
  settlePaymentsCall,
} from '../unified-balance/calls.ts'
import { settlesPayments, signsForContracts } from '../unified-balance/contract-signatures.ts'
import { unifiedBalanceContractsOf } from '../unified-balance/deployed-contracts.ts'
import { messageTransmitterV2Abi } from './artifacts/message-transmitter-v2.ts'
import { allowanceCall, deliveryCall, encodeDepositForBurn, executionCall } from './calls.ts'
import { crosschainContractsOf, hasDomain } from './deployed-contracts.ts'
import { feeQuotesAt } from './fee-quotes.ts'
import type { ReadContract } from './left-calls.ts'
import { openMintObstacles, type ReadMany } from './mint-obstacles.ts'

/** The addresses at which a sandbox has the contracts, and at which published clients expect them; `undefined` without a domain. */
export function knownCrosschainAddresses(network: Network): CrosschainAddresses | undefined {
  if (!hasDomain(network)) return undefined
  const contracts = crosschainContractsOf(network)
  const { wallet, minter } = unifiedBalanceContractsOf(network)
  return {
    messageTransmitter: canonical(contracts.messageTransmitter),
    tokenMessenger: canonical(contracts.tokenMessenger),
    tokenMinter: canonical(contracts.tokenMinter),
    tokenMessengerWithFees: canonical(contracts.tokenMessengerWithFees),
    genericExecutor: canonical(contracts.genericExecutor),
    depositForHandler: canonical(contracts.depositForHandler),
    crossChainTokenService: canonical(contracts.crossChainTokenService),
    ...(network.unifiedBalance && { wallet: canonical(wallet), minter: canonical(minter) }),
  }
}

const canonical = (address: string) => canonicalAddress(address) as Address

type ContractReads = {
  many: ReadMany
  /** The answer on which as many endpoints agree as an irreversible conclusion needs. */
  agreed: ReadContract
  /** The answer of a contract about a signature, on which as many agree where it accepts. */
  verdict: Crosschain['contractVerdict']
}

/** Cross-chain messages and unified balances of a network whose contracts are at these addresses. */
export function crosschainAt(
  network: Network,
  addresses: CrosschainAddresses | undefined,
  read: ContractReads,
): Crosschain | undefined {
  if (!addresses || !hasDomain(network)) return undefined
  const { messageTransmitter, tokenMessenger, wallet, minter } = addresses
  const { tokenMessengerWithFees, crossChainTokenService } = addresses
  const readers = new Map<Address, (log: ChainLog) => CrosschainFact | undefined>([
    [messageTransmitter, (log) => messageFact(network.blockchain, argsOf(messageTransmitterV2Abi, log))],
  ])
  if (wallet) readers.set(wallet, (log) => walletFact(argsOf(gatewayWalletAbi, log)))
  if (minter) readers.set(minter, (log) => minterFact(network.blockchain, argsOf(gatewayMinterAbi, log)))
  const noUnifiedBalance = () => new Error(`${network.blockchain} has no unified balance`)
  const walletContract = () => {
    if (!wallet) throw noUnifiedBalance()
    return wallet as `0x${string}`
  }
  const call = (to: Address | undefined, data: Hex) => {
    if (!to) throw noUnifiedBalance()
    return { to, valueAtomic: 0n, data }
  }
  const executor = () => {
    if (!addresses.genericExecutor) throw new Error(`${network.blockchain} has no executor of messages`)
    return addresses.genericExecutor
  }
  return {
    domain: network.domain,
    addresses,
    eventsIn: (logs) =>
      logs.flatMap((log): CrosschainEvent[] => {
        const fact = readers.get(log.address)?.(log)
        return fact ? [{ ...fact, txHash: log.txHash, logIndex: log.logIndex }] : []
      }),
    allowBurnCall: (token, amountAtomic) => call(token, allowanceCall(tokenMessenger, amountAtomic)),
    depositForBurnCall: (burn) => call(tokenMessenger, encodeDepositForBurn(burn)),
    receiveCall: (message, attestation) => call(messageTransmitter, deliveryCall(message, attestation)),
    executeCall: (message, attestation) => call(executor(), executionCall(message, attestation)),
    feeQuotes:
      tokenMessengerWithFees === undefined
        ? undefined
        : feeQuotesAt(network.chainId, tokenMessengerWithFees, read.agreed),
    tokenQuotes:
      crossChainTokenService === undefined
        ? undefined
        : feeQuotesAt(network.chainId, crossChainTokenService, read.agreed, 'CrossChainTokenService'),
    burnCall: (payload, signature) => call(wallet, gatewayBurnCall(payload, signature)),
    mintCall: (attestation, signature) => call(minter, gatewayMintCall(attestation, signature)),
    burnPayload,
    paymentsPayload: (batch) => paymentsPayload(network.domain, walletContract(), batch),
    settlePaymentsCall: (payload, signature) => call(wallet, settlePaymentsCall(payload, signature)),
    settlesPayments: (signer) => settlesPayments(read.agreed, walletContract() as Address, signer),
    paymentsSeparator: () => paymentsSeparator(network.chainId, walletContract()),
    partiesOf: (spec) => partiesOfSpec(network.blockchain, spec),
    signerOf: recoverSigner,
    contractVerdict: read.verdict,
    signsForContracts: wallet
      ? (signer) => signsForContracts(read.agreed, wallet, signer)
      : () => Promise.reject(noUnifiedBalance()),
    mintObstacle: minter ? openMintObstacles(minter, read.many) : () => Promise.reject(noUnifiedBalance()),
    withdrawalDelay: async () => {
      const { to, data } = call(
        wallet,
        encodeFunctionData({ abi: gatewayWalletAbi, functionName: 'withdrawalDelay' }),
      )
      // An endpoint that names a shorter one would let withdrawals overtake burns.
      return quantity(await read.agreed(to, data), 'withdrawal delay')
    },
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the arguments are those of the event, whose ABI is ours
type Decoded = { eventName: string; args: any }

/** The event of a log; `undefined` for one that this ABI does not have. */
function argsOf(abi: Abi, { topics, data }: ChainLog): Decoded | undefined {
  if (topics.length === 0) return undefined
  try {
    return decodeEventLog({ abi, topics: topics as [Hex, ...Hex[]], data }) as Decoded
  } catch {
    return undefined
  }
}

function messageFact(blockchain: string, decoded: Decoded | undefined): CrosschainFact | undefined {
  const { eventName, args } = decoded ?? {}
  if (eventName === 'MessageSent') return { kind: 'messageSent', message: args.message }
  if (eventName !== 'MessageReceived') return undefined
  const { sourceDomain, nonce, finalityThresholdExecuted: finalityThreshold, messageBody } = args
  const burn = burnIn(blockchain, sourceDomain, messageBody)
  return { kind: 'messageReceived', sourceDomain, nonce, finalityThreshold, ...burn }
}

/** The accounts of a burn; nothing for the message of another contract. */
function burnIn(blockchain: string, sourceDomain: number, body: Hex) {
  try {
    const { mintRecipient, messageSender } = decodeBurnBody(body)
    const senders = partiesAt(blockchain, sourceDomain, [messageSender])
    return { recipient: addressOfWord(mintRecipient), senders }
  } catch (error) {
    if (error instanceof MessageProblem) return {}
    throw error
  }
}

const partiesAt = (blockchain: string, domain: number, accounts: readonly Hex[]): Party[] =>
  [...new Set(accounts)].flatMap((account) => {
    const { blockchain: at, address } = arrivalOf(blockchain, domain, account)
    return address === undefined ? [] : [{ blockchain: at, address }]
  })

function walletFact(decoded: Decoded | undefined): CrosschainFact | undefined {
  if (!decoded) return undefined
  const { eventName, args } = decoded
  const of = () => ({ token: canonical(args.token), depositor: canonical(args.depositor) })
  if (eventName === 'Deposited') {
    return { kind: 'deposited', ...of(), sender: canonical(args.sender), amountAtomic: args.value }
  }
  if (eventName === 'DelegateAdded' || eventName === 'DelegateRemoved') {
    const kind = eventName === 'DelegateAdded' ? 'delegateAdded' : 'delegateRemoved'
    return { kind, ...of(), delegate: canonical(args.delegate) }
  }
  if (eventName === 'WithdrawalInitiated') {
    const { value: amountAtomic, withdrawalBlock } = args
    return { kind: 'withdrawalInitiated', ...of(), amountAtomic, withdrawalBlock }
  }
  if (eventName === 'WithdrawalCompleted')
    return { kind: 'withdrawalCompleted', ...of(), amountAtomic: args.value }
  if (eventName === 'GatewayBurned')
    return {
      kind: 'burned',
      ...of(),
      specHash: args.transferSpecHash,
      amountAtomic: args.value,
      feeAtomic: args.fee,
      fromAvailableAtomic: args.fromAvailable,
      fromWithdrawingAtomic: args.fromWithdrawing,
    }
  return paymentFact(eventName, args)
}

// biome-ignore lint/suspicious/noExplicitAny: the arguments are those of the event, whose ABI is ours
function paymentFact(eventName: string, args: any): CrosschainFact | undefined {
  if (!eventName.startsWith('Payments')) return undefined
  const { batch, value: amountAtomic } = args
  const token = canonical(args.token)
  if (eventName === 'PaymentsSettled') return { kind: 'paymentsSettled', token, batch, amountAtomic }
  const depositor = canonical(args.depositor)
  if (eventName === 'PaymentsCredited')
    return { kind: 'paymentsCredited', token, depositor, batch, amountAtomic }
  const { fromAvailable: fromAvailableAtomic, fromWithdrawing: fromWithdrawingAtomic } = args
  const taken = { fromAvailableAtomic, fromWithdrawingAtomic }
  return {
    kind: 'paymentsDebited',
    token,
    depositor,
    batch,
    amountAtomic: fromAvailableAtomic + fromWithdrawingAtomic,
    ...taken,
  }
}

function minterFact(blockchain: string, decoded: Decoded | undefined): CrosschainFact | undefined {
  if (decoded?.eventName !== 'AttestationUsed') return undefined
  const { token, recipient, transferSpecHash: specHash, sourceDomain, sourceDepositor, value } = decoded.args
  const senders = partiesAt(blockchain, sourceDomain, [sourceDepositor, decoded.args.sourceSigner])
  return {
    kind: 'minted',
    token: canonical(token),
    recipient: canonical(recipient),
    specHash,
    sourceDomain,
    sourceDepositor,
    amountAtomic: value,
    senders,
  }
}
