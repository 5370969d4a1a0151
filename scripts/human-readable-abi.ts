/** One parameter of an ABI item in the compiler's JSON. */
export type AbiParameter = { name?: string; type: string; indexed?: boolean; components?: AbiParameter[] }

/** One item of the compiler's JSON ABI. */
export type AbiItem = {
  type: 'function' | 'event' | 'error' | 'constructor' | 'receive' | 'fallback'
  name?: string
  inputs?: AbiParameter[]
  outputs?: AbiParameter[]
  stateMutability?: 'pure' | 'view' | 'nonpayable' | 'payable'
}

/** Writes a JSON ABI as signatures that viem's parseAbi reads: one line to review per item, in the compiler's order. */
export function humanReadableAbi(items: AbiItem[]): string[] {
  return items.map(signatureOf)
}

function signatureOf(item: AbiItem): string {
  const inputs = parameters(item.inputs ?? [])
  const mutability =
    item.stateMutability === undefined || item.stateMutability === 'nonpayable'
      ? ''
      : ` ${item.stateMutability}`
  switch (item.type) {
    case 'function': {
      const outputs = item.outputs?.length ? ` returns ${parameters(item.outputs)}` : ''
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

function parameters(list: AbiParameter[]): string {
  const written = list.map((parameter) => {
    const { type, components } = parameter
    const written = components ? type.replace('tuple', parameters(components)) : type
    return [written, parameter.indexed ? 'indexed' : '', parameter.name].filter(Boolean).join(' ')
  })
  return `(${written.join(', ')})`
}
