/** The parts of a document that its operations refer to, by section and name. */
export type Components = Record<'schemas' | 'parameters' | 'responses' | 'headers', Record<string, object>>

export const noComponents = (): Components => ({ schemas: {}, parameters: {}, responses: {}, headers: {} })

/** Adds a component and returns the reference to it; two different components may not have one name. */
export function refer(
  components: Components,
  section: keyof Components,
  name: string,
  component: object,
): { $ref: string } {
  const known = (components[section][name] ??= component)
  if (known !== component && JSON.stringify(known) !== JSON.stringify(component))
    throw new Error(`two different ${section} of OpenAPI are named ${name}: name one of them otherwise`)
  return { $ref: `#/components/${section}/${name}` }
}

/** Sorts each section by name, so that a new component changes one place of the document. */
export const sorted = (components: Components): Components =>
  Object.fromEntries(
    Object.entries(components).map(([section, named]) => [
      section,
      Object.fromEntries(Object.entries(named).sort(([a], [b]) => (a < b ? -1 : 1))),
    ]),
  ) as Components
