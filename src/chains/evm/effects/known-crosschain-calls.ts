/** Functions that move value to another chain, or bring it from there. */
import type { Hex } from '#lib/hex'
import type { Address } from '../../addresses/types.ts'
import { forwardHookOf, isForExecutor } from '../../crosschain/forward-hook.ts'
import { MalformedTransfer } from '../../crosschain/malformed-transfer.ts'
import { decodeBurnBody, decodeMessage } from '../../crosschain/message.ts'
import { MessageProblem } from '../../crosschain/message-problem.ts'
import { decodeAttestations } from '../../crosschain/transfer-payload.ts'
import type { TransferSpec } from '../../crosschain/transfer-spec.ts'
import { decodeExecutorHook, payeesOfExecution } from '../crosschain/executor-hook.ts'
import { decodeSignedQuote } from '../crosschain/fee-quotes.ts'
import { addressesInHook } from './addresses-in.ts'
import type { KnownEffect, KnownFunctions } from './known-effect.ts'

const everything = 2n ** 256n - 1n
const undecodable: KnownEffect[] = [{ does: 'danger', danger: 'undecodable' }]
const lower = (address: string) => address.toLowerCase() as Address
const wordOf = (address: string): Hex => `0x${address.slice(2).padStart(64, '0')}`

/** Accounts of one chain, without those that are zero. */
const meets = (domain: number, ...accounts: readonly Hex[]): KnownEffect[] =>
  accounts.filter((account) => !/^0x0*$/.test(account)).map((account) => ({ does: 'meets', account, domain }))

/** The addresses that a hook names: a contract that runs it pays or calls them. */
function hook(domain: number, data: Hex): KnownEffect[] {
  const { payload, rest } = forwardHookOf(data) ?? { payload: '0x', rest: data }
  return meets(domain, ...[payload, rest].flatMap((part) => addressesInHook(part as Hex)).map(wordOf))
}

type BurnCall = {
  amount: bigint
  domain: number
  recipient: Hex
  token: Address
  caller: Hex
  hookData?: Hex
}

const burn = ({ amount, domain, recipient, token, caller, hookData = '0x' }: BurnCall): KnownEffect[] => [
  { does: 'burn', token: lower(token), account: recipient, domain, amountAtomic: amount },
  ...meets(domain, caller),
  ...hook(domain, hookData),
  ...executed(token, domain, hookData),
]

/**
 * The accounts to which an executor that is minted the coins of a burn passes them, each a destination of its own. The amount counts
 * once, as the recipient's.
 */
function executed(token: Address, domain: number, hookData: Hex): KnownEffect[] {
  if (!isForExecutor(hookData)) return []
  const call = decodeExecutorHook(hookData)
  const payees = call && payeesOfExecution(call)
  if (!payees) return undecodable
  const accounts = new Set([call.recovery, ...payees.map((payee) => wordOf(lower(payee)))])
  return [...accounts].map((account) => ({
    does: 'burn',
    token: lower(token),
    account,
    domain,
    amountAtomic: 0n,
  }))
}

const depositArguments =
  'uint256 amount, uint32 destinationDomain, bytes32 mintRecipient, address burnToken, bytes32 destinationCaller, uint256 maxFee, uint32 minFinalityThreshold'

// The bridge of the published clients: it burns, and pays a fee of their application.
const bridge = [
  'struct Bridge { uint256 amount; uint256 maxFee; uint256 fee; bytes32 mintRecipient; bytes32 destinationCaller; address burnToken; address feeRecipient; uint32 destinationDomain; uint32 minFinalityThreshold; }',
  'struct Signed { uint256 deadline; uint8 v; bytes32 r; bytes32 s; }',
]
type Bridge = {
  amount: bigint
  fee: bigint
  mintRecipient: Hex
  destinationCaller: Hex
  burnToken: Address
  feeRecipient: Address
  destinationDomain: number
}
const bridged = (params: Bridge, hookData?: Hex): KnownEffect[] => [
  ...burn({
    amount: params.amount,
    domain: params.destinationDomain,
    recipient: params.mintRecipient,
    token: params.burnToken,
    caller: params.destinationCaller,
    ...(hookData && { hookData }),
  }),
  {
    does: 'transfer',
    token: lower(params.burnToken),
    to: lower(params.feeRecipient),
    amountAtomic: params.fee,
  },
]

