/** Reads the ABI of a contract from JSON. The text is untrusted: its items, their nesting and their names are bounded. */
import type { AbiFunction, AbiParameter, ContractAbi } from '../../facets/contracts.ts'
import { ValueProblem } from '../../invalid-value.ts'
import { isAtomic } from './types.ts'

const itemsMax = 2_000
const parametersMax = 100
const parametersTotalMax = 10_000
const depthMax = 8
const nameLengthMax = 256
const mutabilities = ['pure', 'view', 'nonpayable', 'payable'] as const
const functionTypes = ['function', 'constructor', 'receive', 'fallback'] as const

/** The parameters read so far, of all items. */
type Total = { parameters: number }
type Item = Record<string, unknown>

export function readContractAbi(json: string): ContractAbi {
  const items = parsed(json)
  if (!Array.isArray(items)) throw new ValueProblem('abiJson', 'must be the text of a JSON list')
  if (items.length > itemsMax) throw new ValueProblem('abiJson', `has more than ${itemsMax} items`)
  const abi: ContractAbi = { functions: [], events: [], errors: [] }
  const total = { parameters: 0 }
  for (const [index, item] of items.entries()) addItem(abi, total, item, `abiJson[${index}]`)
  if (abi.functions.filter(({ type }) => type === 'constructor').length > 1)
    throw new ValueProblem('abiJson', 'has more than one constructor')
  return abi
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    throw new ValueProblem('abiJson', 'must be the text of a JSON list')
  }
}

function addItem(abi: ContractAbi, total: Total, given: unknown, location: string): void {
  const item = memberOf(given, location)
  // Old compilers omit the type of functions.
  const type = item['type'] ?? 'function'
  const inputs = readParameters(total, item['inputs'], `${location}.inputs`)
  if (type === 'event')
    return void abi.events.push({
      name: nameOf(item, location),
      anonymous: item['anonymous'] === true,
      inputs,
    })
  if (type === 'error') return void abi.errors.push({ name: nameOf(item, location), inputs })
  const known = functionTypes.find((each) => each === type)
  if (!known)
    throw new ValueProblem(`${location}.type`, `must be one of ${functionTypes.join(', ')}, event, error`)
  abi.functions.push({
    type: known,
    name: known === 'function' ? nameOf(item, location) : '',
    stateMutability: mutabilityOf(item, known, location),
    inputs,
    outputs: readParameters(total, item['outputs'], `${location}.outputs`),
  })
}

function memberOf(value: unknown, location: string): Item {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Item
  throw new ValueProblem(location, 'must be an object')
}

/** Names become parts of signatures: one with other characters could stand for another function. */
function nameOf({ name }: Item, location: string): string {
  if (typeof name === 'string' && name.length <= nameLengthMax && /^[A-Za-z_$][\w$]*$/.test(name)) return name
  throw new ValueProblem(`${location}.name`, `must be a name of up to ${nameLengthMax} characters`)
}

function mutabilityOf(item: Item, type: AbiFunction['type'], location: string) {
  const { stateMutability: given, constant, payable } = item
  // Compilers before Solidity 0.5 wrote two flags instead.
  if (given === undefined && constant === true) return 'view'
  if (given === undefined) return payable === true || type === 'receive' ? 'payable' : 'nonpayable'
  const known = mutabilities.find((each) => each === given)
  if (known) return known
  throw new ValueProblem(`${location}.stateMutability`, `must be one of ${mutabilities.join(', ')}`)
}

function readParameters(total: Total, given: unknown, location: string, depth = 1): AbiParameter[] {
  if (given === undefined || given === null) return []
  if (!Array.isArray(given)) throw new ValueProblem(location, 'must be a list')
  if (given.length > parametersMax) throw new ValueProblem(location, `has more than ${parametersMax} items`)
  if (depth > depthMax) throw new ValueProblem(location, `nests deeper than ${depthMax} levels`)
  total.parameters += given.length
  if (total.parameters > parametersTotalMax)
    throw new ValueProblem('abiJson', `has more than ${parametersTotalMax} parameters`)
  return given.map((each, index) => readParameter(total, each, `${location}[${index}]`, depth))
}

function readParameter(total: Total, given: unknown, location: string, depth: number): AbiParameter {
  const { name = '', type, components, indexed } = memberOf(given, location)
  if (typeof name !== 'string' || name.length > nameLengthMax)
    throw new ValueProblem(`${location}.name`, `must be text of up to ${nameLengthMax} characters`)
  const shown = { name, ...(typeof indexed === 'boolean' && { indexed }) }
  const [, base, suffix] = /^([a-z]+\d*)((?:\[(?:[1-9]\d{0,5})?\])*)$/.exec(String(type)) ?? []
  const problem = new ValueProblem(
    `${location}.type`,
    'must be a type of the ABI, such as uint256 or tuple[]',
  )
  if (base === undefined || depth + suffix!.split('[').length - 1 > depthMax) throw problem
  if (base !== 'tuple') {
    const canonical = base === 'uint' || base === 'int' ? `${base}256` : base
    if (!isAtomic(canonical) && canonical !== 'function') throw problem
    return { ...shown, type: canonical + suffix }
  }
  const parts = readParameters(total, components, `${location}.components`, depth + 1)
  // Without components a long array of tuples would take no bytes, and the decoder would never end.
  if (parts.length === 0) throw new ValueProblem(`${location}.components`, 'is missing: a tuple needs them')
  return { ...shown, type: base + suffix, components: parts }
}
