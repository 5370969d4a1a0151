import { suggest } from '#lib/suggest'
import { isReservedEvmAddress, parseEvmAddress } from '../evm/address.ts'

type RowField = {
  fits(value: unknown): boolean
  /** The values that fit, for messages and documents. */
  form: string
  isRequired?: true
}

const whole = (least: number, most: number): RowField => ({
  fits: (value) => Number.isInteger(value) && Number(value) >= least && Number(value) <= most,
  form: `a whole number from ${least} to ${most}`,
})
const text = (pattern: RegExp, form: string): RowField => ({
  fits: (value) => typeof value === 'string' && pattern.test(value),
  form,
})
const oneOf = (...values: readonly unknown[]): RowField => ({
  fits: (value) => values.includes(value),
  form: values.join(' or '),
})
const required = (field: RowField): RowField => ({ ...field, isRequired: true })

const address: RowField = {
  fits: (value) =>
    typeof value === 'string' &&
    !/^0x[0-9A-F]*[A-F][0-9A-F]*$/.test(value) &&
    parseEvmAddress(value) !== undefined &&
    !isReservedEvmAddress(value),
  form: 'the address of a contract: 0x and 40 hexadecimal digits, in lower case or with the checksum of EIP-55',
}
const label = text(
  /^[\p{L}\p{N}](?:[\p{L}\p{N} ._-]{0,48}[\p{L}\p{N}])?$/u,
  'a name of letters, digits and spaces, 50 at most',
)

/** A field with fields of its own has `of`. */
type RowFields = Readonly<Record<string, RowField | { of: RowFields; isRequired?: true }>>

/** The fields of a row of EVM as JSON has them: see `EvmRow`. */
export const rowFields: RowFields = {
  blockchain: required(
    text(
      /^[A-Z][A-Z0-9]{1,18}(-[A-Z0-9]{1,12})?$/,
      'a code in capital letters such as MYCHAIN or MYCHAIN-TESTNET',
    ),
  ),
  environment: required(oneOf('TEST', 'LIVE')),
  name: required(label),
  chainId: required(whole(1, Number.MAX_SAFE_INTEGER)),
  nativeCoin: {
    isRequired: true,
    of: {
      name: required(label),
      symbol: required(
        text(/^[A-Z]{1,10}(-[A-Z]{2,10})?$/, 'a symbol in capital letters such as ETH or ETH-TESTNET'),
      ),
      decimals: required(whole(1, 18)),
    },
  },
  usdc: required(address),
  usdcIsNative: oneOf(true),
  usdcName: label,
  eurc: address,
  eurcName: label,
  businessChain: required(
    text(/^[A-Z][A-Z0-9]{1,18}$/, 'a code in capital letters and digits such as MYCHAIN'),
  ),
  confirmations: required(whole(1, 100_000)),
  finalityDepth: whole(1, 100_000),
  blockTimeMs: required(whole(50, 3_600_000)),
  domain: whole(0, 2 ** 32 - 1),
  fastConfirmations: whole(1, 100_000),
  fastFeeBasisPoints: whole(0, 100),
  contracts: {
    of: {
      messageTransmitter: address,
      tokenMessenger: address,
      tokenMinter: address,
      kitBridge: address,
      tokenMessengerWithFees: address,
      genericExecutor: address,
      depositForHandler: address,
      crossChainTokenService: address,
    },
  },
  unifiedBalance: {
    of: {
      chain: required(label),
      network: required(label),
      contracts: { of: { wallet: required(address), minter: required(address) } },
    },
  },
  feeModel: oneOf('eip1559', 'gasPrice'),
  inFlightMax: whole(1, 100_000),
  priorityFloorWei: whole(0, Number.MAX_SAFE_INTEGER),
  l1Fee: oneOf('op', 'arb'),
  countsParentBlocks: oneOf(true),
  replaceable: oneOf(false),
  chargesGasLimit: oneOf(true),
}

/** Why an object does not have these fields, with the path of the field; `undefined` where it does. */
export function fieldProblem(given: unknown, fields: RowFields = rowFields, path = ''): string | undefined {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return `${path || 'each network'} must be an object`
  const at = (name: string) => (path === '' ? name : `${path}.${name}`)
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(fields, name))
  if (unknown !== undefined)
    return `there is no field ${at(unknown)}${suggest(unknown, Object.keys(fields)) || `: known are ${Object.keys(fields).join(', ')}`}`
  for (const [name, field] of Object.entries(fields)) {
    const value = (given as Record<string, unknown>)[name]
    if (value === undefined) {
      if (field.isRequired) return `${at(name)} is missing: ${formOf(field)}`
      continue
    }
    const problem =
      'of' in field ? fieldProblem(value, field.of, at(name)) : valueProblem(value, field, at(name))
    if (problem !== undefined) return problem
  }
  return undefined
}

const formOf = (field: RowFields[string]) =>
  'of' in field ? `give an object with ${Object.keys(field.of).join(', ')}` : `give ${field.form}`

const valueProblem = (value: unknown, { fits, form }: RowField, path: string): string | undefined =>
  fits(value) ? undefined : `${path} must be ${form}, not ${shown(value)}`

const shown = (value: unknown) => (JSON.stringify(value) ?? String(value)).slice(0, 80)