// The contract that takes fees beforehand, by a signed quote.
const claim = ['struct Claim { bytes signedQuote; address refundAddress; }']
const prepaidArguments =
  'uint256 amount, uint32 destinationDomain, bytes32 mintRecipient, address burnToken, bytes32 destinationCaller'
type QuoteClaim = { signedQuote: Hex; refundAddress: Address }

/** The fees that a quote names; the contract reverts for one that it cannot read. Native coins are the value of the call. */
function prepaid({ signedQuote }: QuoteClaim): KnownEffect[] {
  const { quote } = decodeSignedQuote(signedQuote) ?? {}
  if (!quote || BigInt(quote.feeToken) === 0n) return []
  const { feeToken: token, feeRecipient: to, fastFee, forwardFee } = quote
  return [{ does: 'transfer', token, to, amountAtomic: fastFee + forwardFee }]
}

/**
 * A transfer of a token by its id, which the quote names by its address: the contract reverts where these are not the same. Contracts
 * of others with the same function may have quotes and receivers of another form, so that what moves is not known.
 */
function transferredById(amount: bigint, domain: number, to: Hex, caller: Hex, claimed: QuoteClaim) {
  const token = decodeSignedQuote(claimed.signedQuote)?.quote.burnToken
  if (token === undefined || !/^0x[0-9a-f]{40}$/.test(to)) return undecodable
  return [...burn({ amount, domain, recipient: wordOf(to), token, caller }), ...prepaid(claimed)]
}

/** The accounts of a delivered message: those whose value it was, and those that get it. */
function delivered(message: Hex): KnownEffect[] {
  const reading = () => {
    const { sourceDomain, destinationDomain, recipient, sender, destinationCaller, messageBody } =
      decodeMessage(message)
    return [
      ...meets(destinationDomain, recipient, destinationCaller),
      ...meets(sourceDomain, sender),
      ...burned(sourceDomain, destinationDomain, messageBody),
    ]
  }
  return readingOf(reading)
}

/** Another contract than the token messenger may send a body of any form: its words are looked up like arguments. */
const burned = (sourceDomain: number, destinationDomain: number, body: Hex): KnownEffect[] =>
  readingOf(() => {
    const { mintRecipient, messageSender, hookData } = decodeBurnBody(body)
    return [
      ...meets(destinationDomain, mintRecipient),
      ...meets(sourceDomain, messageSender),
      ...hook(destinationDomain, hookData),
    ]
  })

/** The accounts of a transfer of a unified balance. */
export const metBySpec = (spec: TransferSpec): KnownEffect[] => [
  ...meets(spec.sourceDomain, spec.sourceDepositor, spec.sourceSigner),
  ...meets(spec.destinationDomain, spec.destinationRecipient, spec.destinationCaller),
  ...hook(spec.destinationDomain, spec.hookData),
]

/** Contracts revert for bytes that are not of the form, so that they move nothing. */
function readingOf(read: () => KnownEffect[]): KnownEffect[] {
  try {
    return read()
  } catch (error) {
    if (error instanceof MessageProblem || error instanceof MalformedTransfer) return []
    throw error
  }
}

