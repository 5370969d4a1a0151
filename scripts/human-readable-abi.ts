/** One parameter of an ABI item in the compiler's JSON. */
export type AbiParameter = {
  name?: string
  type: string
  indexed?: boolean
  components?: AbiParameter[]
  internalType?: string
}

/** One item of the compiler's JSON ABI. */
export type AbiItem = {
  type: 'function' | 'event' | 'error' | 'constructor' | 'receive' | 'fallback'
  name?: string
  inputs?: AbiParameter[]
  outputs?: AbiParameter[]
  stateMutability?: 'pure' | 'view' | 'nonpayable' | 'payable'
}

/** Definitions of structs by their names. */
type Structs = Map<string, string>

/**
 * Writes a JSON ABI as signatures that viem's parseAbi reads: one line to review per item, in the compiler's order. Tuples within tuples
 * are structs of their own, since its types read no more of them at once.
 */
export function humanReadableAbi(items: AbiItem[]): string[] {
  const structs: Structs = new Map()
  const signatures = items.map((item) => signatureOf(item, structs))
  return [...structs.values(), ...signatures]
}

function signatureOf(item: AbiItem, structs: Structs): string {
  const inputs = parameters(item.inputs ?? [], structs)
  const mutability =
    item.stateMutability === undefined || item.stateMutability === 'nonpayable'
      ? ''
      : ` ${item.stateMutability}`
  switch (item.type) {
    case 'function': {
      const outputs = item.outputs?.length ? ` returns ${parameters(item.outputs, structs)}` : ''
      return `function ${item.name}${inputs}${mutability}${outputs}`
    }
    case 'constructor':
      return `constructor${inputs}${mutability}`
    case 'receive':
      return 'receive() external payable'
    case 'fallback':
      return `fallback() external${mutability}`
    default:
      return `${item.type} ${item.name}${inputs}`
  }
}

function parameters(list: AbiParameter[], structs: Structs): string {
  const written = list.map((parameter) => {
    const { type, components } = parameter
    const hasNested = components?.some((each) => each.components)
    const struct = hasNested ? structOf(parameter, structs) : undefined
    const written = components ? type.replace('tuple', struct ?? parameters(components, structs)) : type
    return [written, parameter.indexed ? 'indexed' : '', parameter.name].filter(Boolean).join(' ')
  })
  return `(${written.join(', ')})`
}

/** Defines the struct of a tuple, and those of the tuples in it; returns its name, where the compiler tells it. */
function structOf({ components = [], internalType }: AbiParameter, structs: Structs): string | undefined {
  const [, name] = /^struct .*?(\w+)(\[\d*\])*$/.exec(internalType ?? '') ?? []
  if (name === undefined) return undefined
  const fields = components.map((each) => {
    const inner = each.components && (structOf(each, structs) ?? parameters(each.components, structs))
    return `${inner ? each.type.replace('tuple', inner) : each.type} ${each.name};`
  })
  const definition = `struct ${name} { ${fields.join(' ')} }`
  if ((structs.get(name) ?? definition) !== definition) throw new Error(`Two structs are named ${name}`)
  structs.set(name, definition)
  return name
}
