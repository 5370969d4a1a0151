import { entryFunctions } from './functions.ts'
import type { RestJson } from './show.ts'
import { viewFunctions } from './views.ts'

type Declared = { name: string; typeParameters: string[][]; parameters: string[]; returns?: string[] }

/** The interface of a module: the functions that this node executes or answers; undefined where it has none of them. */
export function showModule(address: string, module: string): RestJson | undefined {
  const prefix = `${address}::${module}::`
  const of = <T extends object>(functions: Record<string, T>) =>
    Object.entries(functions).flatMap(([name, value]) =>
      name.startsWith(prefix) ? [{ ...value, name: name.slice(prefix.length) }] : [],
    )
  const entries = of(entryFunctions).map((declared) => showFunction(declared, true))
  const views = of(viewFunctions).map((declared) => showFunction(declared, false))
  if (entries.length + views.length === 0) return undefined
  return {
    bytecode: '0x',
    abi: { address, name: module, friends: [], exposed_functions: [...entries, ...views], structs: [] },
  }
}

const showFunction = (
  { name, typeParameters, parameters, returns = [] }: Declared,
  isEntry: boolean,
): RestJson => ({
  name,
  visibility: 'public',
  is_entry: isEntry,
  is_view: !isEntry,
  generic_type_params: typeParameters.map((constraints) => ({ constraints })),
  params: isEntry ? ['&signer', ...parameters] : parameters,
  return: returns,
})
