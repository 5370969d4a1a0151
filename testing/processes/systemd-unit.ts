/** Units of systemd as tests read them: what a unit runs, and in which surroundings, with other places than those of a machine. */

export type SystemdUnit = ReadonlyMap<string, readonly string[]>

/** Reads the assignments of all sections, each key with its values in order. */
export function readUnit(text: string): SystemdUnit {
  const found = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [, key, value] = /^([A-Z]\w*)=(.*)$/.exec(line) ?? []
    if (key !== undefined) found.set(key, [...(found.get(key) ?? []), value!])
  }
  return found
}

export type UnitPlaces = {
  /** The name between `@` and the suffix. */
  instance: string
  /** The directory of the states of all services: `/var/lib` of a machine. */
  states: string
  /** The directory of the credentials of the unit. */
  credentials: string
}

/** Replaces the specifiers that systemd would. */
const resolved = (text: string, { instance, states, credentials }: UnitPlaces) =>
  text.replaceAll('%i', instance).replaceAll('%S', states).replaceAll('%d', credentials)

export const commandOf = (unit: SystemdUnit, places: UnitPlaces): string[] =>
  resolved(unit.get('ExecStart')![0]!, places).split(' ')

/** The variables that the unit adds to those of its file of settings. */
export const environmentOf = (unit: SystemdUnit, places: UnitPlaces): Record<string, string> =>
  Object.fromEntries(
    (unit.get('Environment') ?? []).map((assignment) => {
      const [name, value] = resolved(assignment, places).split(/=(.*)/)
      return [name!, value!]
    }),
  )

/** The names of the credentials of a unit, with the files in which an operator keeps them. */
export const credentialsOf = (unit: SystemdUnit): [name: string, path: string][] =>
  (unit.get('LoadCredential') ?? []).map((each) => each.split(':') as [string, string])

/** Reads a file of settings, as systemd, containers and shells do. */
export const readSettings = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/^([A-Z]\w*)=(.*)$/gm)].map(([, name, value]) => [name!, value!]))
