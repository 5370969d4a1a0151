import { readFileSync } from 'node:fs'

const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')

/** The version of the program, from its manifest. */
export const { version } = JSON.parse(manifest) as { version: string }