export const crosschainCalls: readonly KnownFunctions[] = [
  {
    signatures: [`depositForBurn(${depositArguments})`],
    read: (amount, domain, recipient, token, caller) => burn({ amount, domain, recipient, token, caller }),
  },
  {
    signatures: [`depositForBurnWithHook(${depositArguments}, bytes hookData)`],
    read: (amount, domain, recipient, token, caller, _maxFee, _threshold, hookData) =>
      burn({ amount, domain, recipient, token, caller, hookData }),
  },
  // The messenger of the version before.
  {
    signatures: [
      'depositForBurn(uint256 amount, uint32 destinationDomain, bytes32 mintRecipient, address burnToken)',
    ],
    read: (amount, domain, recipient, token) => burn({ amount, domain, recipient, token, caller: '0x' }),
  },
  {
    signatures: [
      'depositForBurnWithCaller(uint256 amount, uint32 destinationDomain, bytes32 mintRecipient, address burnToken, bytes32 destinationCaller)',
    ],
    read: (amount, domain, recipient, token, caller) => burn({ amount, domain, recipient, token, caller }),
  },
  {
    signatures: ['bridgeWithPreapproval(Bridge params)'],
    read: (params: Bridge) => bridged(params),
    structs: bridge,
  },
  {
    signatures: ['bridgeWithPreapprovalAndHook(Bridge params, bytes hookData)'],
    read: (params: Bridge, hookData: Hex) => bridged(params, hookData),
    structs: bridge,
  },
  {
    signatures: ['bridgeWithPermit(Bridge params, Signed permit)'],
    read: (params: Bridge) => bridged(params),
    structs: bridge,
  },
  {
    signatures: ['bridgeWithPermitAndHook(Bridge params, Signed permit, bytes hookData)'],
    read: (params: Bridge, _permit: unknown, hookData: Hex) => bridged(params, hookData),
    structs: bridge,
  },
  {
    signatures: [`depositForBurnWithFees(${prepaidArguments}, Claim claim)`],
    read: (
      amount: bigint,
      domain: number,
      recipient: Hex,
      token: Address,
      caller: Hex,
      claimed: QuoteClaim,
    ) => [...burn({ amount, domain, recipient, token, caller }), ...prepaid(claimed)],
    structs: claim,
  },
  {
    signatures: [`depositForBurnWithHookAndFees(${prepaidArguments}, bytes hookData, Claim claim)`],
    read: (
      amount: bigint,
      domain: number,
      recipient: Hex,
      token: Address,
      caller: Hex,
      hookData: Hex,
      claimed: QuoteClaim,
    ) => [...burn({ amount, domain, recipient, token, caller, hookData }), ...prepaid(claimed)],
    structs: claim,
  },
  {
    signatures: [
      'crossChainTransfer(bytes32 tokenId, uint256 amount, uint32 destinationDomain, bytes destinationAddress, bytes32 destinationCaller, uint32 minFinalityThreshold, Claim claim, bool autoExecuteHookData, bytes hookData)',
    ],
    read: (
      _tokenId: Hex,
      amount: bigint,
      domain: number,
      to: Hex,
      caller: Hex,
      _threshold: number,
      claimed: QuoteClaim,
    ) => transferredById(amount, domain, to, caller, claimed),
    structs: claim,
  },
  {
    signatures: ['depositFor(address token, address depositor, uint256 value)'],
    read: (token: Address, depositor: Address, amountAtomic: bigint) => [
      { does: 'transfer', token: lower(token), to: lower(depositor), amountAtomic },
    ],
  },
  {
    signatures: ['addDelegate(address token, address delegate)'],
    read: (token: Address, delegate: Address) => [
      { does: 'approval', token: lower(token), to: lower(delegate), amountAtomic: everything },
    ],
    danger: 'approve',
  },
  {
    signatures: ['receiveMessage(bytes message, bytes attestation)'],
    read: (message: Hex) => delivered(message),
    byName: true,
  },
  {
    signatures: ['receiveAndExecute(bytes message, bytes attestation)'],
    read: (message: Hex) => delivered(message),
    byName: true,
  },
  {
    signatures: ['gatewayMint(bytes attestationPayload, bytes signature)'],
    read: (payload: Hex) =>
      readingOf(() =>
        decodeAttestations(Buffer.from(payload.slice(2), 'hex')).flatMap(({ spec }) => metBySpec(spec)),
      ),
    byName: true,
  },
]
