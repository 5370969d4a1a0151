import type { Chain } from '#chains/chain'
import type { Call } from '#chains/facets/payments'
import type { Network } from '#chains/networks/index'
import { networkFeeOf, priceUnitOf } from '#chains/prices'
import type { Wallet } from '#custody/wallets/index'
import { type FeeRequest, feeMaxOf } from '#engines/transactions/index'
import { operationGasMax } from '#engines/transactions/operations/index'
import { formatAmount, parseAmount } from '#lib/amounts'
import { invalid } from '#lib/errors'

/** The fee fields of a request, flat as clients send them. Prices are decimal strings in the unit of the chain. */
export type FeeFields = {
  feeLevel?: 'LOW' | 'MEDIUM' | 'HIGH'
  gasLimit?: string
  gasPrice?: string
  maxFee?: string
  priorityFee?: string
}

/** Checks the fee mode against the fee model of the chain and the gas that this call needs. */
export function parseFeeRequest(
  fields: FeeFields,
  chain: Chain,
  call: Call,
  accountType: Wallet['accountType'] = 'EOA',
): FeeRequest {
  const { network } = chain
  const gasMin = chain.offers.intrinsicGas(call)
  const gasMax = accountType === 'SCA' ? operationGasMax : chain.offers.gasLimitMax
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
  const { at, parse } = models[network.feeModel]
  const request = parse(network, fields)
  if (networkFeeOf(network.blockchain, { gasLimit, priceAtomic: request.maxFeeAtomic }) > feeMaxOf(network)) {
    throw invalid({
      at,
      reason: 'times gasLimit is above one native coin: lower one of them',
      value: fields[at],
      kind: 'feeOverMaximum',
      error: 'max_value',
    })
  }
  return { gasLimit, ...request }
}

/** The prices of a request. */
type OfferedPrices = { maxFeeAtomic: bigint; priorityFeeAtomic: bigint }

function cappedFee(network: Network, { gasPrice, maxFee, priorityFee }: FeeFields): OfferedPrices {
  if (maxFee === undefined || priorityFee === undefined) {
    const missing = maxFee === undefined ? 'maxFee' : 'priorityFee'
    const reason =
      gasPrice === undefined
        ? 'is missing: send maxFee and priorityFee'
        : 'is missing: this blockchain uses maxFee and priorityFee instead of gasPrice'
    throw invalid({ at: missing, reason, kind: 'maxFeeMissing', error: 'required' })
  }
  const maxFeeAtomic = priceOf(network, 'maxFee', maxFee)
  const priorityFeeAtomic = priceOf(network, 'priorityFee', priorityFee)
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

function legacyFee(network: Network, { gasPrice, maxFee, priorityFee }: FeeFields): OfferedPrices {
  if (maxFee !== undefined || priorityFee !== undefined) {
    throw invalid({
      at: maxFee === undefined ? 'priorityFee' : 'maxFee',
      reason: 'is not supported by this blockchain: send gasPrice',
      value: maxFee ?? priorityFee,
      kind: 'feeModelUnsupported',
      error: 'not_required',
    })
  }
  if (gasPrice === undefined)
    throw invalid({ at: 'gasPrice', reason: 'is missing', kind: 'gasPriceMissing', error: 'required' })
  const price = priceOf(network, 'gasPrice', gasPrice)
  const { priorityFloorAtomic: floor = 0n } = network
  if (price < floor) {
    const { name, decimals } = priceUnitOf(network.blockchain)
    throw invalid({
      at: 'gasPrice',
      reason: `is below ${formatAmount(floor, decimals)} ${name}, the lowest price that nodes take`,
      value: gasPrice,
      kind: 'feeInvalid',
      error: 'min_value',
    })
  }
  return { maxFeeAtomic: price, priorityFeeAtomic: price }
}

function priorityFeeAlone(
  network: Network,
  { gasPrice, maxFee, priorityFee = '0' }: FeeFields,
): OfferedPrices {
  if (maxFee !== undefined || gasPrice !== undefined) {
    throw invalid({
      at: maxFee === undefined ? 'gasPrice' : 'maxFee',
      reason: 'is not supported by this blockchain: send priorityFee, or none of them',
      value: maxFee ?? gasPrice,
      kind: 'feeInvalid',
      error: 'not_required',
    })
  }
  const price = priorityFee === '0' ? 0n : priceOf(network, 'priorityFee', priorityFee)
  return { maxFeeAtomic: price, priorityFeeAtomic: price }
}

/** How requests set prices on chains of each fee model, and the field of the highest one. */
const models = {
  eip1559: { at: 'maxFee', parse: cappedFee },
  gasPrice: { at: 'gasPrice', parse: legacyFee },
  priorityFee: { at: 'priorityFee', parse: priorityFeeAlone },
} as const

function priceOf({ blockchain }: Network, name: string, text: string): bigint {
  const unit = priceUnitOf(blockchain)
  const atomic = parseAmount(text, unit.decimals)
  if (typeof atomic === 'bigint' && atomic > 0n) return atomic
  const isWhole = unit.decimals === 0
  const reason =
    atomic === 'decimals' && !isWhole
      ? `has more than ${unit.decimals} decimal places`
      : `must be a ${isWhole ? 'whole number' : 'number'} of ${unit.name} above zero, such as "${isWhole ? '150' : '1.5'}"`
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
