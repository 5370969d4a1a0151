import type { Chain } from '#chains/chain'
import type { Call } from '#chains/facets/payments'
import type { Wallet } from '#custody/wallets/index'
import { type FeeRequest, feeMaxAtomic } from '#engines/transactions/index'
import { operationGasMax } from '#engines/transactions/operations/index'
import { parseAmount } from '#lib/amounts'
import { invalid } from '#lib/errors'

/** The fee fields of a request, flat as clients send them. Prices are decimal strings in gwei. */
export type FeeFields = {
  feeLevel?: 'LOW' | 'MEDIUM' | 'HIGH'
  gasLimit?: string
  gasPrice?: string
  maxFee?: string
  priorityFee?: string
}

const gweiDecimals = 9
const gasLimitMax = 1_000_000_000n

/** Checks the fee mode against the fee model of the chain and the gas that this call needs, and returns it in wei. */
export function parseFeeRequest(
  fields: FeeFields,
  chain: Chain,
  call: Call,
  accountType: Wallet['accountType'] = 'EOA',
): FeeRequest {
  const { network } = chain
  const gasMin = chain.offers.intrinsicGas(call)
  const gasMax = accountType === 'SCA' ? operationGasMax : gasLimitMax
  const { feeLevel } = fields
  if (feeLevel === undefined && accountType === 'SCA')
    throw invalid({
      at: 'feeLevel',
      reason: 'is missing: a smart account takes no other prices',
      kind: 'smartAccountFeeLevel',
      error: 'required',
    })
  const explicit = (['gasPrice', 'maxFee', 'priorityFee'] as const).find((name) => fields[name] !== undefined)
  if (feeLevel !== undefined) {
    if (explicit)
      throw invalid({
        at: explicit,
        reason: 'cannot be combined with feeLevel',
        value: fields[explicit],
        kind: 'feeLevelWithExplicitFee',
        error: 'not_required',
      })
    return {
      feeLevel,
      gasLimit: fields.gasLimit === undefined ? undefined : gasLimitOf(fields.gasLimit, gasMin, gasMax),
    }
  }
  if (fields.gasLimit === undefined)
    throw invalid({
      at: 'feeLevel',
      reason: 'or gasLimit is missing: send one',
      kind: 'feeMissing',
      error: 'required',
    })
  const gasLimit = gasLimitOf(fields.gasLimit, gasMin, gasMax)
  const request = network.eip1559 ? cappedFee(fields) : legacyFee(fields)
  if (gasLimit * (request.maxFeeAtomic ?? 0n) > feeMaxAtomic) {
    throw invalid({
      at: 'maxFee',
      reason: 'times gasLimit is above one native coin: lower one of them',
      value: fields.maxFee ?? fields.gasPrice,
      kind: 'feeOverMaximum',
      error: 'max_value',
    })
  }
  return { gasLimit, ...request }
}

function cappedFee({ gasPrice, maxFee, priorityFee }: FeeFields): FeeRequest {
  if (maxFee === undefined || priorityFee === undefined) {
    const missing = maxFee === undefined ? 'maxFee' : 'priorityFee'
    const reason =
      gasPrice === undefined
        ? 'is missing: send maxFee and priorityFee'
        : 'is missing: this blockchain uses maxFee and priorityFee instead of gasPrice'
    throw invalid({ at: missing, reason, kind: 'maxFeeMissing', error: 'required' })
  }
  const maxFeeAtomic = gweiOf('maxFee', maxFee)
  const priorityFeeAtomic = gweiOf('priorityFee', priorityFee)
  if (priorityFeeAtomic > maxFeeAtomic)
    throw invalid({
      at: 'priorityFee',
      reason: 'is above maxFee',
      value: priorityFee,
      kind: 'priorityFeeOverMaxFee',
      error: 'max_value',
    })
  return { maxFeeAtomic, priorityFeeAtomic }
}

function legacyFee({ gasPrice, maxFee, priorityFee }: FeeFields): FeeRequest {
  if (maxFee !== undefined || priorityFee !== undefined) {
    throw invalid({
      at: 'maxFee',
      reason: 'is not supported by this blockchain: send gasPrice',
      value: maxFee,
      kind: 'feeModelUnsupported',
      error: 'not_required',
    })
  }
  if (gasPrice === undefined)
    throw invalid({ at: 'gasPrice', reason: 'is missing', kind: 'gasPriceMissing', error: 'required' })
  const price = gweiOf('gasPrice', gasPrice)
  return { maxFeeAtomic: price, priorityFeeAtomic: price }
}

function gweiOf(name: string, text: string): bigint {
  const wei = parseAmount(text, gweiDecimals)
  if (typeof wei === 'bigint' && wei > 0n) return wei
  const reason =
    wei === 'decimals'
      ? `has more than ${gweiDecimals} decimal places`
      : 'must be a number of gwei above zero, such as "1.5"'
  throw invalid({ at: name, reason, value: text, kind: 'feeInvalid', error: 'number_format' })
}

function gasLimitOf(text: string, gasMin: bigint, gasMax: bigint): bigint {
  const gas = /^[1-9]\d{0,9}$/.test(text) ? BigInt(text) : undefined
  if (gas === undefined || gas > gasMax) {
    throw invalid({
      at: 'gasLimit',
      reason: `must be a whole number up to ${gasMax}, as a string`,
      value: text,
      kind: 'feeInvalid',
      error: 'number_format',
    })
  }
  if (gas < gasMin)
    throw invalid({
      at: 'gasLimit',
      reason: `is below ${gasMin}, the minimum for this call`,
      value: text,
      kind: 'gasLimitTooLow',
      error: 'min_value',
    })
  return gas
}
