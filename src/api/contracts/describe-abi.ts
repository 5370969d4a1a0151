import type { AbiParameter, ContractAbi } from '#chains/facets/contracts'

export type SourceFile = { fileName: string; fileContent: string }

/** The interface of a contract as it is shown, and the text that it was read from. */
export type DescribedAbi = {
  abiJson: string | undefined
  verificationStatus: 'UNVERIFIED' | 'VERIFIED'
  functions: object[]
  events: object[]
  sourceCode: SourceFile[]
}

/** Describes an ABI; without one there are no functions and no events. */
export const describeAbi = (
  abiJson: string | undefined,
  abi: ContractAbi | undefined,
  sourceCode?: SourceFile[],
): DescribedAbi => ({
  abiJson,
  verificationStatus: sourceCode ? 'VERIFIED' : 'UNVERIFIED',
  functions: (abi?.functions ?? []).map(({ type, name, stateMutability, inputs, outputs }) => ({
    ...(type === 'function' && { name }),
    type,
    stateMutability,
    inputs: inputs.map(showParameter),
    outputs: outputs.map(showParameter),
  })),
  events: (abi?.events ?? []).map(({ name, anonymous, inputs }) => ({
    name,
    type: 'event',
    anonymous,
    inputs: inputs.map(showParameter),
  })),
  sourceCode: sourceCode ?? [],
})

const showParameter = ({ name, type, indexed, components }: AbiParameter): object => ({
  name,
  type,
  flattenedType: flattened(type, components),
  ...(indexed !== undefined && { indexed }),
  ...(components && { components: components.map(showParameter) }),
})

/** The type with the types of its components in place of the word `tuple`. */
const flattened = (type: string, components?: AbiParameter[]): string =>
  components
    ? type.replace('tuple', `(${components.map((each) => flattened(each.type, each.components)).join(',')})`)
    : type
