import { readFileSync } from 'node:fs'
import { type Setting, type SettingFacts, settings } from './settings.ts'

const suffix = '_FILE'

/** The setting whose value is in the file that the variable of this name gives. */
function settingOfFile(name: string): Setting | undefined {
  const setting = name.slice(0, -suffix.length)
  return name.endsWith(suffix) && setting in settings ? (setting as Setting) : undefined
}

/** The file that a setting is read from. */
type SettingFile = { name: string; path: string; holdsSecret: boolean }

export function settingFilesIn(environment: object): SettingFile[] {
  return Object.entries(environment).flatMap(([name, path]) => {
    const setting = settingOfFile(name)
    if (!setting || !path) return []
    const { holdsSecret }: SettingFacts = settings[setting]
    return [{ name, path, holdsSecret: holdsSecret === true }]
  })
}

/** Adds the settings that are given as files, without the line break at their end, as secrets of containers are mounted. */
export function withSettingFiles<Environment extends { [name in Setting]?: string | undefined }>(
  environment: Environment,
): Environment {
  const read: { [name in Setting]?: string | undefined } = {}
  for (const [name, path] of Object.entries(environment)) {
    const setting = settingOfFile(name)
    if (setting && path) read[setting] = textOrFile(setting, environment[setting], path as string)
  }
  return { ...environment, ...read }
}

/** The text of a variable, or that of the file which the variable with _FILE at its end names. */
export function textOrFile(
  variable: string,
  given: string | undefined,
  path: string | undefined,
): string | undefined {
  if (!path) return given || undefined
  const name = variable + suffix
  if (given) throw new Error(`${variable} and ${name} are both set: set one of them`)
  const text = textOf(name, path).replace(/\r?\n$/, '')
  if (text === '') throw new Error(`${name} names an empty file: ${path}`)
  return text
}

/** Returns a function that reads a setting, of which the file may change while the process runs. */
export function renewableSecret(
  environment: { readonly [name: string]: string | undefined },
  name: Setting,
): () => string | undefined {
  const path = environment[name + suffix]
  return () => (path ? textOrFile(name, undefined, path) : environment[name] || undefined)
}

function textOf(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Error(
      `${name} names a file that cannot be read (${(error as Error).message}): correct the path, or let this user read it`,
      { cause: error },
    )
  }
}

/** Names in the environment that are no settings of a server. */
const noSettings = [
  'BEZANT_FAILPOINT',
  'BEZANT_URL',
  'BEZANT_TEST_SERVER',
  'BEZANT_API_KEY',
  'BEZANT_API_KEY_FILE',
  'BEZANT_ENTITY_SECRET',
  'BEZANT_ENTITY_SECRET_FILE',
]

/** Names in the environment that look like settings but are not. */
export function unknownSettingsIn(environment: object): string[] {
  return Object.keys(environment).filter(
    (name) =>
      name.startsWith('BEZANT_') &&
      !(name in settings) &&
      settingOfFile(name) === undefined &&
      !noSettings.includes(name),
  )
}
