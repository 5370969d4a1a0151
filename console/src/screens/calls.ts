import { parsedJson } from './deployment.ts'
import type { Field, FieldValues } from './screen.ts'

export type AbiInput = { name?: string; type: string; flattenedType?: string }
/** A function or an event of a contract, as its ABI declares it. */
export type AbiItem = {
  name?: string
  type: string
  stateMutability?: string
  inputs?: AbiInput[]
  outputs?: AbiInput[]
}

export const typesOf = (values: readonly AbiInput[] = []): string =>
  values.map(({ type, flattenedType }) => flattenedType || type).join(',')

/** The name by which the API knows it, such as `transfer(address,uint256)`. */
export const signatureOf = ({ name, inputs }: AbiItem): string => `${name}(${typesOf(inputs)})`

const signatures = (items: readonly AbiItem[]) =>
  items.map((item) => ({ value: signatureOf(item), title: signatureOf(item) }))

/** A choice among what an ABI declares, or a signature to type where it is not known. */
export const signatureField = (
  name: string,
  title: string,
  items: readonly AbiItem[],
  example: string,
): Field =>
  items.length > 0 ? { name, title, options: signatures(items) } : { name, title, hint: `Such as ${example}` }

const chosenOf = (functions: readonly AbiItem[], { abiFunctionSignature: chosen }: FieldValues) =>
  functions.find((each) => signatureOf(each) === chosen) ?? functions[0]

const parameterName = (index: number) => `abiParameters[${index}]`
const isComposed = ({ type }: AbiInput) => /\]$|^tuple/.test(type)

/** The fields of a call: its function, and a field for each parameter, or one for all where the ABI is not known. */
export function callFields(functions: readonly AbiItem[], values: FieldValues): readonly Field[] {
  const chosen = chosenOf(functions, values)
  const choice = signatureField('abiFunctionSignature', 'Function', functions, 'balanceOf(address)')
  if (!chosen)
    return [
      choice,
      {
        name: 'abiParameters',
        title: 'Parameters',
        hint: 'A list of JSON, such as ["0x…"]',
        isOptional: true,
      },
    ]
  const parameters = (chosen.inputs ?? []).map((input, index) => ({
    name: parameterName(index),
    title: input.name || `Parameter ${index + 1}`,
    hint: isComposed(input) ? `${typesOf([input])}, as a list of JSON` : input.type,
    // An empty text is a value.
    isOptional: input.type === 'string' || input.type === 'bytes',
  }))
  return [choice, ...parameters]
}

/** The function and its parameters as requests have them. */
export function callOf(functions: readonly AbiItem[], values: Record<string, string>) {
  const { abiFunctionSignature, abiParameters } = values
  const chosen = chosenOf(functions, values)
  if (!chosen) return { abiFunctionSignature, abiParameters: parsedJson('The parameters', abiParameters, []) }
  return {
    abiFunctionSignature,
    abiParameters: (chosen.inputs ?? []).map((input, index) =>
      parameterOf(input, values[parameterName(index)]),
    ),
  }
}

function parameterOf(input: AbiInput, value = ''): unknown {
  if (isComposed(input)) return parsedJson(input.name || input.type, value, [])
  return input.type === 'bytes' && value === '' ? '0x' : value
}
