import type { Chain } from '#chains/chain'
import type { Call } from '#chains/facets/payments'
import type { Wallet } from '#custody/index'
import { type FeeRequest, feeMaxAtomic, operationGasMax } from '#engines/transactions/index'
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
    throw invalid(
      'feeLevel',
      'is missing: a smart account takes no other prices',
      undefined,
      'smartAccountFeeLevel',
      'required',
    )
  const explicit = (['gasPrice', 'maxFee', 'priorityFee'] as const).find((name) => fields[name] !== undefined)
  if (feeLevel !== undefined) {
    if (explicit)
      throw invalid(
        explicit,
        'cannot be combined with feeLevel',
        fields[explicit],
        'feeLevelWithExplicitFee',
        'not_required',
      )
    return {
      feeLevel,
      gasLimit: fields.gasLimit === undefined ? undefined : gasLimitOf(fields.gasLimit, gasMin, gasMax),
    }
  }
  if (fields.gasLimit === undefined)
    throw invalid('feeLevel', 'or gasLimit is missing: send one', undefined, 'feeMissing', 'required')
  const gasLimit = gasLimitOf(fields.gasLimit, gasMin, gasMax)
  const request = network.eip1559 ? cappedFee(fields) : legacyFee(fields)
  if (gasLimit * (request.maxFeeAtomic ?? 0n) > feeMaxAtomic) {
    throw invalid(
      'maxFee',
      'times gasLimit is above one native coin: lower one of them',
      fields.maxFee ?? fields.gasPrice,
      'feeOverMaximum',
      'max_value',
    )
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
    throw invalid(missing, reason, undefined, 'maxFeeMissing', 'required')
  }
  const maxFeeAtomic = gweiOf('maxFee', maxFee)
  const priorityFeeAtomic = gweiOf('priorityFee', priorityFee)
  if (priorityFeeAtomic > maxFeeAtomic)
    throw invalid('priorityFee', 'is above maxFee', priorityFee, 'priorityFeeOverMaxFee', 'max_value')
  return { maxFeeAtomic, priorityFeeAtomic }
}

function legacyFee({ gasPrice, maxFee, priorityFee }: FeeFields): FeeRequest {
  if (maxFee !== undefined || priorityFee !== undefined) {
    throw invalid(
      'maxFee',
      'is not supported by this blockchain: send gasPrice',
      maxFee,
      'feeModelUnsupported',
      'not_required',
    )
  }
  if (gasPrice === undefined)
    throw invalid('gasPrice', 'is missing', undefined, 'gasPriceMissing', 'required')
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
  throw invalid(name, reason, text, 'feeInvalid', 'number_format')
}

function gasLimitOf(text: string, gasMin: bigint, gasMax: bigint): bigint {
  const gas = /^[1-9]\d{0,9}$/.test(text) ? BigInt(text) : undefined
  if (gas === undefined || gas > gasMax) {
    throw invalid(
      'gasLimit',
      `must be a whole number up to ${gasMax}, as a string`,
      text,
      'feeInvalid',
      'number_format',
    )
  }
  if (gas < gasMin)
    throw invalid(
      'gasLimit',
      `is below ${gasMin}, the minimum for this call`,
      text,
      'gasLimitTooLow',
      'min_value',
    )
  return gas
}
