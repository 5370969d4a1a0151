import { readFileSync } from 'node:fs'
import { type Setting, settings } from './settings.ts'

const suffix = '_FILE'

/** The setting whose value is in the file that the variable of this name gives. */
export function settingOfFile(name: string): Setting | undefined {
  const setting = name.slice(0, -suffix.length)
  return name.endsWith(suffix) && setting in settings ? (setting as Setting) : undefined
}

/** Adds the settings that are given as files, without the line break at their end, as secrets of containers are mounted. */
export function withSettingFiles<Environment extends { [name in Setting]?: string | undefined }>(
  environment: Environment,
): Environment {
  const read: { [name in Setting]?: string } = {}
  for (const [name, path] of Object.entries(environment)) {
    const setting = settingOfFile(name)
    if (!setting || !path) continue
    if (environment[setting]) throw new Error(`${setting} and ${name} are both set: set one of them`)
    read[setting] = textOf(name, path as string).replace(/\r?\n$/, '')
    if (read[setting] === '') throw new Error(`${name} names an empty file: ${path}`)
  }
  return { ...environment, ...read }
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
