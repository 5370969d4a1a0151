/** Operations in the form of JSON-RPC, whose numbers are hexadecimal quantities (ERC-4337 and ERC-7769). */
import type { Address } from 'viem'
import { type Hex, isHex } from '#lib/hex'
import type { AccountCreation, Sponsorship, UserOperation } from '../../facets/accounts.ts'
import { ValueProblem } from '../../invalid-value.ts'
import { parseEvmAddress } from '../address.ts'
import { toQuantity } from '../rpc/quantities.ts'
import { named } from './operation.ts'

/** More than any block takes: nodes and the EntryPoint add limits up, and must not overflow. */
const gasBits = 40n
const feeBits = 100n
const nonceBits = 256n

const refused: Readonly<Record<string, string>> = {
  initCode: 'is of EntryPoint 0.6: send factory and factoryData',
  paymasterAndData: 'is of EntryPoint 0.6: send paymaster and paymasterData',
  eip7702Auth: 'is not supported: send the operation of an account that is a contract',
}

type Fields = Readonly<Record<string, unknown>>

export function readOperation(value: unknown, at: string): UserOperation {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ValueProblem(at, 'must be a user operation as an object')
  const fields = value as Fields
  for (const [name, reason] of Object.entries(refused))
    if (!isAbsent(fields[name])) throw new ValueProblem(`${at}.${name}`, reason)
  const orZero = (name: string, bits: bigint) =>
    isAbsent(fields[name]) ? 0n : quantityIn(fields, name, bits, at)
  const gas = (name: string) => orZero(name, gasBits)
  return {
    account: addressIn(fields, 'sender', at),
    nonce: quantityIn(fields, 'nonce', nonceBits, at),
    creation: creationIn(fields, at),
    callData: bytesIn(fields, 'callData', at),
    callGas: gas('callGasLimit'),
    verificationGas: gas('verificationGasLimit'),
    preVerificationGas: gas('preVerificationGas'),
    maxFeeAtomic: orZero('maxFeePerGas', feeBits),
    priorityFeeAtomic: orZero('maxPriorityFeePerGas', feeBits),
    sponsorship: sponsorshipIn(fields, at, gas),
    signature: isAbsent(fields['signature']) ? '0x' : bytesIn(fields, 'signature', at),
  }
}

const isAbsent = (value: unknown) => value === undefined || value === null || value === '0x'

function creationIn(fields: Fields, at: string): AccountCreation | undefined {
  if (isAbsent(fields['factory'])) {
    if (isAbsent(fields['factoryData'])) return undefined
    throw new ValueProblem(`${at}.factory`, 'is missing, and factoryData is given: send both or none')
  }
  return { factory: addressIn(fields, 'factory', at), data: bytesIn(fields, 'factoryData', at) }
}

function sponsorshipIn(fields: Fields, at: string, gas: (name: string) => bigint): Sponsorship | undefined {
  if (isAbsent(fields['paymaster'])) return undefined
  return {
    address: addressIn(fields, 'paymaster', at),
    verificationGas: gas('paymasterVerificationGasLimit'),
    postOpGas: gas('paymasterPostOpGasLimit'),
    data: isAbsent(fields['paymasterData']) ? '0x' : bytesIn(fields, 'paymasterData', at),
  }
}

function addressIn(fields: Fields, name: string, at: string): Address {
  const read = parseEvmAddress(fields[name])
  if (read) return read as Address
  throw new ValueProblem(
    `${at}.${name}`,
    'must be an address of 0x and 40 hexadecimal digits, in lower case or with its checksum',
  )
}

function bytesIn(fields: Fields, name: string, at: string): Hex {
  const value = fields[name]
  if (isHex(value)) return value.toLowerCase() as Hex
  throw new ValueProblem(`${at}.${name}`, 'must be 0x and an even number of hexadecimal digits')
}

function quantityIn(fields: Fields, name: string, bits: bigint, at: string): bigint {
  const value = fields[name]
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{1,64}$/.test(value))
    throw new ValueProblem(`${at}.${name}`, 'must be a quantity as 0x and hexadecimal digits')
  const read = BigInt(value)
  if (read < 1n << bits) return read
  throw new ValueProblem(`${at}.${name}`, `must be less than 2 to the power of ${bits}`)
}

export const showOperation = (operation: UserOperation): Record<string, Hex> =>
  Object.fromEntries(
    Object.entries(named(operation)).map(([name, value]) => [
      name,
      typeof value === 'bigint' ? toQuantity(value) : (value as Hex),
    ]),
  )
