import { addressForm, parseAddress } from '#chains/address'
import type { Address } from '#chains/addresses/types'
import type { Blockchain } from '#chains/blockchains'
import type { Chain } from '#chains/chain'
import { type Functions, FunctionUnsupported } from '#chains/facets/functions'
import { contractsOn } from '#chains/facets/optional'
import type { Call } from '#chains/facets/payments'
import { ValueProblem } from '#chains/invalid-value'
import { parseAmount } from '#lib/amounts'
import { invalid } from '#lib/errors'
import { type Hex, isHex } from '#lib/hex'

export type ExecutionFields = {
  contractAddress: string
  abiFunctionSignature?: string
  abiParameters?: unknown[]
  callData?: string
  amount?: string
}

/** The call of a request, given by either signature or data; `neither` allows a plain call without both. */
export function requireCall(
  chain: Chain,
  fields: ExecutionFields,
  { neither = false } = {},
): Call & { to: Address } {
  if (chain.functions) return requireFunction(chain, chain.functions, fields)
  if (!chain.contracts)
    throw invalid({
      at: 'walletId',
      reason: 'is of a blockchain that runs no contracts',
      value: chain.network.blockchain,
      kind: 'blockchainUnsupportedForOperation',
    })
  return {
    to: requireContract(fields.contractAddress, chain.network.blockchain),
    valueAtomic: requireNativeAmount(chain, fields.amount),
    data: requireData(chain, fields, neither),
  }
}

/** The call of a function on a chain where wallets call those of the chain itself alone. */
function requireFunction(
  { network }: Chain,
  functions: Functions,
  { contractAddress, abiFunctionSignature, abiParameters = [], callData, amount }: ExecutionFields,
): Call & { to: Address } {
  const unsupported = (at: string, reason: string, value: unknown) =>
    invalid({ at, reason, value, kind: 'blockchainUnsupportedForOperation' })
  if (callData !== undefined)
    throw unsupported('callData', 'is for EVM chains: send abiFunctionSignature and abiParameters', callData)
  if (amount !== undefined && amount !== '' && parseAmount(amount, network.nativeToken.decimals) !== 0n)
    throw unsupported('amount', 'is for EVM chains: functions take coins by their parameters', amount)
  if (abiFunctionSignature === undefined)
    throw invalid({
      at: 'abiFunctionSignature',
      reason: 'is missing: send it with abiParameters',
      kind: 'abiSignatureMissing',
      error: 'required',
    })
  const contract = parseAddress(network.blockchain, contractAddress)
  if (contract === undefined)
    throw invalid({
      at: 'contractAddress',
      reason: `must be ${addressForm(network.blockchain)}`,
      value: contractAddress,
      error: 'pattern_mismatch',
    })
  try {
    return functions.callOf(contract, abiFunctionSignature, abiParameters)
  } catch (error) {
    if (!(error instanceof ValueProblem)) throw error
    const { location: at, reason } = error
    throw invalid({
      at,
      reason,
      kind: error instanceof FunctionUnsupported ? 'blockchainUnsupportedForOperation' : 'abiMismatch',
    })
  }
}

function requireContract(text: string, blockchain: Blockchain): Address {
  const address = parseAddress(blockchain, text)
  const refuse = (reason: string) =>
    invalid({ at: 'contractAddress', reason, value: text, error: 'pattern_mismatch' })
  if (!address) throw refuse(`must be ${addressForm(blockchain)}`)
  if (BigInt(address) === 0n) throw refuse('is the zero address, which has no contract')
  return address
}

function requireNativeAmount(chain: Chain, amount: string | undefined): bigint {
  if (amount === undefined || amount === '') return 0n
  const { decimals, symbol } = chain.network.nativeToken
  const atomic = parseAmount(amount, decimals)
  if (typeof atomic === 'bigint') return atomic
  const reason =
    atomic === 'decimals'
      ? `has more than ${decimals} decimal places, the precision of ${symbol}`
      : 'must be a decimal number of native coins such as "0.1"'
  throw invalid({
    at: 'amount',
    reason,
    value: amount,
    kind: 'executionAmountInvalid',
    error: 'number_format',
  })
}

function requireData(chain: Chain, fields: ExecutionFields, neither: boolean): Hex {
  const { abiFunctionSignature, abiParameters, callData } = fields
  if (callData !== undefined && (abiFunctionSignature !== undefined || abiParameters !== undefined))
    throw invalid({
      at: 'callData',
      reason: 'cannot be combined with abiFunctionSignature or abiParameters',
      value: callData,
      kind: 'callDataWithAbi',
      error: 'not_required',
    })
  if (callData !== undefined) return requireCallData(chain, callData)
  if (abiFunctionSignature !== undefined) return encoded(chain, abiFunctionSignature, abiParameters ?? [])
  if (neither && abiParameters === undefined) return '0x'
  throw invalid({
    at: 'abiFunctionSignature',
    reason: 'is missing: send it with abiParameters, or callData instead',
    kind: 'abiSignatureMissing',
    error: 'required',
  })
}

function requireCallData(chain: Chain, callData: string): Hex {
  const { callDataBytesMax } = contractsOn(chain)
  const refuse = (reason: string) =>
    invalid({ at: 'callData', reason, value: callData, error: 'pattern_mismatch' })
  if (!isHex(callData)) throw refuse('must be 0x and an even number of hexadecimal digits')
  if (callData.length / 2 - 1 > callDataBytesMax)
    throw refuse(`exceeds ${callDataBytesMax} bytes, the maximum of nodes`)
  return callData.toLowerCase() as Hex
}

function encoded(chain: Chain, signature: string, values: readonly unknown[]): Hex {
  try {
    return contractsOn(chain).encodeCall(signature, values)
  } catch (error) {
    if (!(error instanceof ValueProblem)) throw error
    throw invalid({ at: error.location, reason: error.reason, kind: 'abiMismatch' })
  }
}
